internal import Synchronization

/// The number of vaults that are still attended.
final class OpenStreams: Sendable {
  private let count: Mutex<Int>

  init(_ count: Int) { self.count = Mutex(count) }

  var areNone: Bool { count.withLock { $0 == 0 } }

  /// Counts the end of one stream; true when it was the last.
  func oneEnds() -> Bool {
    count.withLock { count in
      count -= 1
      return count == 0
    }
  }
}
