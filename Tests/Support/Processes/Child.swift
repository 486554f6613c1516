import Foundation
import Glibc
import Synchronization
import VaultProcess

/// A program that this process started in a session of its own, with exactly the given descriptors.
///
/// A thread waits for the program, so that its end appears as an end of file on ``ended`` and can be polled together
/// with its output.
final class Child: Sendable {
  let pid: pid_t
  /// A descriptor that is readable, at end of file, once the child has ended.
  let ended: Int32
  private let result: Mutex<Int32?>

  /// Starts `program` with exactly `environment`, and `descriptors` as its descriptors 0, 1, 2 and so on.
  init(
    _ program: String, _ arguments: [String], environment: [String: String], descriptors: [StartedProgram.Descriptor]
  ) throws {
    let end = try Child.pipe()
    ended = end.read
    result = Mutex(nil)
    do {
      pid = try StartedProgram(
        [program] + arguments, environment: environment.map { "\($0)=\($1)" }, descriptors: descriptors,
        hasOwnSession: true
      ).pid
    } catch {
      Glibc.close(end.read)
      Glibc.close(end.write)
      throw SandboxError(error)
    }
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

  /// The exit code; nil while the child runs.
  var status: Int32? { result.withLock { $0 } }

  /// Waits for the end; nil if `seconds` pass first.
  func wait(seconds: Double = 60) -> Int32? {
    var polled = pollfd(fd: ended, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&polled, 1, Int32(seconds * 1000)) < 0, errno == EINTR {}
    return status
  }

  /// Waits until a descriptor has data to read or a connection to accept.
  static func waitToRead(_ descriptor: Int32) {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&polled, 1, -1) < 0, errno == EINTR {}
  }

  /// Sends `signal`, unless the child has been reaped.
  func signal(_ signal: Int32) { if status == nil { kill(pid, signal) } }

  /// A pipe whose descriptors are above the numbers that a child uses.
  static func pipe() throws -> (read: Int32, write: Int32) {
    do { return try StartedProgram.pipe(for: 32) } catch { throw SandboxError(error) }
  }

  /// The two ends of a terminal, and the path of the slave.
  static func terminal(rows: Int = 24, columns: Int = 100) throws -> (master: Int32, slave: Int32, path: String) {
    var (master, slave): (Int32, Int32) = (0, 0)
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    guard unsafe openpty(&master, &slave, nil, nil, &size) == 0 else { throw SandboxError("openpty: \(errno)") }
    for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var number: CUnsignedInt = 0
    // The number is that of TIOCGPTN, a macro that Swift cannot import.
    guard unsafe ioctl(master, 0x8004_5430, &number) == 0 else { throw SandboxError("TIOCGPTN: \(errno)") }
    return (master, slave, "/dev/pts/\(number)")
  }
}

extension SandboxError {
  fileprivate init(_ failure: StartedProgram.Failure) {
    self.init("\(failure.call): \(unsafe String(cString: strerror(failure.errno)))")
  }
}
