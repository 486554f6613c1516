internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Entries of the audit log that were set aside, because nobody can read them any more.
package struct SetAside: Sendable {
  /// The numbers of the first and the last entry.
  package let first: Int64
  package let last: Int64
  /// The times between which the entries were made, in Unix seconds.
  package let since: Int64
  package let until: Int64
}

// The repair of damage that earlier versions did to the audit log.
extension Upkeep {
  /// Sets aside the entries that a rekey by an earlier version left sealed to the old keys, if nothing else is wrong.
  /// It is for an administrator who has shown presence, while the vault is unlocked. The store is checked again
  /// afterward.
  ///
  /// - Returns: the ranges of entries that were set aside; empty if there are no such entries.
  package func repairAudit(for caller: Caller) throws(Refusal) -> [SetAside] {
    let aside = try vault.audit.recording(.audit, caller, "repair", needs: .logUnlessFailed) { () throws(Refusal) in
      try repair(for: caller)
    }
    if !aside.isEmpty { check.goOn() }
    return aside
  }

  private func repair(for caller: Caller) throws(Refusal) -> [SetAside] {
    try ways.access.checkAdministrator(caller)
    let keychain = try vault.keychain()
    guard vault.state.kind == .unlocked else { throw .locked(vault.state) }
    guard ways.access.isShown(Access.administration, by: caller) else {
      throw .presenceRequired("", Access.administration.require)
    }
    // The entries in memory get their numbers before those of the repair.
    vault.audit.endBlock()
    let remains: [AuditRemains]
    do throws(VaultError) {
      remains = try vault.makingRoom(keychain) { () throws(VaultError) in
        try keychain.setAsideAuditRemains(now: vault.clock.wall())
      }
    } catch { throw Refusal(error) }
    for one in remains {
      let (were, them) = one.count == 1 ? ("was", "it") : ("were", "them")
      vault.log.warning(
        "\(Counted.text(one.count, "entry")) of the audit log, from \(one.entries.lowerBound) on, \(were) set aside: "
          + "a rekey by an earlier version left \(them) sealed to the old keys")
    }
    return remains.map {
      SetAside(first: $0.entries.lowerBound, last: $0.entries.upperBound, since: $0.times.since, until: $0.times.until)
    }
  }
}
