import Foundation
import Glibc
import VaultProcess

/// A listening socket that starts a program for each connection, with the connection as its standard input, as a socket
/// unit with `Accept=yes` does.
public final class Activation: Sendable {
  private let child: Child
  private let output: Int32

  /// The process that listens and starts the programs.
  public var pid: Int32 { child.pid }

  /// Starts to listen at `path`; the listener ends with the sandbox.
  ///
  /// - Parameters:
  ///   - command: The program and its arguments; it gets the sandbox's environment.
  ///   - user: The user as whom the listener and the program run; nil for the user who runs the test.
  public init(
    _ path: String, in sandbox: Sandbox, command: [String], environment: [String: String?] = [:],
    as user: TestUser? = nil
  ) throws {
    let pipe = try Child.pipe()
    output = pipe.read
    defer { Glibc.close(pipe.write) }
    let environment = sandbox.environment(with: environment)
    // systemd-socket-activate passes on only the variables that -E names.
    let variables = environment.keys.flatMap { ["-E", $0] }
    let identity = user.map { ["--reuid=\($0.uid)", "--regid=\($0.uid)", "--clear-groups"] } ?? []
    let activate = ["/usr/bin/systemd-socket-activate", "--accept", "--inetd", "--listen=" + path]
    child = try sandbox.keep(
      Child(
        identity.isEmpty ? "/usr/bin/env" : "/usr/bin/setpriv", identity + activate + variables + command,
        environment: environment,
        descriptors: [.null, .ours(pipe.write), .ours(pipe.write)]))
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !text.contains("Listening on") {
      let count = unsafe read(output, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SandboxError("systemd-socket-activate: \(text)") }
      text += String(decoding: buffer.prefix(count), as: UTF8.self)
    }
  }

  deinit {
    child.signal(SIGKILL)
    _ = child.wait()
    Glibc.close(output)
  }
}
