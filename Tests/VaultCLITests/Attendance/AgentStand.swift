import Foundation
import Glibc
import Testing
import VaultTesting

/// A user's vault with the items `web` and `bank` (which requires the password), and an agent that asks through
/// notifications and a command.
final class AgentStand {
  let sandbox: Sandbox
  let bus: PrivateBus
  private(set) var terminal: Terminal!

  /// The input, arguments and environment of one run of the command.
  struct Run {
    let input: String
    let arguments: [String]
    let environment: [String: String]

    /// The object on the command's input; nil unless the input is a single line.
    var object: [String: Any]? {
      guard input.hasSuffix("\n"), input.dropLast().allSatisfy({ !$0.isNewline }) else { return nil }
      return try? JSONSerialization.jsonObject(with: Data(input.utf8)) as? [String: Any]
    }
  }

  /// - Parameters:
  ///   - settings: lines to add to the daemon's configuration.
  ///   - prepare: a step before the daemon starts.
  init(_ settings: String = "", items: [String] = [], prepare: (Sandbox) throws -> Void = { _ in }) throws {
    sandbox = try Sandbox()
    do {
      bus = try PrivateBus(.session, in: sandbox)
      try sandbox.configure("pam-service = vault-test-none\n" + settings)
      try prepare(sandbox)
      try sandbox.startDaemon()
      try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
      for name in ["web"] + items { try sandbox.must(["set", name], stdin: "hunter2") }
      try sandbox.must(["set", "bank", "--require", "password"], stdin: "1234")
    } catch {
      sandbox.close()
      throw error
    }
  }

  deinit { close() }

  func close() { sandbox.close() }

  /// Starts the agent, and returns once it attends. Its command records its input, arguments and environment.
  ///
  /// - Parameter answers: the line that the command writes, by the style of the question. The command declines
  ///   questions of other styles.
  func attend(faces: String, _ answers: [String: String]) throws {
    try answer(answers)
    terminal = try Terminal(sandbox, ["agent", "--faces", faces, "--command", command, "--socket", sandbox.socket])
    while try !sandbox.must(["status", "--json", "--socket", sandbox.socket]).contains("\"pid\":\(terminal.pid),") {}
  }

  private var command: String { sandbox.root + "/command" }

  /// Changes the command's answers, by the style of the question.
  func answer(_ answers: [String: String]) throws {
    let folder = sandbox.root + "/runs"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let cases = answers.map { "\($0)) echo '\($1)';;" }.joined(separator: "\n")
    try Executable.write(
      """
      #!/bin/sh
      run='\(folder)'/$$
      cat >$run.new
      cat /proc/$$/cmdline >$run.arguments
      cat /proc/$$/environ >$run.environment
      mv $run.new $run.input
      style=$(sed -n 's/^{"about":"[a-z]*","style":"\\([a-z]*\\)".*/\\1/p' $run.input)
      case $style in
      \(cases)
      *) exit 1;;
      esac

      """, to: command)
  }

  /// Returns the recorded runs of the command, in no particular order.
  func runs() throws -> [Run] {
    let folder = sandbox.root + "/runs/"
    func parts(_ file: String) throws -> [String] {
      let text = try String(contentsOfFile: file, encoding: .utf8)
      return text.split(separator: "\0").map(String.init)
    }
    return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".input") }.map { name in
      let base = folder + name.dropLast(6)
      let pairs = try parts(base + ".environment").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
      return Run(
        input: try String(contentsOfFile: base + ".input", encoding: .utf8),
        arguments: try parts(base + ".arguments"),
        environment: Dictionary(pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 })
    }
  }

  /// The screen, the runs and the daemon's log, for the message of a failed test.
  func account() -> String { terminal.screen + ((try? runs()) ?? []).map(\.input).joined() + sandbox.daemonLog }

  /// Starts a `Get` from a process of another user, which waits for an agent's answer. Returns the connection for the
  /// reply. Needs root, and ``Sandbox/admitEveryone()``.
  func asker(_ name: String, _ reason: String) throws -> WireClient {
    let client = try OtherProcess(in: sandbox, uid: OtherProcess.nobody).connect()
    try client.begin("Get", ["name": name, "reason": reason, "ask": true])
    return client
  }
}
