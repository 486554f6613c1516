internal import Synchronization

/// The notices that wait for the one thread that tells them: a face that hangs keeps no inquiry from being taken back.
final class NoticeQueue: Sendable {
  /// The most that wait. What is older than so many others is no news any more.
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

  /// Waits for the next one; nil when it is closed.
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

  /// Drops what waits, for good.
  func close() {
    state.withLock { $0.isClosed = true }
    bell.ring()
  }
}
