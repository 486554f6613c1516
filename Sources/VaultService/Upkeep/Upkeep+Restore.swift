package import VaultCore
internal import VaultModel
internal import VaultStore

/// A vault that comes in from a backup, piece by piece. It is for one thread, which takes it over.
///
/// `@unchecked` holds because the loop gives it away and does not look at it again.
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

  /// The bytes of all pieces together.
  package var size: Int { header.size }

  /// Takes it all in, and makes it the vault.
  ///
  /// - Parameters:
  ///   - receive: fills what it gets with the next bytes.
  ///   - isAtEnd: tells whether nothing more comes.
  ///   - isWanted: tells whether the one who sends it is still there, right before it becomes the vault.
  /// - Returns: the slots that were left out, because they need the machine that they were made on.
  /// - Throws: a ``Refusal``, or what the closures throw; then no vault was made.
  package func takeIn(
    receive: (inout MutableRawSpan) throws -> Void, isAtEnd: () throws -> Bool, isWanted: () -> Bool
  ) throws -> [SlotRecord] {
    guard let key = vaultKey.take() else { throw Refusal.cancelled }
    do {
      var restoration = try Restoration(of: header, in: directory, vaultKey: key)
      var buffer = [UInt8](repeating: 0, count: BackupHeader.pieceCount + StreamSealer.overhead)
      while let expected = restoration.expected {
        var span = buffer.mutableSpan
        var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
        var piece = bytes._mutatingExtracting(first: expected)
        try receive(&piece)
        try restoration.take(piece.bytes)
      }
      guard try isAtEnd() else { throw VaultError.corrupt("it goes on behind its end") }
      return try restoration.finish(vaultKey: key, bootKey: bootKey.key) { () throws(VaultError) in
        guard isWanted() else { throw .storage("the process that connected has ended") }
        do throws(SystemError) { try bootKey.write() } catch { throw .storage("\(error)") }
      }
    } catch VaultError.corrupt(let reason) {
      throw Refusal.invalidBackup(reason)
    } catch VaultError.distrusted(let reason, _) {
      throw Refusal.invalidBackup(reason)
    } catch let error as VaultError {
      throw Refusal(error)
    }
  }
}

// Restore: a vault from a backup, where there is none.
extension Upkeep {
  /// Begins a restore.
  ///
  /// - Parameters:
  ///   - bytes: the backup's header.
  ///   - method: `password` or `recovery`; nil for the first of them that the backup has.
  ///   - receive: how it is taken in, with whether it was in the end; nil when the caller is gone.
  package func restore(
    _ bytes: [UInt8], method: String?, _ prompter: any Prompter,
    _ receive: @escaping (IncomingVault) -> TransferWork<Bool>?
  ) {
    let header: BackupHeader
    let slots: [SlotRecord]
    let caller: Backoff.Source
    do throws(Refusal) {
      try ways.checkNoVault()
      try checkNoTransfer()
      if let obstacle = ways.bootKeyObstacle() { throw .misconfigured(obstacle.reason) }
      do throws(CryptoError) { header = try BackupHeader(decoding: unsafe bytes.span.bytes) } catch {
        throw .invalidBackup(error.reason)
      }
      slots = try Self.slots(of: header, method: method)
      caller = Backoff.Source(uid: prompter.caller.uid, method: slots[0].kind.name)
      if let wait = ways.attempts.wait(for: caller) { throw wait }
      // Failed attempts are kept in it, before there is a vault.
      do throws(SystemError) { try StorePath.make(vault.directory) } catch { throw .storageFailed("\(error)") }
    } catch { return ways.refuse(prompter, error, .restore) }
    let conversation = ways.converse(prompter, .restore)
    conversation.makesVault = true
    let kind = slots[0].kind
    let question = kind == .password ? "Password of the backup" : "Recovery code of the backup"
    conversation.ask(.secret, method: kind.name, text: question) { [unowned self] secret in
      ways.open(slots, vaultID: header.vaultID.bytes, with: secret, by: caller, for: conversation) {
        [unowned self] opened in
        guard !conversation.isOver else { return }
        switch opened {
        case .success(let opened):
          conversation.willWipe(opened.vaultKey)
          makeBootKey(header, opened.vaultKey, conversation, receive)
        case .failure(let refusal): conversation.fail(refusal)
        }
      }
    }
  }

  /// The slots to try: those of the kind that was named, or a password's before a recovery code's.
  private static func slots(of header: BackupHeader, method: String?) throws(Refusal) -> [SlotRecord] {
    let kinds = method.map { [SlotKind(name: $0)] } ?? [.password, .recovery]
    for kind in kinds {
      let slots = header.slots.filter { $0.kind == kind }
      if slots.isEmpty { continue }
      guard TrialBudget.admits(slots.compactMap(\.kdf)) else {
        throw .invalidBackup("its slots would take too long to try")
      }
      return slots
    }
    let method = method ?? SlotKind.password.name
    throw .unavailable(method, "the backup has no \(method) slot")
  }

  /// The right to it is proven: makes the boot key, and has the caller send the backup.
  private func makeBootKey(
    _ header: BackupHeader, _ vaultKey: Handover, _ conversation: Conversation,
    _ receive: @escaping (IncomingVault) -> TransferWork<Bool>?
  ) {
    let giveUp = ways.newBootKey(vault: header.vaultID.bytes) { [unowned self] made in
      guard !conversation.isOver else { return }
      switch consume made {
      case .failure(let error): conversation.fail(.misconfigured(error.reason))
      case .success(let bootKey):
        // Asked again: another caller may have come first.
        do throws(Refusal) {
          try ways.checkNoVault()
          try checkNoTransfer()
        } catch { return conversation.fail(error) }
        // Its own: the conversation's is wiped when that ends.
        guard let key = vaultKey.copy() else { return conversation.fail(.cancelled) }
        conversation.end()
        begin(IncomingVault(header, key, bootKey, in: vault.directory), for: conversation.caller, receive)
      }
    }
    conversation.willCallOff(giveUp)
  }

  private func begin(
    _ incoming: IncomingVault, for caller: Caller, _ receive: (IncomingVault) -> TransferWork<Bool>?
  ) {
    guard let work = receive(incoming) else { return }
    let new = Transfer(.restore, vault, stop: work.stop)
    transfer = new
    vault.log.info("a backup of \(incoming.size) bytes is being restored")
    work.run(new) { [unowned self] isRestored in
      transfer = nil
      // First, so that the caller finds a vault once it is told.
      if isRestored {
        vault.openStore(because: .restored)
        vault.audit.record(.restore, .ok, caller, item: "a backup of \(incoming.size) bytes")
        // There is nothing to take back where this fails: the vault is there.
        if vault.audit.isRequired { vault.audit.write() }
      }
    }
  }
}
