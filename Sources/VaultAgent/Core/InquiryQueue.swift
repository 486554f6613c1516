internal import Synchronization
internal import VaultClient
internal import VaultWire

/// An inquiry that is put, or waits to be put.
final class OpenInquiry: Sendable {
  let location: SocketLocation
  let isSystem: Bool
  let inquiry: Wire.Inquiry
  /// Raised when it is taken back, and by a person who does not want to answer.
  let end: Withdrawal
  private let withdrawn = Mutex(false)

  init(_ inquiry: Wire.Inquiry, at location: SocketLocation, isSystem: Bool) throws(Withdrawal.Errno) {
    (self.inquiry, self.location, self.isSystem) = (inquiry, location, isSystem)
    end = try Withdrawal()
  }

  /// True when the daemon, or the end of the program, has taken it back.
  var isWithdrawn: Bool { withdrawn.withLock { $0 } }

  func withdraw() {
    withdrawn.withLock { $0 = true }
    end.raise()
  }
}

/// The inquiries that wait for the one thread that asks.
final class InquiryQueue: Sendable {
  private struct State {
    var waiting: [OpenInquiry] = []
    var current: OpenInquiry?
    var isClosed = false
  }
  private let state = Mutex(State())
  private let bell: Bell

  init() throws(Withdrawal.Errno) { bell = try Bell() }

  /// Adds one, or puts it in the place of what it was before.
  func put(_ open: OpenInquiry) {
    state.withLock { state in
      let same = { (other: OpenInquiry) in
        other.inquiry.number == open.inquiry.number && other.location == open.location
      }
      if state.isClosed || state.current.map(same) == true { return }
      if let index = state.waiting.firstIndex(where: same) {
        state.waiting[index] = open
      } else {
        state.waiting.append(open)
      }
    }
    bell.ring()
  }

  /// Takes back the one of that number, or all of a vault.
  func withdraw(_ number: Int?, at location: SocketLocation) {
    state.withLock { state in
      let isMeant = { (open: OpenInquiry) in
        open.location == location && (number == nil || open.inquiry.number == number)
      }
      state.waiting.removeAll(where: isMeant)
      if let current = state.current, isMeant(current) { current.withdraw() }
    }
  }

  /// Waits for the next one; nil when it is closed.
  func take() -> OpenInquiry? {
    while true {
      let (next, isClosed) = state.withLock { state -> (OpenInquiry?, Bool) in
        state.current = state.isClosed || state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        return (state.current, state.isClosed)
      }
      if isClosed { return nil }
      if let next { return next }
      bell.wait()
    }
  }

  /// Takes back everything, for good.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.waiting = []
      state.current?.withdraw()
    }
    bell.ring()
  }
}
