internal import VaultCore
package import VaultModel
internal import VaultStore

// Receipts: reports of watchers about what they did with a version of an item.
extension Items {
  /// Records in the audit log that a caller has done something with a version of an item, or could not.
  ///
  /// - Parameters:
  ///   - version: the number of a version that the item has or had.
  ///   - mayBeOfAnother: true if the caller may mean another item, which had the name before.
  ///   - isHeld: true if the caller holds the version back until a person decides.
  ///   - detail: the caller's own words, of which one line is kept.
  /// - Throws: the refusal for a caller who may not watch the item. In that case the log has no receipt for the
  ///   version.
  package func receipt(
    _ version: Int, of name: ItemName, mayBeOfAnother: Bool = false, succeeded: Bool, isHeld: Bool = false,
    detail: String?, for caller: Caller
  ) throws(Refusal) {
    var id: ItemID?
    try vault.audit.recording { () throws(Refusal) in
      if isHeld, succeeded { throw .invalid("held") }
      if version < 1 { throw .invalid("version") }
      let permit = try permit(.watch, on: name, for: caller)
      let item = try item(name)
      id = item.id
      try check(.watch, permit, item.name, item.policy, for: caller)
      guard !mayBeOfAnother else { throw .noSuchVersion(name.text, version) }
      // Version numbers count up, and no number is used twice.
      guard version <= item.versions.map(\.number).max() ?? 0 else { throw .invalid("version") }
    } end: { refusal in
      guard refusal == nil else {
        return vault.audit.record(.receipt, refusal.outcome, caller, item: name.text, id: id)
      }
      vault.audit.record(
        .receipt, succeeded ? .ok : .failed, caller, item: name.text, id: id,
        detail: "version \(version)\(isHeld ? ", held" : "")", Said(purpose: detail))
    }
  }
}
