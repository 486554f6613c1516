internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The whole vault, sealed, on its way out. It is for one thread at a time.
package struct OutgoingBackup: Sendable {
  /// The most bytes that ``next(into:)`` gives at once.
  package static let largestPart = BackupStream.largestPart

  private let stream: BackupStream

  init(_ stream: BackupStream) { self.stream = stream }

  /// The bytes of all parts together.
  package var count: Int { stream.count }

  /// Puts the next part at the beginning of `destination`, which has room for ``largestPart``, and tells how many bytes that
  /// is; 0 at the end.
  package func next(into destination: inout MutableRawSpan) throws(Refusal) -> Int {
    do throws(VaultError) { return try stream.next(into: &destination) } catch { throw Refusal(error) }
  }

  /// Wipes the key. There is no going on after it.
  package func wipe() { stream.wipe() }
}

// Backup: the whole vault, sealed, to one caller at a time.
extension Upkeep {
  /// The size to which the log beside the store may grow for a backup that is being read, in bytes; or as large as the
  /// store.
  private static let logSize = 64 << 20
  /// The time between two looks at that, in nanoseconds.
  private static let logInterval: Int64 = 1_000_000_000

  /// Begins a backup.
  ///
  /// - Parameters:
  ///   - isOfSalvage: copies what was salvaged instead, once.
  ///   - send: how it is sent; nil when the caller is gone.
  package func backUp(
    isOfSalvage: Bool, for caller: Caller, _ send: (OutgoingBackup) -> TransferWork<Void>?
  ) throws(Refusal) {
    let item = isOfSalvage ? "of what was salvaged" : nil
    let need: CallTerms.Need = isOfSalvage ? .logUnlessFailed : .log
    var begun: Begun?
    do throws(Refusal) {
      // Before anything is sent.
      try vault.audit.recording(.backup, caller, item, needs: need) { () throws(Refusal) in
        begun = try begin(isOfSalvage)
      }
    } catch {
      begun?.end()
      throw error
    }
    guard let begun else { return }
    guard let work = send(OutgoingBackup(begun.stream)) else {
      vault.audit.record(.backup, .cancelled, caller, item: item)
      return begun.end()
    }
    run(work, begun, isOfSalvage)
  }

  /// A backup that can be sent.
  private struct Begun {
    let keychain: Keychain
    let stream: BackupStream

    /// Forgets it: it is not sent.
    func end() {
      stream.wipe()
      keychain.endBackup()
    }
  }

  private func begin(_ isOfSalvage: Bool) throws(Refusal) -> Begun {
    let live = try vault.keychain()
    // A copy would have the next key, sealed under the one that it is to replace.
    guard !live.isRekeying else { throw .rekeying }
    try checkNoTransfer()
    let keychain = isOfSalvage ? try salvaged() : live
    guard keychain.hasPortableSlot else {
      throw .unavailable(
        SlotKind.recovery.name,
        "nothing but a password or a recovery code opens a backup, and the vault has none that can be read",
        "make a new vault and copy the items into it")
    }
    do throws(VaultError) {
      let now = vault.clock.wall()
      // The log is folded in for it, which takes room; and whoever meets a full disk needs a copy on another one.
      let stream = try vault.makingRoom(keychain) { () throws(VaultError) in try keychain.beginBackup(now: now) }
      return Begun(keychain: keychain, stream: stream)
    } catch .locked {
      throw .locked(vault.state)
    } catch {
      throw Refusal(error)
    }
  }

  private func run(_ work: TransferWork<Void>, _ begun: Begun, _ isOfSalvage: Bool) {
    let (keychain, stream) = (begun.keychain, begun.stream)
    let new = Transfer(.backup, vault, isOfSalvage: isOfSalvage, stop: work.stop)
    transfer = new
    if !isOfSalvage {
      new.check = BackupCheck(self, keychain)
      let (created, vaultID) = (stream.created, keychain.vaultID)
      new.whenMade = { [unowned self] in noteBackup(created, of: vaultID) }
    }
    vault.log.info("a backup of \(stream.count) bytes begins")
    watchLog(of: new, keychain)
    work.run(new) { [unowned self, unowned keychain] in
      keychain.endBackup()
      transfer = nil
      if isOfSalvage { dropSalvage() }
    }
  }

  /// The second store, with everything that was salvaged.
  private func salvaged() throws(Refusal) -> Keychain {
    guard let salvage, salvage.reader == nil else { throw .invalid("salvaged") }
    return salvage.target
  }

  /// Calls a backup off when the log beside the store has grown too much meanwhile: it can be emptied only afterwards.
  private func watchLog(of transfer: Transfer, _ keychain: Keychain) {
    _ = ways.timer.after(Self.logInterval) { [weak self, weak transfer, weak keychain] in
      guard let self, let transfer, let keychain, self.transfer === transfer else { return }
      if let sizes = try? keychain.backupSizes(), sizes.log > max(Self.logSize, sizes.store) {
        let reason =
          "the backup was read too slowly: the log of changes beside the store grew to \(sizes.log >> 20) MiB"
        return transfer.callOff(because: .busy(reason))
      }
      watchLog(of: transfer, keychain)
    }
  }
}
