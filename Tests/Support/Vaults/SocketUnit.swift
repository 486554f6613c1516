import CLinux
import Foundation
import Glibc
import Synchronization
import VaultProcess

/// A socket that starts the sandbox's `vaultd` when a client connects, and again when a client connects after the
/// daemon's end, as a socket unit does. Clients that connect in between wait in the socket's queue.
public final class SocketUnit: Sendable {
  private struct State {
    var daemon: Child?
    var starts = 0
    var isClosed = false
  }
  private let sandbox: Sandbox
  private let listener: Int32
  private let state = Mutex(State())

  /// The number of daemons that were started.
  public var starts: Int { state.withLock { $0.starts } }

  /// Makes the socket.
  ///
  /// - Parameter config: The content of `vaultd.conf`.
  public init(in sandbox: Sandbox, config: String) throws {
    self.sandbox = sandbox
    try sandbox.configure(config)
    let folder = (sandbox.socket as NSString).deletingLastPathComponent
    guard unsafe mkdir(folder, 0o700) == 0 else { throw SandboxError("mkdir \(folder): \(errno)") }
    let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    // The descriptor must be above the numbers that a child uses.
    listener = fcntl(made, F_DUPFD_CLOEXEC, 32)
    Glibc.close(made)
    guard unsafe vault_bind_unix(listener, sandbox.socket) == 0, listen(listener, 128) == 0 else {
      throw SandboxError("bind \(sandbox.socket): \(errno)")
    }
    Thread.detachNewThread { [self] in run() }
  }

  /// Kills the running daemon, if there is one.
  public func kill() { state.withLock { $0.daemon }?.signal(SIGKILL) }

  /// Ends the daemon and the socket. Safe to call twice.
  public func close() {
    state.withLock { $0.isClosed = true }
    // This wakes the thread, which closes the socket.
    shutdown(listener, Int32(SHUT_RDWR))
    kill()
  }

  private func run() {
    defer { Glibc.close(listener) }
    while true {
      Child.waitToRead(listener)
      guard let daemon = start() else { return }
      _ = daemon.wait(seconds: .init(Int32.max / 1000))
    }
  }

  /// Starts a daemon with the socket as its descriptor 3 (sd_listen_fds(3)); nil if the socket is closed
  /// or the start fails.
  private func start() -> Child? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      let log = StartedProgram.Descriptor.file(sandbox.root + "/vaultd.log", O_WRONLY | O_CREAT | O_APPEND)
      let daemon = try? Child(
        "/bin/sh", ["-c", "LISTEN_FDS=1 LISTEN_PID=$$ exec \(Sandbox.path(of: "vaultd"))"],
        environment: sandbox.environment, descriptors: [.null, log, log, .ours(listener)])
      guard let daemon else { return nil }
      state.daemon = sandbox.keep(daemon)
      state.starts += 1
      return daemon
    }
  }
}
