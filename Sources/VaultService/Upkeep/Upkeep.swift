internal import VaultCore
internal import VaultStore

/// The long work on a vault: the check of all records, rekey, salvage, backup and restore.
package final class Upkeep {
  let vault: Vault
  let ways: WaysIn
  package let runner: Runner
  package let check: Check
  let uses: GrantUses
  /// The rekey that is under way while the vault is unlocked; nil for none.
  var rekey: RekeyWork?
  /// The rekey that was given up last, unless it was called off and removed at once; nil once another rekey has begun.
  var givenUpRekey: GivenUpRekey?
  /// Cancels the timer of the next attempt to remove a rekey that was given up.
  var dropTimer: (() -> Void)?
  /// The second store with the salvaged part of a damaged one, while it is filled and until its backup is made; nil for
  /// none.
  var salvage: SalvageWork?
  /// The time of the last backup that was handed over completely and checked, or from which the vault was restored, in
  /// Unix seconds; nil if none is known.
  private(set) var lastBackup: Int64?
  private let backupMark: BackupMark
  /// The backup, the restore or the check of a backup that is under way; nil for none.
  var transfer: Transfer?
  private let trash: TrashClearing
  /// True while a backup, a restore or the check of a backup is under way.
  package var isTransferring: Bool { transfer != nil }

  package init(_ vault: Vault, _ ways: WaysIn, _ runner: Runner) {
    self.vault = vault
    self.ways = ways
    self.runner = runner
    check = Check(vault, runner)
    backupMark = BackupMark(directory: vault.directory)
    uses = GrantUses(ways.access, runner)
    trash = TrashClearing(vault, ways.timer)
    vault.hooks.opened = { [unowned self] in opened($0) }
    vault.hooks.unlocked = { [unowned self] in unlocked($0) }
    vault.hooks.lacksBootKey = { [unowned ways] in ways.lookAtBootKey($0) }
    vault.hooks.incoming = { [unowned self] in incoming }
    vault.hooks.keysEnd = { [unowned vault, unowned ways] in
      ways.retained.since.flatMap { since in vault.settings.maximumAge.map { LockPolicy.after($0, since) } }
    }
    vault.hooks.endKeys = { [unowned ways] in ways.retained.forget(because: LockState.Cause.age.text) }
    ways.hooks.keyIsKnown = { [unowned self] key, keychain in takeUpRekey(key, keychain) }
    ways.hooks.rekeyDelays = { [unowned self] in hastenRekey() }
    ways.hooks.slotsChange = { [unowned self] in callOffSalvage(because: $0) }
    ways.hooks.bootKeyMoves = { [unowned self] refusal in
      if let transfer, transfer.kind == .restore { transfer.callOff(because: refusal) }
    }
    vault.hooks.reconfigured = { [unowned self] in trash.clear() }
    check.whenOK = { [unowned vault, unowned ways] in
      ways.dropUnnamedKeys($0)
      vault.prompts.look()
    }
  }

  private func opened(_ keychain: Keychain) {
    removeSalvage()
    givenUpRekey = nil
    lastBackup = backupMark.time(of: keychain.vaultID)
    ways.access.reset()
    ways.earlierKeys = FileKeystore(directory: vault.directory).stored()
    ways.openAlways(keychain)
  }

  private func unlocked(_ keychain: Keychain) {
    check.unlocked(keychain)
    vault.hooks.whenTakenIn { [ways, vault] in
      ways.conversations.each { conversation in
        guard conversation.endsWhenUnlocked else { return }
        vault.audit.wasUnlockedByAnother(for: conversation.caller)
        conversation.finish()
      }
    }
    trash.clear()
    uses.begin()
  }

  /// Notes a backup made at `time`, in Unix seconds, of the vault with that id.
  func noteBackup(_ time: Int64, of vaultID: [UInt8]) {
    if vault.openKeychain?.vaultID == vaultID { lastBackup = time }
    do throws(SystemError) { try backupMark.put(time, of: vaultID) } catch {
      vault.log.warning("the time of the backup cannot be kept: \(error)")
    }
  }

  /// Notes that items were moved to the trash, which is cleared when they have been there for their full time.
  package func trashHasGrown() { trash.hasGrown() }

  /// Folds a long write-ahead log into the store's main file in a later turn, so that no caller waits both for a change
  /// and for the folding.
  package func foldLogLater() {
    guard let keychain = vault.openKeychain, keychain.hasLongLog else { return }
    vault.waiting.turns?.wait { if keychain.hasLongLog { keychain.foldLog() } }
  }
}
