internal import VaultModel
internal import VaultWire

/// The things that a person needs beside a password: for whom it is, and where.
enum ItemNotes {
  /// The attributes with a user name, of which the first is shown that is there, and the one with an address.
  private static let keys = [["username", "user", "login"], ["url"]]

  /// Shows them on standard error, where somebody reads that.
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
