import Dispatch
import Synchronization

/// Lines from the loop, taken one by one from outside.
final class LoopLines: Sendable {
  private let lines = Mutex<[String]>([])
  private let count = DispatchSemaphore(value: 0)

  func add(_ line: String) {
    lines.withLock { $0.append(line) }
    count.signal()
  }

  /// The next line, or nil when none comes in a minute.
  func next() -> String? {
    guard count.wait(timeout: .now() + 60) == .success else { return nil }
    return lines.withLock { $0.removeFirst() }
  }
}
