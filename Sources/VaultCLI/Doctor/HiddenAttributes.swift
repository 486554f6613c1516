internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Attributes that no field shows, because a built-in field has the same name. `vault set` makes none, but other
/// programs and earlier versions may have left some.
struct HiddenAttributes {
  /// The most items that are named.
  private static let shown = 3

  private let globals: Globals

  init(_ globals: Globals) { self.globals = globals }

  /// Returns one diagnosis for each key; empty if the vault cannot be searched now.
  func diagnoses() -> [Diagnosis] {
    guard let session = try? Session(globals, startsDaemon: false), let keys = try? keys(session) else { return [] }
    return keys.compactMap { key in (try? items(with: key, session)).flatMap { Self.diagnosis(key, $0) } }
  }

  private func keys(_ session: Session) throws(Failure) -> [String] {
    session.isAttended = false
    var keys: [String] = []
    try session.call { vault in
      keys = []
      try vault.attributes { texts in
        keys += texts.filter(Attributes.isHidden)
        return true
      }
    }
    return keys.sorted()
  }

  private func items(with key: String, _ session: Session) throws(Failure) -> [String] {
    try session.call { vault in try vault.find("\(Attributes.field(ofKey: key))~**") }.map(\.name).sorted()
  }

  static func diagnosis(_ key: String, _ items: [String]) -> Diagnosis? {
    if items.isEmpty { return nil }
    let rest = items.count - shown
    let more = rest > 0 ? " and \(rest) more" : ""
    let names = items.prefix(shown).map(Printable.quoted).joined(separator: ", ") + more
    let field = Attributes.field(ofKey: key)
    return .warn(
      "attributes",
      "\(names) \(items.count == 1 ? "has" : "have") an attribute named like the field \(Printable.quoted(key))",
      fix: "read it as \(Printable.quoted(field)), or store it under another name with "
        + "\(Hint.vault("set NAME --update --keep-value --attr \(Printable.line(key))= --attr OTHER=…"))")
  }
}
