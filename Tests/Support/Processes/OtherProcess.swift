import CLinux
import COtherProcess
import Glibc
import Synchronization
import VaultProcess

/// A process in a session of its own that connects to the sandbox's sockets. A daemon takes its connections for calls
/// of that process, though the test speaks over them.
///
/// The process lives until ``end()``, or until this value and all its connections are gone.
public final class OtherProcess: Sendable {
  /// The uid of the user `nobody`. To be that user needs root.
  public static let nobody: UInt32 = 65534

  public let pid: Int32
  private let socket: String
  /// The end of the socket over which the process is told what to do; nil once it has been ended.
  private let control: Mutex<Int32?>
  /// Nil for a process that another such process forked.
  private let child: Child?

  /// Starts the process.
  ///
  /// - Parameters:
  ///   - uid: the user of the process; nil for the test's own. Any other needs root.
  ///   - gid: another user's only group; nil for the group with the number of the user.
  public init(in sandbox: Sandbox, uid: UInt32? = nil, gid: UInt32? = nil) throws {
    let (uid, gid) = (uid ?? geteuid(), gid ?? uid ?? getegid())
    let (ours, theirs) = try SocketPair.make(SOCK_SEQPACKET)
    defer { Glibc.close(theirs) }
    // The number is above those of the program's own descriptors.
    let end = fcntl(theirs, F_DUPFD_CLOEXEC, 32)
    defer { Glibc.close(end) }
    do {
      let child = try sandbox.keep(
        Child(
          Sandbox.path(of: "other-process"), ["\(uid)", "\(gid)"], environment: sandbox.environment,
          descriptors: [.ours(end), .null, .null]))
      (self.child, pid) = (child, child.pid)
    } catch {
      Glibc.close(ours)
      throw error
    }
    socket = sandbox.socket
    control = Mutex(ours)
  }

  private init(_ pid: Int32, _ control: Int32, _ socket: String) {
    (self.pid, self.socket, child) = (pid, socket, nil)
    self.control = Mutex(control)
  }

  deinit { close() }

  private func close() {
    control.withLock { control in
      if let control { Glibc.close(control) }
      control = nil
    }
  }

  /// Connects to the daemon's socket or to another one. The connection keeps the process alive.
  ///
  /// - Parameter isKept: true if the connection stays open, even when the test has closed it, until the process ends.
  public func connect(to path: String? = nil, isKept: Bool = false) throws -> WireClient {
    try WireClient(descriptor: ask((isKept ? "k" : "c") + (path ?? socket)).descriptor, of: self)
  }

  /// A process that this one forks: it is in the same session.
  public func fork() throws -> OtherProcess {
    let made = try ask("f")
    return OtherProcess(made.pid, made.descriptor, socket)
  }

  /// Kills the process. It has ended when this returns, unless another one forked it.
  public func end() {
    child?.signal(SIGKILL)
    _ = child?.wait()
    close()
  }

  private func ask(_ request: String) throws -> (descriptor: Int32, pid: Int32) {
    try control.withLock { control in
      guard let control else { throw SandboxError("\(request): the process has been ended") }
      var answer = other_process_answer()
      let bytes = Array(request.utf8)
      guard unsafe send(control, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
        throw SandboxError("\(request): \(errno)")
      }
      let descriptor = unsafe other_process_receive(control, &answer)
      guard descriptor >= 0 else { throw SandboxError("\(request): \(errno)") }
      return (descriptor, answer.pid)
    }
  }
}

extension Sandbox {
  /// Lets every user reach the daemon, which then knows each by its uid.
  public func admitEveryone() throws {
    for path in [root, runtime, runtime + "/vault"] { unsafe chmod(path, 0o755) }
    guard unsafe chmod(socket, 0o666) == 0 else { throw SandboxError("chmod: \(errno)") }
  }
}
