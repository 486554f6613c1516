internal import VaultCore
internal import VaultModel
internal import VaultStore

// The repair of a store whose newest known time is ahead of the true time.
extension Access {
  /// Sets back the newest time that the store knows to the time of the clock, for an administrator. In a user's vault
  /// the administrator must have shown presence just now. Items that had expired only by the clock that ran ahead are
  /// served again.
  ///
  /// - Returns: the newest time before, and the clock, both in Unix seconds. If the clock is not behind the newest
  ///   time, nothing changes.
  package func repairClock(for caller: Caller) throws(Refusal) -> (newest: Int64, clock: Int64) {
    let now = vault.clock.wall()
    let newest = vault.openKeychain?.newestTime ?? 0
    let detail = "newest time \(Timestamp.format(newest)), clock \(Timestamp.format(now))"
    return try vault.audit.recording(.clock, caller, nil, detail: detail) { entry throws(Refusal) in
      let keychain = try administer(caller)
      guard vault.state.kind == .unlocked else { throw vault.locked }
      guard newest > now else { return (newest, now) }
      do throws(VaultError) {
        try vault.audit.taking(
          effect: { () throws(VaultError) in try keychain.setNewestTime(back: now) }, with: entry)
      } catch { throw Refusal(error) }
      vault.log.warning("the newest time in the store was set back to the clock by uid \(caller.uid)")
      return (newest, now)
    }
  }
}
