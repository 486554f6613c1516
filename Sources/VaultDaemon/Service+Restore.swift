internal import Logging
internal import NIOCore
internal import VaultAPI
internal import VaultCore
internal import VaultKeystore
internal import VaultModel
internal import VaultStore

/// Restore: a vault from a backup, where there is none.
extension Service {
  func restore(_ call: Wire.RestoreParameters, _ connection: Connection) {
    if let obstacle = vaultObstacle() { return connection.fail(obstacle) }
    if let transferObstacle { return connection.fail(transferObstacle) }
    if let obstacle = bootKeyObstacle() { return connection.fail(.misconfigured(reason: obstacle.reason)) }
    let header: BackupHeader
    let slots: [SlotRecord]
    do throws(Fault) {
      header = try Self.header(call.header)
      slots = try Self.slots(of: header, method: call.method)
    } catch {
      return connection.fail(error)
    }
    let kind = slots[0].kind
    let caller = Backoff.Caller(uid: connection.peer.uid, method: kind.name)
    if let wait = wait(for: caller) { return connection.fail(wait) }
    // Failed attempts are kept in it, before there is a vault.
    do throws(SystemError) { try StoreDirectory.prepare(paths.store) } catch {
      return connection.fail(.storageFailed(reason: "\(error)"))
    }
    let conversation = Conversation(connection: connection, service: self)
    conversation.makesVault = true
    let question = kind == .password ? "Password of the backup" : "Recovery code of the backup"
    conversation.ask(.secret, method: kind.name, text: question) { [unowned self] secret in
      open(slots, vaultID: header.vaultID.bytes, with: secret, by: caller, for: conversation) {
        [unowned self] opened in
        guard !conversation.isOver else { return }
        switch opened {
        case .success(let opened):
          conversation.willWipe(opened.vaultKey)
          restore(header, opened.vaultKey, conversation)
        case .failure(let fault): conversation.fail(fault)
        }
      }
    }
  }

  private static func header(_ text: String) throws(Fault) -> BackupHeader {
    let text = Array(text.utf8)
    // Bytes have no padding: all are initialized.
    guard let count = Base64.decodedCount(unsafe text.span.bytes) else { throw .invalid("header") }
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var room = unsafe span.mutableBytes
    guard Base64.decode(unsafe text.span.bytes, into: &room) else { throw .invalid("header") }
    do throws(CryptoError) { return try BackupHeader(decoding: unsafe bytes.span.bytes) } catch {
      throw .invalidBackup(reason: error.reason)
    }
  }

  /// The slots to try: those of the kind that was named, or a password's before a recovery code's.
  private static func slots(of header: BackupHeader, method: String?) throws(Fault) -> [SlotRecord] {
    let kinds = method.map { [SlotKind(name: $0)] } ?? [.password, .recovery]
    for kind in kinds {
      let slots = header.slots.filter { $0.kind == kind }
      if slots.isEmpty { continue }
      guard TrialBudget.admits(slots.compactMap(\.kdf)) else {
        throw .invalidBackup(reason: "its slots would take too long to try")
      }
      return slots
    }
    let method = method ?? SlotKind.password.name
    throw .methodUnavailable(method: method, reason: "the backup has no \(method) slot")
  }

  /// The right to it is proven: makes the boot key, and has the client send the backup.
  private func restore(_ header: BackupHeader, _ vaultKey: Handover, _ conversation: Conversation) {
    let giveUp = newBootKey(vault: header.vaultID.bytes) { [unowned self] made in
      guard !conversation.isOver else { return }
      switch consume made {
      case .success(let bootKey): receive(header, vaultKey, KeptBootKey(bootKey), conversation)
      case .failure(let error): conversation.fail(.misconfigured(reason: error.reason))
      }
    }
    conversation.willCallOff(giveUp)
  }

