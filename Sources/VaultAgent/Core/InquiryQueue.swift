internal import Glibc
internal import Synchronization
internal import VaultClient
internal import VaultWire

/// An inquiry that is put, or waits to be put.
final class OpenInquiry: Sendable {
  let location: SocketLocation
  let isSystem: Bool
  private let state: Mutex<State>
  /// Raised when it is taken back, and by a person who does not want to answer.
  let end: Withdrawal

  private struct State {
    var inquiry: Wire.Inquiry
    var isWithdrawn = false
    /// Raised when the daemon tells of it again, for the one that waits for that.
    var news: Withdrawal?
  }

  init(_ inquiry: Wire.Inquiry, at location: SocketLocation, isSystem: Bool) throws(Withdrawal.Errno) {
    (self.location, self.isSystem) = (location, isSystem)
    state = Mutex(State(inquiry: inquiry))
    end = try Withdrawal()
  }

  /// The inquiry as the daemon told of it last.
  var inquiry: Wire.Inquiry { state.withLock { $0.inquiry } }

  /// True while a call waits for the answer. A request stays when the process that made it is gone.
  var isAwaited: Bool { inquiry.count > 0 }

  /// True when the daemon, or the end of the program, has taken it back.
  var isWithdrawn: Bool { state.withLock { $0.isWithdrawn } }

  func update(_ inquiry: Wire.Inquiry) {
    state.withLock { state in
      state.inquiry = inquiry
      state.news?.raise()
    }
  }

  /// Waits until the daemon has told of another asker than that process, for a while: it tells of changes a few times a second.
  func waitForAnother(than pid: Int?) throws(Withdrawal.Errno) {
    let deadline = Clock.now() + 2_000_000
    while inquiry.askers.first?.pid == pid {
      let news = try Withdrawal()
      let isOld = state.withLock { state in
        state.news = news
        return state.inquiry.askers.first?.pid == pid
      }
      let now = Clock.now()
      guard isOld, !end.isRaised, now < deadline else { return }
      var polled = [news, end].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
      _ = unsafe poll(&polled, 2, Int32((deadline - now) / 1000 + 1))
    }
  }

  func withdraw() {
    state.withLock { $0.isWithdrawn = true }
    end.raise()
  }

  func isSame(as other: OpenInquiry) -> Bool {
    inquiry.number == other.inquiry.number && location == other.location
  }
}

/// The inquiries that wait for the one thread that asks. Those that a call waits for come before requests for which none does:
/// also before the one that is being put, which then comes again later.
final class InquiryQueue: Sendable {
  private struct State {
    var waiting: [OpenInquiry] = []
    var current: OpenInquiry?
    var isClosed = false
  }
  private let state = Mutex(State())
  private let bell: Bell

  init() throws(Withdrawal.Errno) { bell = try Bell() }

  /// Adds one, or brings the one that is there up to date.
  func put(_ open: OpenInquiry) {
    state.withLock { state in
      if state.isClosed { return }
      let known = ([state.current].compactMap(\.self) + state.waiting).first { $0.isSame(as: open) }
      if let known { known.update(open.inquiry) } else { state.waiting.append(open) }
      if let current = state.current, !current.isAwaited, state.waiting.contains(where: \.isAwaited) {
        // It is put again in its turn, if there is room for it.
        guard
          let later = try? OpenInquiry(current.inquiry, at: current.location, isSystem: current.isSystem)
        else { return }
        state.waiting.append(later)
        state.current = nil
        current.withdraw()
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
        let next = state.waiting.firstIndex(where: \.isAwaited) ?? state.waiting.indices.first
        state.current = state.isClosed ? nil : next.map { state.waiting.remove(at: $0) }
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
