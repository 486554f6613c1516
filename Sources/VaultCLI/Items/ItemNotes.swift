internal import VaultModel
internal import VaultWire

/// The details that a person needs beside a password: the user name and the address.
enum ItemNotes {
  /// The attributes for a user name, of which the first present one is shown, and the attribute for an address.
  private static let keys = [["username", "user", "login"], ["url"]]

  /// Shows these attributes on standard error if a person reads it.
  static func show(_ item: Wire.Item) {
    guard Keyboard.isAttended, item.kind == ItemKind.password.rawValue else { return }
    for names in keys {
      guard let key = names.first(where: { item.attributes[$0] != nil }), let text = item.attributes[key] else {
        continue
      }
      Output.note("\(key): \(Printable.text(text))")
    }
  }
}
