import Foundation
import Glibc
import Testing
import VaultTesting

/// The program vault-agent, whose daemon ends in the middle of a question.
@Suite("The agent when its daemon ends") struct EndedDaemonTests {
  /// The faces of the agent. Each puts a question to which the answer is yes or no.
  enum Face: String, CaseIterable { case terminal, pinentry, notification, command }

  /// An agent that asks with one face, which nobody answers, and the record of what that face shows.
  private struct Stand {
    let sandbox: Sandbox
    private let face: Face
    private let terminal: Terminal
    /// The notification server; nil for other faces.
    private let server: PrivateBus.Service?

    private static let service = "org.freedesktop.Notifications"

    init(_ face: Face, in sandbox: Sandbox) throws {
      (self.sandbox, self.face) = (sandbox, face)
      server = try face == .notification ? Self.notifications(in: sandbox) : nil
      let (pinentry, command) = (sandbox.root + "/pinentry", sandbox.root + "/command")
      // Both programs note their process once they are asked.
      try Executable.write(
        """
        #!/bin/sh
        echo OK
        while read -r line; do
          case $line in CONFIRM*) echo $$ >>'\(sandbox.root)/asked'; exec sleep 600;; *) echo OK;; esac
        done

        """, to: pinentry)
      try Executable.write(
        """
        #!/bin/sh
        read -r line
        case $line in *'"about":"confirmation"'*) echo $$ >>'\(sandbox.root)/asked'; exec sleep 600;; esac

        """, to: command)
      let programs = ["--pinentry", pinentry, "--command", command]
      terminal = try Terminal(
        sandbox, ["agent", "--faces", face.rawValue, "--socket", sandbox.socket] + programs)
    }

    private static func notifications(in sandbox: Sandbox) throws -> PrivateBus.Service {
      let capabilities = #"{"capabilities": "actions body"}"#
      return try PrivateBus(.session, in: sandbox).mock(
        service, ["--template", "notification_daemon", "--parameters", capabilities])
    }

    /// Waits until the daemon reports the agent.
    func attended() throws {
      try wait(for: "the agent") { try sandbox.must(["status", "--json"]).contains("\"pid\":\(terminal.pid),") }
    }

    /// The processes of the programs that were asked, in order.
    private var asked: [Int32] {
      let text = try? String(contentsOfFile: sandbox.root + "/asked", encoding: .utf8)
      return (text ?? "").split(separator: "\n").compactMap { Int32($0) }
    }

    /// The number of questions among the notifications that were shown.
    private var notified: Int {
      (server?.log ?? "").components(separatedBy: "asks to use a key that asks you each time").count - 1
    }

    /// Waits for the question of this number, from 1.
    func asks(_ number: Int) throws {
      switch face {
      case .terminal: _ = try terminal.expect("yes or no (y/n, Enter: not now): ")
      case .pinentry, .command: try wait(for: "question \(number)") { asked.count == number }
      case .notification: try wait(for: "question \(number)") { notified == number }
      }
    }

    /// Waits until the only question so far is not on the screen any more.
    func takesBack() throws {
      switch face {
      case .terminal: _ = try terminal.expect("vault: the question was withdrawn\r\n")
      case .pinentry, .command: try wait(for: "the end of it") { !asked.contains { ProcessTree.hasMemory($0) } }
      case .notification: try wait(for: "the end of it") { server?.log.contains("CloseNotification") == true }
      }
    }
  }

  /// Adds a key that needs a person's yes for each use, and asks to use it.
  private func ask(_ sandbox: Sandbox) throws -> WireClient {
    let key = SSHTestKey()
    #expect(try sandbox.join().code(key.adding(constraints: [2])) == 6)
    let client = try sandbox.join()
    client.ask(.sign(key.blob, .login(key.blob, .zeros(32))))
    return client
  }

  @Test(
    "its question goes at once in each face, however the daemon ends, and the next daemon's is put",
    arguments: Face.allCases, [SIGTERM, SIGKILL])
  func takenBack(face: Face, signal: Int32) throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let stand = try Stand(face, in: sandbox)
    try stand.attended()
    let asker = try ask(sandbox)
    try stand.asks(1)
    try sandbox.stopDaemon(signal: signal)
    try stand.takesBack()
    #expect(try asker.code() != 14)
    try sandbox.startDaemon()
    try stand.attended()
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let next = try ask(sandbox)
    try stand.asks(2)
    withExtendedLifetime(next) {}
  }
}
