internal import VaultService

/// The work of the thread of a backup: it sends all of it, in blocks.
struct BackupSending: Sendable {
  enum End: Sendable {
    case whole
    case failed(Refusal)
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

  let backup: OutgoingBackup
  let socket: RawSocket
  /// `CLOCK_MONOTONIC`, nanoseconds.
  let now: @Sendable () -> Int64
  var limits = Timeouts.pace

  func run() -> End {
    // Before anybody is told: whoever called it off waits for that.
    defer { backup.wipe() }
    let pace = Pace(limits, now: now)
    var block = [UInt8](repeating: 0, count: Self.lengthCount + OutgoingBackup.largestPart)
    while true {
      let count: Int
      do throws(Refusal) { count = try fill(&block) } catch { return .failed(error) }
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
