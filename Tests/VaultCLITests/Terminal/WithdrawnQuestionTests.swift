import Foundation
import Synchronization
import Testing
import VaultTesting

@Suite("A question on the terminal that the daemon withdraws, or has more to say about") struct WithdrawnQuestionTests {
  /// The answers that the daemon got, each after the number of its question.
  private final class Answers: Sendable {
    let all = Mutex<[String]>([])
  }

  private static func prompt(_ style: String, _ text: String, _ number: String = "") -> String {
    #"{"parameters":{"conversation":"c0ffee","prompt":{"style":"\#(style)","method":"m","text":"\#(text)""#
      + #"\#(number)}},"continues":true}"#
  }

  /// The daemon asks for the login password, and then for the vault password once it is told to go on.
  private static let withdrawing = [
    prompt("secret", "Login password", #","number":1"#), "", prompt("info", "this prompt gave way"),
    prompt("secret", "Vault password", #","number":2"#),
  ]
  /// The daemon asks for the login password, and goes on when it is told to: with a message, and with the result.
  private static let joined = [
    prompt("secret", "Login password", #","number":1"#), "", prompt("info", "Also asked to use b"), "",
    #"{"parameters":{}}"#,
  ]

  private func daemon(_ sandbox: Sandbox, _ answers: Answers, _ asked: [String]) throws -> ScriptedDaemon {
    try ScriptedDaemon(sandbox) { call, _ in
      if call.method == "Unlock" { return asked }
      guard call.method == "Respond" else { return [#"{"error":"io.vaultd.Vault.NoVault"}"#] }
      let (number, text) = (call.parameters["number"] as? Int ?? 0, call.parameters["answer"] as? String ?? "")
      answers.all.withLock { $0.append("\(number) \(text)") }
      return [#"{"parameters":{}}"#]
    }
  }

  @Test("gives way to the next one at once, and what was typed for it answers nothing", arguments: ["", "logi"])
  func withdrawn(typed: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let answers = Answers()
    let daemon = try self.daemon(sandbox, answers, Self.withdrawing)
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, ["unlock", "--socket", daemon.socket])
    try terminal.expect("Login password")
    if !typed.isEmpty {
      terminal.type(typed, return: false)
      while terminal.unread > 0 {}
    }
    daemon.goOn()
    if !typed.isEmpty {
      try terminal.expect("press Enter, which drops what you have typed")
      terminal.type("n password")
    }
    try terminal.expect("Vault password")
    // The message may come before the other question is there.
    #expect(!terminal.echoes && terminal.screen.contains("this prompt gave way"))
    terminal.type("right")
    while daemon.heard("Respond") == 0 {}
    terminal.control("c")
    try terminal.wait()
    #expect(answers.all.withLock { $0 } == ["2 right"], "\(terminal.screen)")
    #expect(terminal.isCooked && !terminal.screen.contains("password\r\n"))
  }

  @Test("shows at once that another program has joined it, and what was typed stays valid", arguments: ["", "log"])
  func joined(typed: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let answers = Answers()
    let daemon = try self.daemon(sandbox, answers, Self.joined)
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, ["unlock", "--socket", daemon.socket])
    try terminal.expect("Login password")
    if !typed.isEmpty {
      terminal.type(typed, return: false)
      while terminal.unread > 0 {}
    }
    daemon.goOn()
    try terminal.expect("\r\nvault: Also asked to use b\r\n")
    try terminal.expect("Login password")
    #expect(!terminal.echoes && daemon.heard("Respond") == 0)
    terminal.type("login".dropFirst(typed.count).description)
    while daemon.heard("Respond") == 0 {}
    daemon.goOn()
    try terminal.wait()
    #expect(answers.all.withLock { $0 } == ["1 login"], "\(terminal.screen)")
    #expect(terminal.isCooked && terminal.screen.split(separator: "Also asked").count == 2)
  }
}
