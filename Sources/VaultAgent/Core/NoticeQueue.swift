internal import Synchronization

/// The notices that wait for the thread that shows them. With a thread of their own, a face that hangs never delays the
/// withdrawal of an inquiry.
final class NoticeQueue: Sendable {
  /// The most notices that wait. When there are more, the oldest is dropped, because it is no longer news.
  private static let most = 16

  private struct State {
    var waiting: [Notice] = []
    var isClosed = false
  }
  private let state = Mutex(State())
  private let bell: Bell

  init() throws(Withdrawal.Errno) { bell = try Bell() }

  func put(_ notice: Notice) {
    state.withLock { state in
      state.waiting.append(notice)
      if state.waiting.count > Self.most { state.waiting.removeFirst() }
    }
    bell.ring()
  }

  /// Waits for the next notice; nil when the queue is closed.
  func take() -> Notice? {
    while true {
      let (next, isClosed) = state.withLock { state in
        (state.isClosed || state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.isClosed)
      }
      if isClosed { return nil }
      if let next { return next }
      bell.wait()
    }
  }

  /// Drops the waiting notices, for good.
  func close() {
    state.withLock { $0.isClosed = true }
    bell.ring()
  }
}
