internal import VaultCore
internal import VaultModel
internal import VaultStore

// The repair of a store that was told a time ahead of the true one.
extension Access {
  /// Sets the newest time that the store knows back to the clock, for an administrator, who in a user's vault has shown
  /// to be there just now: what has expired by a clock that ran ahead, and not by this one, is served again.
  ///
  /// - Returns: the newest time before, and the clock, both in Unix seconds. Where the clock is not behind, nothing
  ///   changes.
  package func repairClock(for caller: Caller) throws(Refusal) -> (newest: Int64, clock: Int64) {
    let now = vault.clock.wall()
    let newest = vault.openKeychain?.newestTime ?? 0
    let detail = "newest time \(Timestamp.format(newest)), clock \(Timestamp.format(now))"
    return try vault.audit.recording(.clock, caller, nil, detail: detail) { () throws(Refusal) in
      let keychain = try administer(caller)
      guard vault.state.kind == .unlocked else { throw vault.locked }
      guard newest > now else { return (newest, now) }
      do throws(VaultError) { try keychain.setNewestTime(back: now) } catch { throw Refusal(error) }
      vault.log.warning("the newest time in the store was set back to the clock by uid \(caller.uid)")
      return (newest, now)
    }
  }
}
