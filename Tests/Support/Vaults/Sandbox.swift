import CLinux
import Foundation
import Glibc
import Synchronization
import VaultProcess

/// A separate home for one test: nothing in it can reach, or be reached from, the user's vault or another test.
///
/// Everything started in it ends with ``close()`` or with the sandbox's life, including daemons
/// that the client started.
public final class Sandbox: Sendable {
  /// The sandbox's folder, made by ``ScratchFolder``.
  public let root: String
  /// The value of `$HOME`, and a place for the files of tests.
  public var home: String { root + "/home" }
  /// The value of `$XDG_RUNTIME_DIR`.
  public var runtime: String { root + "/run" }
  /// The store's folder as `vaultd` derives it, `$XDG_DATA_HOME/vault`.
  public var store: String { root + "/data/vault" }
  /// The daemon's configuration file, `$XDG_CONFIG_HOME/vault/vaultd.conf`.
  public var configuration: String { root + "/config/vault/vaultd.conf" }
  /// The user's socket, `$XDG_RUNTIME_DIR/vault/socket`.
  public var socket: String { runtime + "/vault/socket" }

  /// The socket at which the sandbox's programs look for the system bus. It does not exist unless the
  /// test starts a bus.
  public var systemBus: String { root + "/system-bus" }

  struct State {
    var children: [Child] = []
    var daemon: Child?
    var clock: MachineClock?
    var closed = false
  }
  let state = Mutex(State())

  /// Makes the folders.
  public init() throws {
    root = try ScratchFolder.make()
    for folder in [home, runtime, root + "/data", root + "/config"] {
      guard unsafe mkdir(folder, 0o700) == 0 else { throw SandboxError("mkdir \(folder): \(errno)") }
    }
  }

  deinit { close() }

  /// The folder of the programs under test: the folder into which the tests are built, unless `VAULT_PROGRAMS` names
  /// that of a release build.
  public static let programs = released ?? folderOfTests

  private static var folderOfTests: String {
    // Not argv[0], which may be relative, or may name the helper that runs the bundle.
    let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
    let url = URL(fileURLWithPath: bundle).resolvingSymlinksInPath()
    let parts = url.pathComponents.prefix { !$0.hasSuffix(".xctest") }
    let folder = parts.count < url.pathComponents.count ? parts : parts.dropLast()
    return "/" + folder.dropFirst().joined(separator: "/")
  }

  private static let released = ProcessInfo.processInfo.environment["VAULT_PROGRAMS"]

  /// True if the programs are those of a release build.
  public static var areProgramsReleased: Bool { released != nil }

  /// The path of a program such as `vault` in ``programs``; an absolute path is unchanged.
  public static func path(of program: String) -> String {
    program.hasPrefix("/") ? program : programs + "/" + program
  }

  /// The environment of every program in the sandbox.
  public var environment: [String: String] {
    [
      "HOME": home, "XDG_RUNTIME_DIR": runtime, "XDG_DATA_HOME": root + "/data", "XDG_CONFIG_HOME": root + "/config",
      "XDG_STATE_HOME": root + "/state",
      "PATH": Sandbox.programs + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "TERM": "xterm",
      "TZ": "UTC0",
      "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=" + systemBus,
    ]
  }

  func environment(with changes: [String: String?]) -> [String: String] {
    var result = environment
    for (key, value) in changes { result[key] = value }
    return result
  }

  /// Runs a program to its end, without a terminal, and returns its exit code and output.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after the program's name.
  ///   - program: `vault`, `vaultd` or an absolute path.
  ///   - stdin: The whole standard input.
  ///   - environment: Changes to ``environment``; nil removes a variable.
  /// - Throws: ``SandboxError`` if the program does not start, or if `seconds` pass without a byte of input or output.
  @discardableResult
  public func run(
    _ arguments: [String], program: String = "vault", stdin: [UInt8] = [], environment: [String: String?] = [:],
    seconds: Int32 = 60
  ) throws -> Outcome {
    let (input, output, errors) = (try Child.pipe(), try Child.pipe(), try Child.pipe())
    let child: Child
    do {
      child = try Child(
        Sandbox.path(of: program), arguments, environment: self.environment(with: environment),
        descriptors: [.ours(input.read), .ours(output.write), .ours(errors.write)])
    } catch {
      for end in [input.read, input.write, output.read, output.write, errors.read, errors.write] { Glibc.close(end) }
      throw error
    }
    for end in [input.read, output.write, errors.write] { Glibc.close(end) }
    var streams = Streams(input: input.write, output: output.read, errors: errors.read, unsent: stdin[...])
    guard streams.exchange(seconds: seconds), let status = child.wait() else {
      child.signal(SIGKILL)
      throw SandboxError(
        """
        \(program) \(arguments.joined(separator: " ")) did not end in time
        \(Outcome(status: -1, stdout: streams.stdout, stderr: streams.stderr))
        """)
    }
    return Outcome(status: status, stdout: streams.stdout, stderr: streams.stderr)
  }

  /// Runs a program to its end with `stdin` as text; see ``run(_:program:stdin:environment:seconds:)``.
  @discardableResult
  public func run(
    _ arguments: String..., program: String = "vault", stdin: String = "", environment: [String: String?] = [:]
  ) throws -> Outcome {
    try run(arguments, program: program, stdin: Array(stdin.utf8), environment: environment)
  }

  /// Writes a file below ``home`` and returns its path.
  @discardableResult
  public func write(_ text: String, to name: String) throws -> String {
    let path = home + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Registers `child`, which ends with the sandbox.
  func keep(_ child: Child) -> Child {
    state.withLock { $0.children.append(child) }
    return child
  }

  /// Ends everything that runs in the sandbox.
  func endAll() {
    let state = state.withLock { state in
      defer { state = State(closed: state.closed) }
      return state
    }
    for child in state.children + (state.daemon.map { [$0] } ?? []) {
      child.signal(SIGKILL)
      _ = child.wait()
    }
    for pid in residents() { kill(pid, SIGKILL) }
  }

  /// Ends everything that runs in the sandbox and removes it. Safe to call twice.
  public func close() {
    let closed = state.withLock { state in
      defer { state.closed = true }
      return state.closed
    }
    guard !closed else { return }
    endAll()
    try? FileManager.default.removeItem(atPath: root)
  }
}
