internal import Glibc
internal import Synchronization
internal import VaultClient
internal import VaultWire

/// An inquiry that is being put to the person, or waits to be put.
final class OpenInquiry: Sendable {
  let location: SocketLocation
  let isSystem: Bool
  private let state: Mutex<State>
  /// The signal that is raised when the inquiry is withdrawn, and when the person does not want to answer.
  let end: Withdrawal

  private struct State {
    var inquiry: Wire.Inquiry
    var isWithdrawn = false
    /// The signal that is raised when the daemon sends the inquiry again, for the thread in ``waitForAnother(than:)``.
    var news: Withdrawal?
  }

  init(_ inquiry: Wire.Inquiry, at location: SocketLocation, isSystem: Bool) throws(Withdrawal.Errno) {
    (self.location, self.isSystem) = (location, isSystem)
    state = Mutex(State(inquiry: inquiry))
    end = try Withdrawal()
  }

  /// The inquiry as the daemon sent it last.
  var inquiry: Wire.Inquiry { state.withLock { $0.inquiry } }

  /// True while a call waits for the answer. A request outlives the process that made it.
  var isAwaited: Bool { inquiry.count > 0 }

  /// True when the daemon has withdrawn the inquiry, or the program ends.
  var isWithdrawn: Bool { state.withLock { $0.isWithdrawn } }

  func update(_ inquiry: Wire.Inquiry) {
    state.withLock { state in
      state.inquiry = inquiry
      state.news?.raise()
    }
  }

  /// Waits up to two seconds until the daemon names another process than `asker`; the daemon reports changes a few
  /// times a second.
  func waitForAnother(than asker: Wire.Asker?) throws(Withdrawal.Errno) {
    let isSame = { (inquiry: Wire.Inquiry) in
      inquiry.askers.first?.pid == asker?.pid && inquiry.askers.first?.started == asker?.started
    }
    let deadline = Clock.now() + 2_000_000
    while isSame(inquiry) {
      let news = try Withdrawal()
      let isOld = state.withLock { state in
        state.news = news
        return isSame(state.inquiry)
      }
      let now = Clock.now()
      guard isOld, !end.isRaised, now < deadline else { return }
      var polled = [news, end].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
      _ = unsafe poll(&polled, 2, Int32((deadline - now) / 1000 + 1))
    }
  }

  /// - Parameter atEnd: whether this program ends.
  func withdraw(atEnd: Bool = false) {
    state.withLock { $0.isWithdrawn = true }
    end.raise(atEnd: atEnd)
  }

  func isSame(as other: OpenInquiry) -> Bool {
    inquiry.number == other.inquiry.number && location == other.location
  }
}

/// The inquiries that wait for the asking thread.
///
/// Inquiries that a call waits for come before requests that no call waits for. They also interrupt a request that is
/// being put, which is put again later.
final class InquiryQueue: Sendable {
  private struct State {
    var waiting: [OpenInquiry] = []
    var current: OpenInquiry?
    var isClosed = false
  }
  private let state = Mutex(State())
  private let bell: Bell

  init() throws(Withdrawal.Errno) { bell = try Bell() }

  /// Adds an inquiry, or updates it if it is already here.
  func put(_ open: OpenInquiry) {
    state.withLock { state in
      if state.isClosed { return }
      let known = ([state.current].compactMap(\.self) + state.waiting).first { $0.isSame(as: open) }
      if let known { known.update(open.inquiry) } else { state.waiting.append(open) }
      if let current = state.current, !current.isAwaited, state.waiting.contains(where: \.isAwaited) {
        // The request is put again in its turn, unless its copy cannot be made.
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

  /// Withdraws the inquiry with this number, or all inquiries of a vault.
  func withdraw(_ number: Int?, at location: SocketLocation, atEnd: Bool = false) {
    state.withLock { state in
      let isMeant = { (open: OpenInquiry) in
        open.location == location && (number == nil || open.inquiry.number == number)
      }
      state.waiting.removeAll(where: isMeant)
      if let current = state.current, isMeant(current) { current.withdraw(atEnd: atEnd) }
    }
  }

  /// Waits for the next inquiry; nil when the queue is closed.
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

  /// Withdraws all inquiries, for good.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.waiting = []
      state.current?.withdraw(atEnd: true)
    }
    bell.ring()
  }
}
