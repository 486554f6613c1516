internal import NIOCore
internal import NIOPosix
internal import VaultCore
internal import VaultService

/// A worker with one thread for work that would hold up the event loop. The thread starts with the first job. The
/// worker has only one thread, because each run of Argon2id takes the whole memory that a slot names.
///
/// The thread's stack is wiped after each job, before the result is delivered, so that the idle thread keeps nothing of
/// the job.
final class WorkerThread: Worker {
  private let loop: any EventLoop
  private lazy var pool = {
    let pool = NIOThreadPool(numberOfThreads: 1)
    pool.start()
    return pool
  }()
  /// The number of jobs that have begun and are not done.
  private var running = 0

  /// - Parameter loop: the loop on which the results are delivered.
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
