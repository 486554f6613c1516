/// A thread for what would hold the loop.
package protocol Worker: AnyObject {
  /// Runs `work` on the thread, then `done` on the loop with what it made. The thread's stack is wiped between the two.
  func run<T: Sendable>(_ work: @escaping @Sendable () -> T, then done: @escaping (T) -> Void)

  /// Runs `then` when all that was begun before is done: now, if nothing was.
  func whenIdle(_ then: @escaping () -> Void)
}

/// Runs something later on the loop.
package struct Timer {
  /// After so many nanoseconds of `CLOCK_MONOTONIC`; what it gives calls it off.
  package let after: (_ nanoseconds: Int64, _ work: @escaping () -> Void) -> Cancel
  package typealias Cancel = () -> Void

  package init(after: @escaping (_ nanoseconds: Int64, _ work: @escaping () -> Void) -> Cancel) { self.after = after }
}

/// Work for a thread, which is let go of with all the secrets it has captured before anybody hears of the end: the pool
/// itself drops what it ran a moment later.
///
/// `@unchecked` holds because one thread makes it, and one other runs it, once.
package final class Job<T: Sendable>: @unchecked Sendable {
  private var work: (@Sendable () -> T)?

  package init(_ work: @escaping @Sendable () -> T) { self.work = work }

  package func run() -> T {
    guard let work = work.take() else { preconditionFailure("a job was run twice") }
    return work()
  }
}
