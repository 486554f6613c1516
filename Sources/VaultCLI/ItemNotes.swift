internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The things that a person needs beside a password: for whom it is, and where.
enum ItemNotes {
  /// The attributes with a user name, of which the first is shown that is there, and the one with an address.
  private static let keys = [["username", "user", "login"], ["url"]]

  /// Shows them on standard error, where somebody reads that. What cannot be told is left out: the value is what was asked
  /// for.
  static func show(_ name: String, _ session: Session) {
    guard Keyboard.isAttended, let item = try? session.call({ vault in try vault.show(name) }),
      item.kind == ItemKind.password.rawValue
    else { return }
    for names in keys {
      guard let key = names.first(where: { item.attributes[$0] != nil }), let text = item.attributes[key] else {
        continue
      }
      Output.note("\(key): \(Printable.text(text))")
    }
  }
}
