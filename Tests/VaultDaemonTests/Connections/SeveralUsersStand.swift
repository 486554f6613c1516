import Foundation
import Glibc
import NIOCore
import NIOPosix
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

/// A daemon within this process whose socket serves every user, and clients in processes of such users. Needs root.
final class SeveralUsersStand {
  let sandbox: Sandbox
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let assembly: NIOLoopBound<Assembly>

  init(_ settings: String = "") throws {
    let sandbox = try Sandbox()
    self.sandbox = sandbox
    let folder = (sandbox.socket as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let loop = group.next()
    let (store, path) = (sandbox.store, sandbox.socket)
    assembly = try loop.submit {
      let assembly = try Assembly.stand(
        on: loop, store: store, socket: path, settings: settings, administrators: getegid())
      return NIOLoopBound(assembly, eventLoop: loop)
    }.wait()
    let bound = assembly
    let socket = try ListeningSocket.bound(to: path)
    try loop.flatSubmit {
      let backlog = Backlog(now: Clock.system.monotonic)
      bound.value.turns.letIn = { backlog.letIn() }
      return Server.start(socket, loop: loop, backlog) { try VarlinkConnection($0, bound.value.door) }.map { _ in }
    }.wait()
    for folder in [sandbox.root, sandbox.runtime, folder] { unsafe chmod(folder, 0o711) }
    unsafe chmod(path, 0o666)
  }

  func on<R: Sendable>(_ body: @escaping @Sendable (Assembly) throws -> R) throws -> R {
    try group.next().submit { [assembly] in try body(assembly.value) }.wait()
  }

  func close() {
    try? on { $0.closeConnections() }
    try? group.syncShutdownGracefully()
    withExtendedLifetime(assembly) {}
    sandbox.close()
  }

  /// The beginning of a client's Python text: `connect()` makes a connection, `call(connection, method)` makes a call
  /// over it.
  private static let prelude = """
    import json, selectors, socket, sys
    def connect():
        client = socket.socket(socket.AF_UNIX)
        client.connect(sys.argv[1])
        return client
    def frame(method, **more):
        return json.dumps({"method": method, **more}).encode() + b"\\0"
    def answer(client):
        text = b""
        while not text.endswith(b"\\0"):
            part = client.recv(1)
            if not part: return None
            text += part
        return json.loads(text[:-1])
    def call(client, method, **more):
        client.sendall(frame(method, **more))
        return answer(client)
    INFO, MONITOR = "org.varlink.service.GetInfo", "io.vaultd.Vault.Monitor"
    LONG = frame("org.varlink.service.GetInterfaceDescription", parameters={"interface": "io.vaultd.Vault"})

    """

  /// A client that runs until ``end()``: it has printed `ready`, and its text reads standard input to notice the end.
  final class Guest {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    fileprivate init(_ uid: UInt32, _ arguments: [String]) throws {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
      process.arguments = ["--reuid=\(uid)", "--clear-groups", "/usr/bin/python3", "-u", "-c"] + arguments
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
      let ready = output.fileHandleForReading.readData(ofLength: 6)
      guard ready == Data("ready\n".utf8) else { throw SandboxError("a client of uid \(uid) said \(ready)") }
    }

    /// Ends the client and returns its output.
    func end() throws -> String {
      try input.fileHandleForWriting.close()
      let said = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }

  func guest(_ uid: UInt32, _ text: String) throws -> Guest { try Guest(uid, [Self.prelude + text, sandbox.socket]) }

  /// Runs a client that ends by itself, and returns its output.
  func run(_ uid: UInt32, _ text: String) throws -> String {
    let outcome = try sandbox.run(
      ["--reuid=\(uid)", "--clear-groups", "/usr/bin/python3", "-c", Self.prelude + text, sandbox.socket],
      program: "/usr/bin/setpriv")
    guard outcome.status == 0 else { throw SandboxError("a client of uid \(uid): \(outcome)") }
    return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
