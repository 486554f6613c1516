internal import NIOCore
internal import NIOPosix
internal import VaultCore

/// One thread for what would hold the event loop. One, because each run of Argon2id takes a slot's whole memory.
///
/// Its stack is wiped after each job, before anybody hears of the end: it waits for the next one with nothing of it left.
final class Workers {
  private let pool = NIOThreadPool(numberOfThreads: 1)
  /// The number of jobs that were begun and are not done.
  private var running = 0

  init() { pool.start() }

  /// Runs `work` on the thread, then `done` on `loop` with what it made.
  func run<T: Sendable>(
    on loop: any EventLoop, _ work: @escaping @Sendable () -> T, then done: @escaping (T) -> Void
  ) {
    running += 1
    let job = Job(work)
    let wiping: @Sendable () -> T = {
      defer { Stack.wipe() }
      return job.run()
    }
    pool.runIfActive(eventLoop: loop, wiping).assumeIsolated().whenSuccess { [self] result in
      running -= 1
      done(result)
    }
  }

  /// Runs `then` when all that was begun before is done: now, if nothing was.
  func whenIdle(on loop: any EventLoop, _ then: @escaping () -> Void) {
    if running == 0 { then() } else { run(on: loop, {}, then: then) }
  }
}

/// Work for a thread, which is let go of with all the secrets it has captured before anybody hears of the end: the pool
/// itself drops what it ran a moment later.
///
/// `@unchecked` holds because one thread makes it, and one other runs it, once.
final class Job<T: Sendable>: @unchecked Sendable {
  private var work: (@Sendable () -> T)?

  init(_ work: @escaping @Sendable () -> T) { self.work = work }

  func run() -> T {
    guard let work = work.take() else { preconditionFailure("a job was run twice") }
    return work()
  }
}

/// Hands a secret from one thread to another: put in by one, taken out once by the other.
///
/// `@unchecked` holds because the event loop gives it away before the worker starts and looks at it again only after the
/// worker is done; the hand-over itself orders the two.
final class Handover: @unchecked Sendable {
  private var content: SecureBytes?

  init(_ content: consuming SecureBytes) { self.content = consume content }

  /// Another one, with a copy of the secret.
  func copy() -> Handover? { withSecret { secret in Handover(secret.withBytes { SecureBytes(copying: $0) }) } }

  /// The secret, which is then no longer here.
  func take() -> SecureBytes? { content.take() }

  /// Lends the secret without taking it.
  func withSecret<R: ~Copyable, E: Error>(_ body: (borrowing SecureBytes) throws(E) -> R) throws(E) -> R? {
    // Taken out and put back, because an optional noncopyable value cannot be borrowed in place.
    guard let secret = content.take() else { return nil }
    let result: Result<R, E>
    do throws(E) { result = .success(try body(secret)) } catch { result = .failure(error) }
    content = consume secret
    return try result.get()
  }
}
