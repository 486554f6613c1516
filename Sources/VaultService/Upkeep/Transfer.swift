internal import VaultStore

/// The work of moving the bytes of a backup, which a door does on a thread of its own.
package struct TransferWork<Outcome> {
  /// Has the thread wipe its keys, and end.
  let stop: () -> Void
  /// Starts the thread; `then` is called on the loop when the work is done.
  let run: (Transfer, _ then: @escaping (Outcome) -> Void) -> Void

  package init(
    stop: @escaping () -> Void, run: @escaping (Transfer, _ then: @escaping (Outcome) -> Void) -> Void
  ) {
    self.stop = stop
    self.run = run
  }
}

/// A backup, a restore or the check of a backup while its bytes are being moved on a thread of its own.
package final class Transfer: SecretHolder {
  package enum Kind {
    case backup, restore, check
  }

  package let kind: Kind
  /// True for a backup of a salvaged store.
  let isOfSalvage: Bool
  /// The check of the data that a backup copies. Nil for a salvaged store, all of which was read just before, for a
  /// restore, and for the check of a backup.
  var check: BackupCheck?
  /// Runs after a backup was handed over completely and found to be as it was written.
  var whenMade: () -> Void = {}
  /// Has the thread wipe its keys, and end.
  private let stop: () -> Void
  private var isCalledOff = false
  /// The refusal for the caller if the transfer is called off.
  package private(set) var refusal = Refusal.cancelled
  private let vault: Vault

  init(_ kind: Kind, _ vault: Vault, isOfSalvage: Bool = false, stop: @escaping () -> Void) {
    self.kind = kind
    self.vault = vault
    self.isOfSalvage = isOfSalvage
    self.stop = stop
    super.init(in: vault.holders)
  }

  /// Calls the transfer off: has the thread wipe its keys, and end.
  package func callOff(because refusal: Refusal) {
    self.refusal = refusal
    isCalledOff = true
    stop()
  }

  /// Passes on, once it is known, which parts of the copied data could not be checked without their keys, or the reason
  /// why the copy does not count. Call this for a copy that was handed over completely.
  ///
  /// - Parameter isWanted: tells whether the receiver is still there.
  package func whenChecked(
    isWanted: @escaping () -> Bool, _ then: @escaping (Result<[String], Refusal>) -> Void
  ) {
    guard let check else { return then(.success([])) }
    check.whenOver(isWanted: isWanted) { [self] checked in
      // This is done first, so that the caller finds the time of the backup once it is told.
      if case .success = checked, isWanted() { whenMade() }
      then(checked)
    }
  }

  // Only a lock that also wipes the keys of `after-first-unlock` items ends a transfer. The key of a backup opens only
  // that copy, not the live vault. A restore has the key of a vault that nobody can lock yet. The check of a backup has
  // the key of a copy, which may be a copy of the live vault.
  public override func letGo(for lock: Lock) {
    guard outlives(lock) else { return }
    let state = LockState(kind: .locked, cause: lock.cause, since: vault.clock.wall())
    callOff(because: kind != .restore && lock.cause != .stop ? .locked(state) : .cancelled)
  }

  // The thread wipes its keys a moment after the transfer was called off; the daemon delays a sleep until then.
  public override func outlives(_ lock: Lock) -> Bool {
    !isCalledOff && lock.reach.contains(.afterFirstUnlock)
  }
}

extension Upkeep {
  /// Checks that no transfer is under way.
  ///
  /// - Throws: the refusal if one is.
  func checkNoTransfer() throws(Refusal) {
    guard let transfer else { return }
    throw .busy(transfer.kind.text)
  }

  /// The refusal of another vault while one is being restored; nil if none is.
  var incoming: Refusal? { transfer?.kind == .restore ? .busy(Transfer.Kind.restore.text) : nil }
}

extension Transfer.Kind {
  /// The transfer under way, in words for a caller who wants another one.
  fileprivate var text: String {
    switch self {
    case .backup: "another backup is being made"
    case .restore: "a backup is being restored"
    case .check: "a backup is being checked"
    }
  }
}
