import Foundation
import Synchronization
import Testing
import VaultTesting

@Suite("A question on the terminal that the daemon withdraws") struct WithdrawnQuestionTests {
  /// The answers that the daemon got, each after the number of its question.
  private final class Answers: Sendable {
    let all = Mutex<[String]>([])
  }

  /// Makes a daemon that asks for the login password, and then for the vault password once it is told to go on.
  private func daemon(_ sandbox: Sandbox, _ answers: Answers) throws -> ScriptedDaemon {
    func prompt(_ style: String, _ text: String, _ number: String = "") -> String {
      #"{"parameters":{"conversation":"c0ffee","prompt":{"style":"\#(style)","method":"m","text":"\#(text)""#
        + #"\#(number)}},"continues":true}"#
    }
    let asked = [
      prompt("secret", "Login password", #","number":1"#), "", prompt("info", "this prompt gave way"),
      prompt("secret", "Vault password", #","number":2"#),
    ]
    return try ScriptedDaemon(sandbox) { call, _ in
      guard call.method == "Respond" else { return asked }
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
    let daemon = try self.daemon(sandbox, answers)
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
    try terminal.expect("this prompt gave way")
    try terminal.expect("Vault password")
    #expect(!terminal.echoes)
    terminal.type("right")
    while daemon.heard("Respond") == 0 {}
    terminal.control("c")
    try terminal.wait()
    #expect(answers.all.withLock { $0 } == ["2 right"], "\(terminal.screen)")
    #expect(terminal.isCooked && !terminal.screen.contains("password\r\n"))
  }
}
