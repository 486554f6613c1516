internal import Logging
internal import VaultAPI
internal import VaultCore
internal import VaultStore

/// Backup: the whole vault, sealed, to one client at a time.
extension Service {
  func backup(_ call: Wire.BackupParameters, _ connection: Connection) {
    guard case .open(let live) = vault.content else { return connection.fail(storeFault) }
    // A copy would have the next key, sealed under the one that it is to replace.
    guard !live.isRekeying else { return connection.fail(.rekeying) }
    if let transferObstacle { return connection.fail(transferObstacle) }
    let keychain: Keychain
    do throws(Fault) { keychain = try backupSource(call, live) } catch { return connection.fail(error) }
    guard keychain.hasPortableSlot else {
      return connection.fail(
        .methodUnavailable(
          method: SlotKind.recovery.name,
          reason: "nothing but a password or a recovery code opens a backup, and the vault has none that can be read; "
            + "make a new vault and copy the items into it"))
    }
    let stream: BackupStream
    do throws(VaultError) { stream = try keychain.beginBackup(now: clock.wall()) } catch .locked {
      return connection.fail(.locked(state: state.kind.rawValue, cause: state.cause.text))
    } catch {
      return connection.fail(Fault(error))
    }
    guard let socket = connection.handOver(Wire.BackupReply(size: stream.count)) else {
      stream.wipe()
      return keychain.endBackup()
    }
    let transfer = Transfer(.backup, socket, isOfSalvage: keychain !== live)
    self.transfer = transfer
    log.info("a backup of \(stream.count) bytes begins")
    let sending = BackupSending(stream: stream, socket: socket, now: clock.monotonic)
    watchLog(of: transfer, keychain)
    transferThread.run(on: loop, sending.run) { [unowned self, unowned keychain] end in
      keychain.endBackup()
      self.transfer = nil
      if transfer.isOfSalvage { dropSalvage() }
      finish(socket, end, transfer.fault)
    }
  }

  private func finish(_ socket: RawSocket, _ end: BackupSending.End, _ cause: Fault) {
    switch end {
    case .whole:
      log.info("the backup is made")
      conclude(socket, after: BackupSending.lastBlock) { $0.reply(Wire.Empty()) }
    case .failed(let error):
      log.error("the backup failed: \(error.text)")
      conclude(socket, after: BackupSending.lastBlock) { $0.reply(Fault(error)) }
    case .calledOff(let unsent):
      log.warning("the backup was called off")
      conclude(socket, after: unsent + BackupSending.lastBlock) { $0.reply(cause) }
    case .tooSlow(let unsent):
      log.warning("the backup was called off: it was read too slowly")
      let reason = "the backup was read too slowly: under \(Timeouts.pace.least >> 10) KiB/s, or for over an hour"
      conclude(socket, after: unsent + BackupSending.lastBlock) { $0.reply(.busy(reason: reason)) }
    case .disowned(let unsent):
      log.warning("the backup was called off: \(RawSocket.Problem.disowned.text)")
      conclude(socket, after: unsent + BackupSending.lastBlock) { $0.reply(.disowned) }
    case .broken(let problem): log.warning("the backup ended early: \(problem.text)")
    }
  }
}

/// The work of the thread of a backup: it sends all of it, in blocks.
struct BackupSending: Sendable {
  enum End: Sendable {
    case whole
    case failed(VaultError)
    /// With what is missing of the block that was being sent.
    case calledOff(unsent: [UInt8])
    /// With the same.
    case tooSlow(unsent: [UInt8])
    /// With the same.
    case disowned(unsent: [UInt8])
    case broken(RawSocket.Problem)
  }

  /// The block that ends them.
  static let lastBlock = [UInt8](repeating: 0, count: lengthCount)
  private static let lengthCount = 4

  let stream: BackupStream
  let socket: RawSocket
  /// `CLOCK_MONOTONIC`, nanoseconds.
  let now: @Sendable () -> Int64
  var limits = Timeouts.pace

  func run() -> End {
    // Before anybody is told: whoever called it off waits for that.
    defer { stream.wipe() }
    let pace = Pace(limits, now: now)
    var block = [UInt8](repeating: 0, count: Self.lengthCount + BackupStream.largestPart)
    while true {
      let count: Int
      do throws(VaultError) { count = try fill(&block) } catch { return .failed(error) }
      if count == 0 { return .whole }
      let end = Self.lengthCount + count
      var sent = 0
      do throws(RawSocket.Problem) {
        // Bytes have no padding: all are initialized.
        try socket.send(unsafe block.span.bytes.extracting(first: end), from: &sent, pace: pace)
      } catch .calledOff {
        return .calledOff(unsent: Array(block[sent..<end]))
      } catch .tooSlow {
        return .tooSlow(unsent: Array(block[sent..<end]))
      } catch .disowned {
        return .disowned(unsent: Array(block[sent..<end]))
      } catch {
        return .broken(error)
      }
    }
  }

  /// Makes the next block; how many bytes it has behind its length.
  private func fill(_ block: inout [UInt8]) throws(VaultError) -> Int {
    var span = block.mutableSpan
    var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    var content = bytes._mutatingExtracting(droppingFirst: Self.lengthCount)
    let count = try stream.next(into: &content)
    bytes.storeBytes(of: UInt32(count).littleEndian, as: UInt32.self)
    return count
  }
}

extension RawSocket.Problem {
  /// For the log.
  var text: String {
    switch self {
    case .calledOff: "it was called off"
    case .disowned: "the process that connected has ended"
    case .gone: "the client went away"
    case .silent: "the client did nothing for \(Timeouts.transfer / 1000) s"
    case .tooSlow: "the client was too slow"
    case .failed(let error): "\(error)"
    }
  }
}
