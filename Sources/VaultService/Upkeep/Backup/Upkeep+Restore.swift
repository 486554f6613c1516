package import VaultCore
internal import VaultModel
internal import VaultStore

/// A vault that is being restored from a backup, piece by piece. It is handed over to one thread.
///
/// `@unchecked` is safe because the loop gives the object away and does not access it again.
package final class IncomingVault: @unchecked Sendable {
  private let vaultKey: Handover
  private let bootKey: NewBootKey
  private let header: BackupHeader
  private let directory: String

  init(_ header: BackupHeader, _ vaultKey: Handover, _ bootKey: consuming NewBootKey, in directory: String) {
    self.header = header
    self.vaultKey = vaultKey
    self.bootKey = bootKey
    self.directory = directory
  }

  /// The number of bytes in all pieces together.
  package var size: Int { header.size }
  /// The time at which the backup was made, in Unix seconds, and the id of its vault.
  var origin: (created: Int64, vaultID: [UInt8]) { (header.created, header.vaultID.bytes) }

  /// Reads the whole backup, and makes it the vault.
  ///
  /// - Parameters:
  ///   - receive: fills the given buffer with the next bytes.
  ///   - isAtEnd: tells whether there are no more bytes.
  ///   - isWanted: tells whether the sender is still there; called right before the backup becomes the vault.
  /// - Returns: the slots that were left out, because they need the machine on which they were made.
  /// - Throws: a ``Refusal``, or the errors of the closures. In that case no vault was made.
  package func takeIn(
    receive: (inout MutableRawSpan) throws -> Void, isAtEnd: () throws -> Bool, isWanted: () -> Bool
  ) throws -> [SlotRecord] {
    guard let key = vaultKey.take() else { throw Refusal.cancelled }
    return try BackupIntake.turningErrors {
      var restoration = try Restoration(of: header, in: directory, vaultKey: key)
      try BackupIntake.read(into: &restoration, receive: receive, isAtEnd: isAtEnd)
      return try restoration.finish(vaultKey: key, bootKey: bootKey.key) { () throws(VaultError) in
        guard isWanted() else { throw .storage("the process that connected has ended") }
        do throws(SystemError) { try bootKey.write() } catch { throw .storage("\(error)") }
      }
    }
  }
}

// The restore of a vault from a backup, on a machine without one.
extension Upkeep {
  /// Begins a restore.
  ///
  /// - Parameters:
  ///   - bytes: the backup's header.
  ///   - method: `password` or `recovery`; nil for the first of them that the backup has.
  ///   - receive: returns the work of reading the backup, which ends with the slots that were left out; nil if the
  ///     caller has gone away.
  package func restore(
    _ bytes: [UInt8], method: String?, _ prompter: any Prompter,
    _ receive: @escaping (IncomingVault) -> TransferWork<Result<[SlotRecord], Refusal>>?
  ) {
    let header: BackupHeader
    let slots: [SlotRecord]
    let caller: Backoff.Source
    do throws(Refusal) {
      try ways.checkNoVault()
      try checkNoTransfer()
      if let obstacle = ways.bootKeyObstacle() { throw .misconfigured(obstacle.reason) }
      (header, slots, caller) = try admit(bytes, method, prompter)
    } catch { return ways.refuse(prompter, error, .restore) }
    let conversation = ways.converse(prompter, .restore)
    conversation.makesVault = true
    ask(conversation, slots, header, by: caller) { [unowned self] vaultKey in
      makeBootKey(header, vaultKey, conversation, receive)
    }
  }

  /// Checks whether a caller may try a secret on a backup's slots.
  ///
  /// - Returns: the header, the slots to try, and the source of the attempt.
  func admit(
    _ bytes: [UInt8], _ method: String?, _ prompter: any Prompter
  ) throws(Refusal) -> (BackupHeader, [SlotRecord], Backoff.Source) {
    let header: BackupHeader
    do throws(CryptoError) { header = try BackupHeader(decoding: unsafe bytes.span.bytes) } catch {
      throw .invalidBackup(error.reason)
    }
    let slots = try Self.slots(of: header, method: method)
    let caller = Backoff.Source(uid: prompter.caller.uid, method: slots[0].kind.name)
    if let wait = ways.attempts.wait(for: caller, afterTrial: true) { throw wait }
    // The directory keeps the failed attempts, even if there is no vault.
    do throws(SystemError) { try StorePath.make(vault.directory) } catch { throw .storageFailed("\(error)") }
    return (header, slots, caller)
  }