  private func receive(
    _ header: BackupHeader, _ vaultKey: Handover, _ bootKey: KeptBootKey, _ conversation: Conversation
  ) {
    // Asked again: another client may have come first.
    openStore(cause: .repaired)
    guard case .none = vault.content else { return conversation.fail(.vaultExists) }
    if let transferObstacle { return conversation.fail(transferObstacle) }
    // Its own: the conversation's is wiped when that ends.
    guard let vaultKey = vaultKey.copy() else { return conversation.fail(.cancelled) }
    conversation.end()
    guard let socket = conversation.connection.handOver(Wire.RestoreReply()) else { return }
    let transfer = Transfer(.restore, socket)
    self.transfer = transfer
    log.info("a backup of \(header.size) bytes is being restored")
    let receiving = RestoreReceiving(
      header: header, vaultKey: vaultKey, bootKey: bootKey, directory: paths.store, socket: socket,
      now: clock.monotonic)
    transferThread.run(on: loop, receiving.run) { [unowned self] end in
      self.transfer = nil
      finish(socket, end, transfer.fault)
    }
  }

  private func finish(_ socket: RawSocket, _ end: RestoreReceiving.End, _ cause: Fault) {
    switch end {
    case .restored(let leftOut):
      // First, so that the client finds a vault once it is told.
      openStore(cause: .restored)
      let reply = Wire.RestoreReply(leftOut: leftOut.map { Wire.Slot($0, isStale: false) })
      conclude(socket) { $0.reply(reply) }
    case .failed(let fault):
      log.error("the restore failed: \(fault)")
      conclude(socket) { $0.reply(fault) }
    case .broken(let problem):
      log.warning("the restore ended early: \(problem.text)")
      conclude(socket) { $0.reply(problem == .calledOff ? cause : .cancelled) }
    }
  }
}

/// The boot key of a vault that is being restored, on its way to the thread that does it.
///
/// `@unchecked` holds because the event loop gives it away and does not look at it again.
final class KeptBootKey: @unchecked Sendable {
  let content: NewBootKey
  init(_ content: consuming NewBootKey) { self.content = content }
}

/// The work of the thread of a restore: it takes the backup in, and makes it the vault.
struct RestoreReceiving: Sendable {
  enum End: Sendable {
    case restored(leftOut: [SlotRecord])
    case failed(Fault)
    case broken(RawSocket.Problem)
  }

  let header: BackupHeader
  let vaultKey: Handover
  let bootKey: KeptBootKey
  let directory: String
  let socket: RawSocket
  /// `CLOCK_MONOTONIC`, nanoseconds.
  let now: @Sendable () -> Int64

  func run() -> End {
    guard let key = vaultKey.take() else { return .failed(.cancelled) }
    do {
      return .restored(leftOut: try restore(key))
    } catch RawSocket.Problem.gone {
      return .failed(.invalidBackup(reason: "it is cut short"))
    } catch let problem as RawSocket.Problem {
      return .broken(problem)
    } catch VaultError.corrupt(let reason) {
      return .failed(.invalidBackup(reason: reason))
    } catch let error as VaultError {
      return .failed(Fault(error))
    } catch {
      return .failed(.storageFailed(reason: "\(error)"))
    }
  }

  private func restore(_ vaultKey: borrowing SecureBytes) throws -> [SlotRecord] {
    let pace = Pace(Timeouts.pace, now: now)
    var restoration = try Restoration(of: header, in: directory, vaultKey: vaultKey)
    var buffer = [UInt8](repeating: 0, count: BackupHeader.pieceCount + StreamSealer.overhead)
    while let expected = restoration.expected {
      var span = buffer.mutableSpan
      var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
      var piece = bytes._mutatingExtracting(first: expected)
      try socket.receive(into: &piece, pace: pace)
      try restoration.take(piece.bytes)
    }
    guard try socket.isAtEnd() else { throw VaultError.corrupt("it goes on behind its end") }
    return try restoration.finish(vaultKey: vaultKey, bootKey: bootKey.content.key) { () throws(VaultError) in
      guard socket.isPeerAlive else { throw .storage(RawSocket.Problem.disowned.text) }
      do throws(SystemError) { try bootKey.content.write() } catch { throw .storage("\(error)") }
    }
  }
}
