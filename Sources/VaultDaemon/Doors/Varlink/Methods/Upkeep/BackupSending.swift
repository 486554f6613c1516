internal import VaultService

/// The work of the backup thread: it sends the whole backup, in blocks.
struct BackupSending: Sendable {
  enum End: Sendable {
    case whole
    case failed(Refusal)
    /// The transfer was called off, with the unsent rest of the current block.
    case calledOff(unsent: [UInt8])
    /// The client was too slow, with the unsent rest of the current block.
    case tooSlow(unsent: [UInt8])
    /// The client's process has ended, with the unsent rest of the current block.
    case disowned(unsent: [UInt8])
    /// All blocks were sent, but for the unsent rest of the last one, and the client has not confirmed them.
    case unconfirmed(RawSocket.Problem, unsent: [UInt8])
    case broken(RawSocket.Problem)
  }

  /// The empty block that marks the end of the backup.
  static let lastBlock = [UInt8](repeating: 0, count: lengthCount)
  private static let lengthCount = 4

  let backup: OutgoingBackup
  let socket: RawSocket
  /// Returns nanoseconds of `CLOCK_MONOTONIC`.
  let now: @Sendable () -> Int64
  /// True if the client confirms that it has written all blocks.
  var isConfirmed = false
  var limits = Timeouts.pace

  func run() -> End {
    // The wipe comes before the result is reported, because the code that called the transfer off waits for the wipe.
    defer { backup.wipe() }
    let pace = Pace(limits, now: now)
    var block = [UInt8](repeating: 0, count: Self.lengthCount + OutgoingBackup.largestPart)
    while true {
      let count: Int
      do throws(Refusal) { count = try fill(&block) } catch { return .failed(error) }
      if count == 0 { return finish() }
      let end = Self.lengthCount + count
      var sent = 0
      do throws(RawSocket.Problem) {
        // Bytes have no padding, so all are initialized.
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

  /// Sends the last block and, if the client confirms the backup, waits for the confirmation.
  private func finish() -> End {
    var sent = 0
    let last = Self.lastBlock
    do throws(RawSocket.Problem) {
      // Bytes have no padding, so all are initialized.
      try socket.send(unsafe last.span.bytes, from: &sent, pace: Pace(limits, now: now))
      if isConfirmed {
        let end = now() + Int64(Timeouts.confirmation) * 1_000_000
        for _ in 0..<Self.lengthCount {
          // Anything other than zeros is no confirmation, and nothing follows it.
          guard try receiveByte(until: end) == 0 else { return .unconfirmed(.gone, unsent: []) }
        }
      }
      return .whole
    } catch { return .unconfirmed(error, unsent: Array(last[sent...])) }
  }

  /// Receives one byte before `end`, in nanoseconds of `CLOCK_MONOTONIC`: a client gains no time by single bytes.
  private func receiveByte(until end: Int64) throws(RawSocket.Problem) -> UInt8 {
    var word: [UInt8] = [0]
    var span = word.mutableSpan
    var bytes = unsafe span.mutableBytes  // A byte has no padding.
    try socket.receive(into: &bytes, patience: Int32(clamping: max(0, (end - now()) / 1_000_000)))
    return word[0]
  }

  /// Makes the next block; returns the number of bytes after its length.
  private func fill(_ block: inout [UInt8]) throws(Refusal) -> Int {
    var span = block.mutableSpan
    var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    var content = bytes._mutatingExtracting(droppingFirst: Self.lengthCount)
    let count = try backup.next(into: &content)
    bytes.storeBytes(of: UInt32(count).littleEndian, as: UInt32.self)
    return count
  }
}

extension RawSocket.Problem {
  /// The problem as a text for the log.
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
