internal import VaultCore
package import VaultModel
internal import VaultStore

// What watchers say that they did with a version of an item.
extension Items {
  /// Takes note for the audit log that a caller has done something with a version of an item, or could not.
  ///
  /// - Parameters:
  ///   - version: one that there is, or was.
  ///   - isHeld: true where it waits for a person.
  ///   - detail: the caller's own words, of which one line is kept.
  /// - Throws: the refusal of who may not watch the item; what does not stand in the log as a receipt then.
  package func receipt(
    _ version: Int, of name: ItemName, succeeded: Bool, isHeld: Bool = false, detail: String?, for caller: Caller
  ) throws(Refusal) {
    var id: ItemID?
    do throws(Refusal) {
      try vault.audit.settle()
      if isHeld, succeeded { throw .invalid("held") }
      if version < 1 { throw .invalid("version") }
      let permit = try permit(.watch, on: name, for: caller)
      let item = try item(name)
      id = item.id
      try check(.watch, permit, item.name, item.policy, for: caller)
      // Versions count up, and none is used twice.
      guard version <= item.versions.map(\.number).max() ?? 0 else { throw .invalid("version") }
    } catch {
      vault.audit.record(.receipt, error.outcome, caller, item: name.text, id: id)
      try vault.audit.settle()
      throw error
    }
    vault.audit.record(
      .receipt, succeeded ? .ok : .failed, caller, item: name.text, id: id,
      detail: "version \(version)\(isHeld ? ", held" : "")", Said(purpose: detail))
    try vault.audit.settle()
  }
}
