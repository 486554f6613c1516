internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// Backup and Restore: a separate thread moves their bytes over the client's socket.
extension VarlinkDoor {
  func backup(_ call: Wire.BackupParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      try upkeep.backUp(isOfSalvage: call.salvaged ?? false, for: connection.caller) { backup in
        guard let socket = connection.handOver(Wire.BackupReply(size: backup.count)) else { return nil }
        let isConfirmed = call.confirms ?? false
        let sending = BackupSending(
          backup: backup, socket: socket, now: vault.clock.monotonic, isConfirmed: isConfirmed)
        return TransferWork(stop: socket.callOff) { [unowned self] transfer, then in
          transferThread.run(sending.run) { [unowned self] end in
            guard case .whole = end else {
              then(false)
              return finish(socket, end, transfer.refusal)
            }
            then(true)
            transfer.whenChecked(isWanted: { socket.departure == nil }) { [unowned self] checked in
              finish(socket, checked)
            }
          }
        }
      }
    }
  }

  /// Tells a client that has received a whole backup if the backup is valid.
  private func finish(_ socket: RawSocket, _ checked: Result<[String], Refusal>) {
    if let departure = socket.departure {
      vault.log.warning("the backup ended early: \(departure.text)")
      return conclude(socket) { $0.reply(Fault(.disowned)) }
    }
    switch checked {
    case .success(let unchecked):
      let note = unchecked.isEmpty ? "" : "; not checked: \(unchecked.joined(separator: ", "))"
      vault.log.info("the backup is complete\(note)")
      let reply = Wire.BackupReply(unchecked: unchecked.isEmpty ? nil : unchecked)
      conclude(socket) { $0.reply(reply) }
    case .failure(let refusal):
      vault.log.error("the backup is not valid: \(refusal.reason)")
      conclude(socket) { $0.reply(Fault(refusal)) }
    }
  }

  private func finish(_ socket: RawSocket, _ end: BackupSending.End, _ cause: Refusal) {
    let log = vault.log
    switch end {
    case .whole: conclude(socket) { $0.reply(Wire.Empty()) }
    case .failed(let refusal):
      log.error("the backup failed: \(refusal.reason)")
      conclude(socket, after: BackupSending.lastBlock) { $0.reply(Fault(refusal)) }
    case .calledOff(let unsent):
      log.warning("the backup was called off")
      conclude(socket, after: unsent + BackupSending.lastBlock) { $0.reply(Fault(cause)) }
    case .tooSlow(let unsent):
      log.warning("the backup was called off: it was read too slowly")
      let reason = "the backup was read too slowly: under \(Timeouts.pace.least >> 10) KiB/s, or for over an hour"
      conclude(socket, after: unsent + BackupSending.lastBlock) { $0.reply(Fault.busy(reason: reason)) }
    case .disowned(let unsent):
      log.warning("the backup was called off: \(RawSocket.Problem.disowned.text)")
      conclude(socket, after: unsent + BackupSending.lastBlock) { $0.reply(Fault(.disowned)) }
    case .unconfirmed(let problem, let unsent):
      log.warning("the backup was not confirmed: \(problem.text)")
      switch problem {
      case .calledOff: conclude(socket, after: unsent) { $0.reply(Fault(cause)) }
      case .disowned: conclude(socket, after: unsent) { $0.reply(Fault(.disowned)) }
      case .silent, .tooSlow:
        conclude(socket, after: unsent) { $0.reply(Fault.busy(reason: "the backup was not confirmed in time")) }
      case .gone, .failed: break
      }
    case .broken(let problem): log.warning("the backup ended early: \(problem.text)")
    }
  }

  func restore(_ call: Wire.RestoreParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    guard let header = [UInt8](base64: call.header) else { return connection.fail(Refusal.invalid("header")) }
    if call.check == true { return check(header, call.method, connection) }
    upkeep.restore(header, method: call.method, prompter(connection) { _ in }) { [unowned self] incoming in
      guard let socket = connection.handOver(Wire.RestoreReply()) else { return nil }
      let receiving = BackupReceiving(incoming, socket: socket, now: vault.clock.monotonic)
      return receive(receiving.run, socket, "restore") { leftOut in
        Wire.RestoreReply(leftOut: leftOut.map { Wire.Slot($0, isStale: false) })
      }
    }
  }

  private func check(_ header: [UInt8], _ method: String?, _ connection: VarlinkConnection) {
    upkeep.checkBackup(header, method: method, prompter(connection) { _ in }) { [unowned self] backup in
      // The result has a separate entry.
      vault.audit.isAbout(.backup, Upkeep.checkedBackup, detail: "begun", for: connection.caller)
      guard let socket = connection.handOver(Wire.RestoreReply()) else { return nil }
      let receiving = BackupReceiving(backup, socket: socket, now: vault.clock.monotonic)
      return receive(receiving.run, socket, Upkeep.checkedBackup) { Wire.RestoreReply() }
    }
  }

  /// The work of a thread that receives a backup. It reports the result to the service and to the client.
  private func receive<Value>(
    _ run: @escaping @Sendable () -> BackupReceiving<Value>.End, _ socket: RawSocket, _ title: String,
    reply: @escaping (Value) -> Wire.RestoreReply
  ) -> TransferWork<Result<Value, Refusal>> {
    TransferWork(stop: socket.callOff) { [unowned self] transfer, then in
      transferThread.run(run) { [unowned self] end in
        then(end.result)
        switch end {
        case .whole(let value): conclude(socket) { $0.reply(reply(value)) }
        case .failed(let refusal):
          vault.log.error("the \(title) failed: \(refusal.reason)")
          conclude(socket) { $0.reply(Fault(refusal)) }
        case .broken(let problem):
          vault.log.warning("the \(title) ended early: \(problem.text)")
          conclude(socket) { $0.reply(Fault(problem == .calledOff ? transfer.refusal : .cancelled)) }
        }
      }
    }
  }

  /// Tells the client the result: `before`, and then one message. A client that does not read at once has
  /// ``Timeouts/lastWord``; only the results for other such clients wait behind it.
  private func conclude(_ socket: RawSocket, after before: [UInt8] = [], _ message: (inout JSONWriter) -> Void) {
    var buffer = SecretBuffer()
    buffer.append(unsafe before.span.bytes)  // Bytes have no padding: all are initialized.
    var writer = JSONWriter(appendingTo: buffer)
    if socket.isPeerAlive { message(&writer) } else { writer.reply(Fault(.disowned)) }
    let word = writer.withBytes { $0.array }
    var sent = 0
    try? socket.send(unsafe word.span.bytes, from: &sent, patience: 0, heedsCallOff: false)
    guard sent < word.count else { return }
    lastWordThread.run { [clock = vault.clock, sent] in
      let limit = Int64(Timeouts.lastWord) * 1_000_000
      let pace = Pace(.init(least: 0, grace: limit, total: limit), now: clock.monotonic)
      var sent = sent
      try? socket.send(
        unsafe word.span.bytes, from: &sent, pace: pace, patience: Timeouts.lastWord, heedsCallOff: false)
    } then: {
    }
  }
}
