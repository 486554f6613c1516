internal import VaultStore

/// The work of moving the bytes of a backup, as a door does it on a thread of its own.
package struct TransferWork<Outcome> {
  /// Has the thread wipe the keys it holds, and end.
  let stop: () -> Void
  /// Has the thread begin; `then` is called on the loop when it is done.
  let run: (Transfer, _ then: @escaping (Outcome) -> Void) -> Void

  package init(
    stop: @escaping () -> Void, run: @escaping (Transfer, _ then: @escaping (Outcome) -> Void) -> Void
  ) {
    self.stop = stop
    self.run = run
  }
}

/// A backup, a restore or the check of a backup while its bytes are on their way, on a thread of its own.
package final class Transfer: SecretHolder {
  package enum Kind {
    case backup, restore, check
  }

  package let kind: Kind
  /// True when it is a backup of what was salvaged.
  let isOfSalvage: Bool
  /// The check of what a backup copies; nil for what was salvaged, all of which was read just before, and for a
  /// restore.
  var check: BackupCheck?
  /// Runs once a backup was handed over whole and found to be as it was written.
  var whenMade: () -> Void = {}
  /// Has the thread wipe the keys it holds, and end.
  private let stop: () -> Void
  private var isCalledOff = false
  /// The refusal that its caller is told if it was called off.
  package private(set) var refusal = Refusal.cancelled
  private let vault: Vault

  init(_ kind: Kind, _ vault: Vault, isOfSalvage: Bool = false, stop: @escaping () -> Void) {
    self.kind = kind
    self.vault = vault
    self.isOfSalvage = isOfSalvage
    self.stop = stop
    super.init(in: vault.holders)
  }

  /// Has the thread wipe the keys it holds, and end.
  package func callOff(because refusal: Refusal) {
    self.refusal = refusal
    isCalledOff = true
    stop()
  }

  /// Tells, once that is known, which parts of what was copied could not be checked for want of keys, or why the copy
  /// counts for nothing. It is for a copy that was handed over whole.
  ///
  /// - Parameter isWanted: tells whether the one who got it is still there.
  package func whenChecked(
    isWanted: @escaping () -> Bool, _ then: @escaping (Result<[String], Refusal>) -> Void
  ) {
    guard let check else { return then(.success([])) }
    check.whenOver { [self] checked in
      // First, so that the caller finds its time once it is told.
      if case .success = checked, isWanted() { whenMade() }
      then(checked)
    }
  }

  // What a backup holds opens copies alone, and not the live vault; a restore has the key of a vault that nobody can lock yet,
  // and a check that of a copy, which may be the live vault's.
  public override func letGo(for lock: Lock) {
    guard outlives(lock) else { return }
    let state = LockState(kind: .locked, cause: lock.cause, since: vault.clock.wall())
    callOff(because: kind != .restore && lock.cause != .stop ? .locked(state) : .cancelled)
  }

  // A sleep waits for the thread.
  public override func outlives(_ lock: Lock) -> Bool {
    !isCalledOff && lock.reach.contains(.afterFirstUnlock)
  }
}

extension Upkeep {
  /// - Throws: that a transfer is under way, so that no other can begin.
  func checkNoTransfer() throws(Refusal) {
    guard let transfer else { return }
    throw .busy(transfer.kind.text)
  }

  /// The refusal of another vault while one is coming in.
  var incoming: Refusal? { transfer?.kind == .restore ? .busy(Transfer.Kind.restore.text) : nil }
}

extension Transfer.Kind {
  /// What is under way, for somebody who wants another one.
  fileprivate var text: String {
    switch self {
    case .backup: "another backup is being made"
    case .restore: "a backup is being restored"
    case .check: "a backup is being checked"
    }
  }
}
