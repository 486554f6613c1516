import CLinux
import Foundation
import Glibc
import Synchronization
import VaultProcess

/// The sandbox's `vaultd`.
extension Sandbox {
  /// The output so far of the daemon that ``startDaemon(config:arguments:environment:through:)`` started.
  public var daemonLog: String {
    (try? String(contentsOfFile: root + "/vaultd.log", encoding: .utf8)) ?? ""
  }

  /// The clock of the daemon; nil if that is the machine's own.
  public var clock: MachineClock? { state.withLock { $0.clock } }

  /// Starts `vaultd`, and returns once it listens.
  ///
  /// - Parameters:
  ///   - config: The content of `vaultd.conf`; nil leaves the file unchanged.
  ///   - arguments: The daemon's arguments besides `--ready-fd`.
  ///   - environment: Changes to ``environment``.
  ///   - command: The program that starts the daemon, with its arguments; nil for the daemon just built.
  /// - Throws: ``SandboxError`` with the exit code and the output if the daemon ends instead.
  public func startDaemon(
    config: String? = nil, arguments: [String] = [], environment: [String: String?] = [:],
    through command: [String]? = nil
  ) throws {
    if let config { try configure(config) }
    let log = root + "/vaultd.log"
    let ready = try Child.pipe()
    defer { Glibc.close(ready.read) }
    let flags = O_WRONLY | O_CREAT | O_APPEND
    unsafe Glibc.close(open(log, flags | O_CLOEXEC, 0o600))
    let command = command ?? [Sandbox.path(of: "vaultd")]
    let child: Child
    do {
      child = try Child(
        command[0], command.dropFirst() + arguments + ["--ready-fd", "3"],
        environment: self.environment(with: (clock?.environment ?? [:]).merging(environment) { $1 }),
        descriptors: [
          .null, .file(log, flags), .file(log, flags), .ours(ready.write),
        ])
    } catch {
      Glibc.close(ready.write)
      throw error
    }
    Glibc.close(ready.write)
    state.withLock { $0.daemon = child }
    var byte: UInt8 = 0
    while true {
      let count = unsafe read(ready.read, &byte, 1)
      if count == 1 { return }
      if count < 0, errno == EINTR { continue }
      break
    }
    let status = child.wait(seconds: 10).map { "ended with \($0)" } ?? "closed --ready-fd without a word"
    throw SandboxError("vaultd \(status): \(daemonLog)")
  }

  /// Writes `vaultd.conf`.
  public func configure(_ text: String) throws {
    let folder = (configuration as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Data(text.utf8).write(to: URL(fileURLWithPath: configuration))
  }

  /// The process that serves the sandbox's socket, whoever started it; nil if there is none.
  public var daemonPid: Int32? {
    if let child = state.withLock({ $0.daemon }), child.status == nil { return child.pid }
    return Sandbox.server(of: socket)
  }

  /// Sends a signal to the running daemon.
  public func signalDaemon(_ signal: Int32) throws {
    guard let pid = daemonPid else { throw SandboxError("no daemon runs") }
    kill(pid, signal)
  }

  /// Ends the daemon that ``startDaemon(config:arguments:environment:through:)`` started, and returns its exit code.
  ///
  /// - Parameter signal: The signal to send, SIGTERM (15) by default; 0 only waits.
  @discardableResult
  public func stopDaemon(signal: Int32 = 15) throws -> Int32 {
    guard let child = state.withLock({ $0.daemon }) else { throw SandboxError("no daemon was started") }
    child.signal(signal)
    guard let status = child.wait() else { throw SandboxError("vaultd does not end: \(daemonLog)") }
    state.withLock { $0.daemon = nil }
    return status
  }

  /// Waits until the daemon that ``startDaemon(config:arguments:environment:through:)`` started has ended by itself.
  public func waitForDaemon() throws -> Int32 { try stopDaemon(signal: 0) }

  /// The process that listens on the Unix socket at `path`, according to the credentials in the kernel.
  static func server(of path: String) -> Int32? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { Glibc.close(descriptor) }
    let connected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    var peer = vault_peer()
    guard connected == 0, unsafe vault_peer_credentials(descriptor, &peer) == 0 else { return nil }
    return peer.pid
  }

  /// The processes of this sandbox that have `word` among their arguments.
  public func processes(mentioning word: String) -> [Int32] {
    residents().filter { pid in
      let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
      return line.split(separator: 0).contains { $0.elementsEqual(word.utf8) }
    }
  }

  /// Every process whose environment names this sandbox, and the process that serves its socket.
  func residents() -> Set<pid_t> {
    var found: Set<pid_t> = []
    let mark = Data("XDG_RUNTIME_DIR=\(runtime)\0".utf8)
    for entry in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
      // A daemon that is not dumpable hides its environment from everyone but root; then its socket identifies it.
      guard let pid = pid_t(entry), let variables = FileManager.default.contents(atPath: "/proc/\(pid)/environ")
      else { continue }
      if variables.range(of: mark) != nil { found.insert(pid) }
    }
    if let server = Sandbox.server(of: socket) { found.insert(server) }
    found.remove(getpid())
    return found
  }
}
