import Dispatch
import Synchronization

/// Lines that are added on a loop and taken one by one on another thread.
final class LoopLines: Sendable {
  private let lines = Mutex<[String]>([])
  private let count = DispatchSemaphore(value: 0)

  func add(_ line: String) {
    lines.withLock { $0.append(line) }
    count.signal()
  }

  /// Returns the next line; nil if none comes within a minute.
  func next() -> String? {
    guard count.wait(timeout: .now() + 60) == .success else { return nil }
    return lines.withLock { $0.removeFirst() }
  }
}