  /// Asks for the secret that opens a backup; `then` receives the vault key, which the conversation wipes at its end.
  func ask(
    _ conversation: Conversation, _ slots: [SlotRecord], _ header: BackupHeader, by caller: Backoff.Source,
    then: @escaping (Handover) -> Void
  ) {
    let kind = slots[0].kind
    let question = kind.facts.secret == .code ? "Recovery code of the backup" : "Password of the backup"
    conversation.ask(.secret, method: kind.name, text: question) { [unowned self] secret in
      ways.open(slots, vaultID: header.vaultID.bytes, with: secret, by: caller, for: conversation) { opened in
        guard !conversation.isOver else { return }
        switch opened {
        case .success(let opened):
          conversation.willWipe(opened.vaultKey)
          then(opened.vaultKey)
        case .failure(let refusal): conversation.fail(refusal)
        }
      }
    }
  }

  /// The slots to try: those of the named kind; if no kind is named, the password slots, or the recovery slots of a
  /// backup without a password.
  private static func slots(of header: BackupHeader, method: String?) throws(Refusal) -> [SlotRecord] {
    let kinds = method.map { [SlotKind(name: $0)] } ?? SlotKind.allCases.filter(\.facts.isPortable)
    for kind in kinds {
      let slots = header.slots.filter { $0.kind == kind }
      if slots.isEmpty { continue }
      guard TrialBudget.admits(slots.compactMap(\.kdf)) else {
        throw .invalidBackup("its slots would take too long to try")
      }
      return slots
    }
    let method = method ?? SlotKind.password.name
    let other = header.slots.contains { $0.kind.facts.secret == .code } ? "its recovery code" : "its password"
    throw .unavailable(method, "the backup has no \(method) slot", "use \(other)")
  }

  /// Makes the boot key after the right to the backup was proven, and has the caller send the backup.
  private func makeBootKey(
    _ header: BackupHeader, _ vaultKey: Handover, _ conversation: Conversation,
    _ receive: @escaping (IncomingVault) -> TransferWork<Result<[SlotRecord], Refusal>>?
  ) {
    let giveUp = ways.newBootKey(vault: header.vaultID.bytes) { [unowned self] made in
      guard !conversation.isOver else { return }
      switch consume made {
      case .failure(let error): conversation.fail(.misconfigured(error.reason))
      case .success(let bootKey):
        // Checked again, because another caller may have come first.
        do throws(Refusal) {
          try ways.checkNoVault()
          try checkNoTransfer()
        } catch { return conversation.fail(error) }
        // The restore gets a copy: the conversation's key is wiped when it ends.
        guard let key = vaultKey.copy() else { return conversation.fail(.cancelled) }
        bootKey.tell(conversation)
        conversation.end()
        begin(IncomingVault(header, key, bootKey, in: vault.directory), for: conversation.caller, receive)
      }
    }
    conversation.willCallOff(giveUp)
  }

  private func begin(
    _ incoming: IncomingVault, for caller: Caller,
    _ receive: (IncomingVault) -> TransferWork<Result<[SlotRecord], Refusal>>?
  ) {
    guard let work = receive(incoming) else { return }
    let new = Transfer(.restore, vault, stop: work.stop)
    transfer = new
    vault.log.info("a backup of \(incoming.size) bytes is being restored")
    work.run(new) { [unowned self] result in
      transfer = nil
      // This is done first, so that the caller finds a vault once it is told.
      if case .success = result {
        // The restored vault has a backup: this one.
        noteBackup(incoming.origin.created, of: incoming.origin.vaultID)
        vault.openStore(because: .restored)
        vault.audit.record(.restore, .ok, caller, item: "a backup of \(incoming.size) bytes")
        // If this fails, nothing is undone, because the vault exists already.
        if vault.audit.isRequired { vault.audit.write() }
      }
    }
  }
}
