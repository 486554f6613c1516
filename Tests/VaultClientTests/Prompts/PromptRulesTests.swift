import Foundation
import Testing
import VaultBytes
import VaultWire

@testable import VaultClient

@Suite("Prompts that no daemon puts") struct PromptRulesTests {
  static let code = "ABCDE-FGHJK-MNPQR-STVWX-YZ012-34567"

  /// Makes a daemon that sends these prompts one after another, regardless of the answers.
  private static func server(_ prompts: [String]) throws -> FakeServer {
    try FakeServer { peer, _ in
      while let request = try peer.read() {
        if request.hasPrefix("Respond") {
          peer.reply()
        } else {
          for prompt in prompts { peer.reply(prompt, continues: true) }
          peer.reply("{}")
        }
      }
    }
  }

  private static func error(_ prompts: [String], _ call: (Vault, Vault.Answer) throws -> Void) throws -> ClientError? {
    let server = try server(prompts)
    defer { server.close() }
    return clientError {
      try call(server.vault) { _ in SecretBuffer("answer") }
    }
  }

  @Test(
    "a code is of the recovery alphabet and short",
    arguments: [
      "", "abcde", "ABCDE FGHJK", "ABCDI", "A\\u001b]52;c;aGk=\\u0007", "A\\u202eB", "A\\n", "0\\u0000",
      String(repeating: "A", count: 81),
    ])
  func alphabet(code: String) throws {
    let prompts = [ConversationTests.prompt("confirm", code: code)]
    let error = try Self.error(prompts) { vault, answer in try vault.initialize(recovery: true, answer: answer) }
    #expect(isViolation(error))
  }

  @Test("a code is shown only to be confirmed")
  func unasked() throws {
    for style in ["secret", "new-secret", "visible", "info", "error"] {
      let prompts = [ConversationTests.prompt(style, code: Self.code)]
      let error = try Self.error(prompts) { vault, answer in try vault.initialize(recovery: true, answer: answer) }
      #expect(isViolation(error), "\(style)")
    }
    let none = try Self.error([ConversationTests.prompt("confirm")]) { vault, answer in
      try vault.initialize(recovery: true, answer: answer)
    }
    #expect(isViolation(none))
  }

  @Test("a code is confirmed only where one is made")
  func elsewhere() throws {
    let prompts = [ConversationTests.prompt("confirm", code: Self.code)]
    let without: [(Vault, Vault.Answer) throws -> Void] = [
      { try $0.unlock(answer: $1) }, { try $0.initialize(answer: $1) }, { try $0.changePassword(answer: $1) },
      { try $0.addSlot(kind: "password", answer: $1) }, { try $0.removeSlot(1, answer: $1) },
      { try $0.authenticate(for: "a", answer: $1) },
      { _ = try $0.restore(header: [1], read: { _ in 0 }, answer: $1) },
    ]
    for call in without { #expect(isViolation(try Self.error(prompts, call))) }
    let with: [(Vault, Vault.Answer) throws -> Void] = [
      { try $0.initialize(recovery: true, answer: $1) }, { try $0.rekey(answer: $1) { _ in } },
    ]
    for call in with { #expect(try Self.error(prompts, call) == nil) }
  }

  @Test("prompts without end have one", arguments: ["info", "error"])
  func endless(style: String) throws {
    var count = 0
    let server = try Self.server(Array(repeating: ConversationTests.prompt(style), count: 200))
    defer { server.close() }
    let error = clientError {
      try server.vault.unlock { _ in
        count += 1
        return nil
      }
    }
    #expect(isViolation(error) && count == PromptRules.most)
  }

  @Test("all that PAM may say, the programs that a prompt serves and the next way are not too many")
  func talkative() throws {
    let prompts = Array(repeating: ConversationTests.prompt("info"), count: 64 + 8 + 2)
    #expect(try Self.error(prompts) { vault, answer in try vault.unlock(answer: answer) } == nil)
  }

  @Test("a rekey may ask for each of a vault's secrets, and not without end")
  func rekey() throws {
    for (count, isToo) in [(3 * 255, false), (PromptRules.mostOfRekey + 1, true)] {
      let prompts = Array(repeating: ConversationTests.prompt("info"), count: count)
      let error = try Self.error(prompts) { vault, answer in try vault.rekey(answer: answer) { _ in } }
      #expect(isToo ? isViolation(error) : error == nil, "\(count)")
    }
  }

  @Test("a prompt is no novel")
  func novel() throws {
    let text = String(repeating: "x", count: PromptRules.longestText + 1)
    let prompt = #"{"conversation":"c","prompt":{"style":"info","method":"pam","text":"\#(text)"}}"#
    #expect(isViolation(try Self.error([prompt]) { vault, answer in try vault.unlock(answer: answer) }))
  }
}
