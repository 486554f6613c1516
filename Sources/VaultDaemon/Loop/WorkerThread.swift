internal import NIOCore
internal import NIOPosix
internal import VaultCore
internal import VaultService

/// One thread for what would hold the event loop, from the first job on. One, because each run of Argon2id takes a slot's
/// whole memory.
///
/// Its stack is wiped after each job, before anybody hears of the end: it waits for the next one with nothing of it left.
final class WorkerThread: Worker {
  private let loop: any EventLoop
  private lazy var pool = {
    let pool = NIOThreadPool(numberOfThreads: 1)
    pool.start()
    return pool
  }()
  /// The number of jobs that were begun and are not done.
  private var running = 0

  /// - Parameter loop: where the ends are told.
  init(telling loop: any EventLoop) { self.loop = loop }

  func run<T: Sendable>(_ work: @escaping @Sendable () -> T, then done: @escaping (T) -> Void) {
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

  func whenIdle(_ then: @escaping () -> Void) {
    if running == 0 { then() } else { run({}, then: then) }
  }
}
