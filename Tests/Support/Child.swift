import Foundation
import Glibc
import Synchronization

/// A program this process started in a session of its own, with exactly the descriptors it was given.
///
/// A thread waits for it, so that its end shows as the end of file of ``ended`` and can be polled beside its output.
final class Child: Sendable {
  /// What a child's descriptor is.
  enum Descriptor {
    case inherit(Int32)
    /// Opened by the child itself. A terminal opened so becomes the child's controlling terminal.
    case open(String, Int32)
  }

  let pid: pid_t
  /// Readable, at end of file, once the child is gone.
  let ended: Int32
  private let result: Mutex<Int32?>

  /// Descriptors must be made, marked close-on-exec and spawned under this: glibc's `pipe2` is out of reach, so
  /// another test's child could otherwise inherit a descriptor between two calls, and hold it open.
  private static let spawning = Mutex(())

  /// Starts `program` with exactly `environment` and the descriptors in `descriptors`, 0, 1 and 2 among them.
  init(
    _ program: String, _ arguments: [String], environment: [String: String], descriptors: [Int32: Descriptor]
  ) throws {
    let end = try Child.pipe()
    ended = end.read
    result = Mutex(nil)
    pid = try Child.spawn(program, arguments, environment, descriptors)
    let (pid, write) = (pid, end.write)
    Thread.detachNewThread { [self] in
      var status: Int32 = 0
      while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
      let code = status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
      result.withLock { $0 = code }
      Glibc.close(write)
    }
  }

  deinit { Glibc.close(ended) }

  /// The exit code, or nil while the child runs.
  var status: Int32? { result.withLock { $0 } }

  /// Waits for the end; nil when `seconds` pass first.
  func wait(seconds: Double = 60) -> Int32? {
    var polled = pollfd(fd: ended, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&polled, 1, Int32(seconds * 1000)) < 0, errno == EINTR {}
    return status
  }

  /// Sends `signal`, unless the child has been reaped.
  func signal(_ signal: Int32) { if status == nil { kill(pid, signal) } }

  /// A pipe whose ends no child inherits by accident and which lie above the numbers children use.
  static func pipe() throws -> (read: Int32, write: Int32) {
    try spawning.withLock { _ in
      var ends: [Int32] = [0, 0]
      guard unsafe Glibc.pipe(&ends) == 0 else { throw SandboxError("pipe: \(errno)") }
      return (lift(ends[0]), lift(ends[1]))
    }
  }

  /// A terminal's two ends, and the path of the slave.
  static func terminal() throws -> (master: Int32, slave: Int32, path: String) {
    try spawning.withLock { _ in
      var (master, slave): (Int32, Int32) = (0, 0)
      var size = winsize(ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
      guard unsafe openpty(&master, &slave, nil, nil, &size) == 0 else { throw SandboxError("openpty: \(errno)") }
      var number: CUnsignedInt = 0
      // TIOCGPTN, whose macro Swift cannot import.
      guard unsafe ioctl(master, 0x8004_5430, &number) == 0 else { throw SandboxError("TIOCGPTN: \(errno)") }
      return (lift(master), lift(slave), "/dev/pts/\(number)")
    }
  }

  private static func lift(_ descriptor: Int32) -> Int32 {
    let high = fcntl(descriptor, F_DUPFD_CLOEXEC, 32)
    Glibc.close(descriptor)
    return high
  }

  private static func spawn(
    _ program: String, _ arguments: [String], _ environment: [String: String], _ descriptors: [Int32: Descriptor]
  ) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    for (number, descriptor) in descriptors.sorted(by: { $0.key < $1.key }) {
      switch descriptor {
      case .inherit(let ours): unsafe posix_spawn_file_actions_adddup2(&actions, ours, number)
      case .open(let path, let flags): unsafe posix_spawn_file_actions_addopen(&actions, number, path, flags, 0)
      }
    }
    // A session of its own (POSIX_SPAWN_SETSID): without a terminal unless one is opened for it. The test runner's
    // signal mask and dispositions stay behind.
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(&attributes, 0x80 | Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    // Each string is copied for the call and freed after it; the arrays end with a null pointer.
    var argv = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
    var envp = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer {
      for index in unsafe argv.indices { unsafe free(argv[index]) }
      for index in unsafe envp.indices { unsafe free(envp[index]) }
    }
    var pid: pid_t = 0
    let error = spawning.withLock { _ in unsafe posix_spawn(&pid, program, &actions, &attributes, &argv, &envp) }
    guard error == 0 else { throw SandboxError("cannot start \(program): \(unsafe String(cString: strerror(error)))") }
    return pid
  }
}
