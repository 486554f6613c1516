/// A thread for work that would block the loop.
package protocol Worker: AnyObject {
  /// Runs `work` on the thread, then `done` on the loop with the result. The thread's stack is wiped between the two.
  func run<T: Sendable>(_ work: @escaping @Sendable () -> T, then done: @escaping (T) -> Void)

  /// Runs `then` when all work that was begun before is done; at once if there is none.
  func whenIdle(_ then: @escaping () -> Void)
}

/// Runs closures later on the loop.
package struct Timer {
  /// Runs `work` after so many nanoseconds of `CLOCK_MONOTONIC`, and returns a closure that cancels it.
  package let after: (_ nanoseconds: Int64, _ work: @escaping () -> Void) -> Cancel
  package typealias Cancel = () -> Void

  package init(after: @escaping (_ nanoseconds: Int64, _ work: @escaping () -> Void) -> Cancel) { self.after = after }
}

/// Work for a thread. Its closure, with all the secrets it has captured, is released before anybody is told of the end;
/// the thread pool itself would release it a moment later.
///
/// `@unchecked` is safe because one thread makes the job, and one other thread runs it, once.
package final class Job<T: Sendable>: @unchecked Sendable {
  private var work: (@Sendable () -> T)?

  package init(_ work: @escaping @Sendable () -> T) { self.work = work }

  package func run() -> T {
    guard let work = work.take() else { preconditionFailure("a job was run twice") }
    return work()
  }
}
