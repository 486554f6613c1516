internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The sealed copy of the whole vault, on its way to the caller. Only one thread at a time may use it.
package struct OutgoingBackup: Sendable {
  /// The most bytes that ``next(into:)`` returns at once.
  package static let largestPart = BackupStream.largestPart

  private let stream: BackupStream

  init(_ stream: BackupStream) { self.stream = stream }

  /// The number of bytes in all parts together.
  package var count: Int { stream.count }

  /// Writes the next part to the beginning of `destination`, which has room for ``largestPart``.
  ///
  /// - Returns: the number of bytes; 0 at the end.
  package func next(into destination: inout MutableRawSpan) throws(Refusal) -> Int {
    do throws(VaultError) { return try stream.next(into: &destination) } catch { throw Refusal(error) }
  }

  /// Wipes the key. After that no part can be read.
  package func wipe() { stream.wipe() }
}

// The making of a backup: the whole vault, sealed, for one caller at a time.
extension Upkeep {
  /// The size in bytes to which the write-ahead log beside the store may grow while a backup is being read; it may also
  /// grow to the size of the store.
  private static let logSize = 64 << 20
  /// The time between two checks of that size, in nanoseconds.
  private static let logInterval: Int64 = 1_000_000_000

  /// Begins a backup.
  ///
  /// - Parameters:
  ///   - isOfSalvage: true to copy the salvaged store instead, which is possible once.
  ///   - send: returns the work that sends the backup, which ends with true if all of it was handed over; nil if the
  ///     caller has gone away.
  package func backUp(
    isOfSalvage: Bool, for caller: Caller, _ send: (OutgoingBackup) -> TransferWork<Bool>?
  ) throws(Refusal) {
    let item = isOfSalvage ? "of what was salvaged" : nil
    let need: CallTerms.Need = isOfSalvage ? .logUnlessFailed : .log
    var begun: Begun?
    do throws(Refusal) {
      // The entry is written before anything is sent.
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
    run(work, begun, isOfSalvage) { [unowned self] in
      vault.audit.record(.backup, .failed, caller, item: item, detail: Self.undelivered)
    }
  }

  /// A backup that is ready to be sent.
  private struct Begun {
    let keychain: Keychain
    let stream: BackupStream

    /// Gives up the backup, which is not sent.
    func end() {
      stream.wipe()
      keychain.endBackup()
    }
  }

  private func begin(_ isOfSalvage: Bool) throws(Refusal) -> Begun {
    let live = try vault.keychain()
    // A copy would contain the next key, sealed under the key that it is to replace.
    guard !live.isRekeying else {
      hastenRekey()
      throw .rekeying
    }
    try checkNoTransfer()
    let keychain = isOfSalvage ? try salvaged() : live
    guard keychain.hasPortableSlot else {
      throw .unavailable(
        SlotKind.recovery.name,
        "only a password or a recovery code opens a backup, and the vault has none that can be read",
        "make a new vault and copy the items into it")
    }
    if !isOfSalvage, !live.hasFailed {
      // The copy is made of the store, so the store gets what is only in memory so far.
      vault.audit.willCopy()
      if vault.state.kind == .unlocked { uses.begin() }
    }
    do throws(VaultError) {
      let now = vault.clock.wall()
      // For the backup the write-ahead log is folded in, which needs space; and a person whose disk is full needs a
      // copy on another disk.
      let stream = try vault.makingRoom(keychain) { () throws(VaultError) in try keychain.beginBackup(now: now) }
      return Begun(keychain: keychain, stream: stream)
    } catch .locked {
      throw .locked(vault.state)
    } catch {
      throw Refusal(error)
    }
  }

  /// The detail of the entry for a backup that was begun but that the caller did not receive completely.
  private static let undelivered = "not received completely"

  /// - Parameter failed: called if the caller has not received all of the backup.
  private func run(_ work: TransferWork<Bool>, _ begun: Begun, _ isOfSalvage: Bool, failed: @escaping () -> Void) {
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
    work.run(new) { [unowned self, unowned keychain] isWhole in
      keychain.endBackup()
      transfer = nil
      if !isWhole {
        new.check?.stop()
        failed()
      }
      if isOfSalvage { dropSalvage() }
    }
  }

  /// The second store, after everything was salvaged.
  private func salvaged() throws(Refusal) -> Keychain {
    guard let salvage, salvage.reader == nil, let target = salvage.target else { throw .invalid("salvaged") }
    return target
  }

  /// Calls a backup off when the write-ahead log has grown too much meanwhile, because the log can be emptied only
  /// after the backup.
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
