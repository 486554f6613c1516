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
  /// The reason why the last rekey was given up without a request to do so, and the time in Unix seconds; nil once
  /// another rekey has begun.
  var givenUpRekey: (reason: String, time: Int64)?
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
  /// Cancels the timer of the next look into the trash.
  private var trashTimer: (() -> Void)?
  /// True while a backup, a restore or the check of a backup is under way.
  package var isTransferring: Bool { transfer != nil }

  package init(_ vault: Vault, _ ways: WaysIn, _ runner: Runner) {
    self.vault = vault
    self.ways = ways
    self.runner = runner
    check = Check(vault, runner)
    backupMark = BackupMark(directory: vault.directory)
    uses = GrantUses(ways.access, runner)
    vault.hooks.opened = { [unowned self] in opened($0) }
    vault.hooks.unlocked = { [unowned self] in unlocked($0) }
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
    vault.hooks.reconfigured = { [unowned self] in clearTrashLater() }
    check.whenOK = { [unowned ways] in ways.dropUnnamedKeys($0) }
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
    vault.hooks.whenTakenIn { [ways] in ways.conversations.each { if $0.endsWhenUnlocked { $0.finish() } } }
    clearTrashLater()
    uses.begin()
  }

  /// Notes a backup made at `time`, in Unix seconds, of the vault with that id.
  func noteBackup(_ time: Int64, of vaultID: [UInt8]) {
    if vault.openKeychain?.vaultID == vaultID { lastBackup = time }
    do throws(SystemError) { try backupMark.put(time, of: vaultID) } catch {
      vault.log.warning("the time of the backup cannot be kept: \(error)")
    }
  }

  /// The number of items in the trash that one turn examines.
  private static let trashPage = 64

  /// The longest time between two looks into the trash of a vault that stays unlocked, in seconds.
  private static let trashInterval: Int64 = 3600

  /// Deletes the items that have been in the trash for their full time, a few items in each later turn, and does so
  /// again later while the vault stays unlocked.
  package func clearTrashLater() {
    trashTimer?()
    trashTimer = nil
    guard vault.state.kind == .unlocked, let keychain = vault.openKeychain, keychain.trashCount > 0 else { return }
    let interval = max(1, min(Self.trashInterval, vault.settings.trash ?? 0))
    trashTimer = ways.timer.after(interval * 1_000_000_000) { [weak self] in self?.clearTrashLater() }
    do throws(VaultError) { try keychain.ageTrash(now: vault.clock.wall(), least: interval) } catch {
      return vault.log.error("the trash cannot age: \(error.text)")
    }
    clearTrash(after: nil)
  }

  private func clearTrash(after: Int64?, examining most: Int = Upkeep.trashPage) {
    vault.waiting.turns?.wait { [unowned self] in
      guard let keychain = vault.openKeychain else { return }
      do throws(VaultError) {
        let age = vault.settings.trash ?? 0
        let next = try vault.makingRoom(keychain) { () throws(VaultError) in
          try keychain.emptyTrash(ofAge: age, after: after, examining: most)
        }
        if let next { clearTrash(after: next, examining: most) }
      } catch .locked {
        return
      } catch {
        // Many items at once need more space than one.
        if error == .diskFull, most > 1 { return clearTrash(after: after, examining: 1) }
        vault.log.error("the trash cannot be cleared: \(error.text)")
      }
    }
  }

  /// Folds a long write-ahead log into the store's main file in a later turn, so that no caller waits both for a change
  /// and for the folding.
  package func foldLogLater() {
    guard let keychain = vault.openKeychain, keychain.hasLongLog else { return }
    vault.waiting.turns?.wait { if keychain.hasLongLog { keychain.foldLog() } }
  }
}
