internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The names and patterns of a watcher that match no item now, which may be mistyped.
enum UnmatchedItems {
  /// The most names and patterns that are looked up.
  private static let most = 16

  /// Reports the names and patterns that match nothing. The watcher runs in any case, because an item may appear later.
  ///
  /// - Throws: ``Failure`` for a caller who may watch nothing: it waits for no item.
  static func note(_ texts: [String], _ session: Session) throws(Failure) {
    let absences = texts.prefix(most).compactMap { absence($0, session) }
    guard !absences.isEmpty else { return }
    try session.call { vault in try vault.monitor(patience: .zero) { _ in false } }
    for absence in absences { Output.note("\(absence); waiting for one", .none) }
  }

  private static func absence(_ text: String, _ session: Session) -> String? {
    if let hint = GrantedFolder.hint(text, isCredential: false, session) { return hint }
    guard let absence = GrantedFolder.absence(text, session) else { return nil }
    // Only administrators see every item; another caller is told so.
    guard let status = try? session.call({ vault in try vault.status() }), status.requests == nil else {
      return absence
    }
    return "no item that you may find matches \(Printable.quoted(text)) now"
  }
}
