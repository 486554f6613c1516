import Foundation
import Testing
import VaultBytes
import VaultWire

@testable import VaultClient

@Suite struct ConversationTests {
  static func prompt(_ style: String, code: String? = nil) -> String {
    let code = code.map { ",\"code\":\"\($0)\"" } ?? ""
    return
      #"{"conversation":"c0ffee","prompt":{"style":"\#(style)","method":"password","text":"Text of "#
      + #"\#(style)"\#(code)}}"#
  }

  /// Makes a daemon that sends these prompts in turn, waits for Respond after each, and ends with `end`.
  static func server(_ prompts: [String], end: String) throws -> FakeServer {
    let asking = prompts.filter { !$0.contains(#""info""#) && !$0.contains(#""error""#) }
    let answers = asking.map { _ in Gate() }
    let turn = Turn()
    return try FakeServer { peer, _ in
      while let request = try peer.read() {
        if request.hasPrefix("Respond") {
          answers[turn.next()].open()
          peer.reply()
          continue
        }
        var waiting = answers.makeIterator()
        for prompt in prompts {
          peer.reply(prompt, continues: true)
          if asking.contains(prompt) { waiting.next()?.wait() }
        }
        peer.send(end)
      }
    }
  }

  @Test("Prompts come on one connection and answers go over another, until the last reply")
  func converses() throws {
    let server = try ConversationTests.server(
      [ConversationTests.prompt("secret"), ConversationTests.prompt("new-secret")], end: #"{"parameters":{}}"#)
    defer { server.close() }
    var asked: [String] = []
    try server.vault.changePassword(kdfMemory: 1 << 26) { prompt in
      asked.append("\(prompt.style) \(prompt.method) \(prompt.text)")
      return SecretBuffer(prompt.style == .secret ? "old\u{1}" : "new")
    }
    #expect(asked == ["secret password Text of secret", "newSecret password Text of new-secret"])
    #expect(
      server.heard == [
        "ChangePassword+{kdf_memory:67108864}", "Respond{conversation:c0ffee,data:b2xkAQ==}",
        "Respond{conversation:c0ffee,answer:new}",
      ])
    #expect(server.connections == 2)
  }

  @Test("A code to be shown comes with its prompt, what only tells needs no answer, a slot comes at the end")
  func showsCode() throws {
    let server = try ConversationTests.server(
      [
        ConversationTests.prompt("info"), ConversationTests.prompt("error"),
        ConversationTests.prompt("confirm", code: "ABCDE-\\u0046"),
      ],
      end: #"{"parameters":{"slot":4}}"#)
    defer { server.close() }
    var codes: [[UInt8]] = []
    let slot = try server.vault.addSlot(kind: "recovery", label: "safe") { prompt in
      switch prompt.code {
      case .some(let code): codes.append(code.array)
      case .none: codes.append([])
      }
      return prompt.style.wantsAnswer ? SecretBuffer("abcde") : nil
    }
    #expect(slot == 4)
    #expect(codes == [[], [], Array("ABCDE-F".utf8)])
    #expect(
      server.heard == [
        "AddSlot+{kind:recovery,label:safe}", "Respond{conversation:c0ffee,answer:abcde}",
      ])
  }

  @Test("A vault that is open already asks nothing")
  func takesNoPrompts() throws {
    let server = try CallTests.server("{}")
    defer { server.close() }
    var vault = server.vault
    vault.interactive = true
    vault.reason = "r"
    try vault.unlock(method: "recovery", for: .seconds(900)) { _ in
      Issue.record("asked")
      return nil
    }
    try vault.initialize(recovery: true) { _ in nil }
    try vault.removeSlot(3, method: "password") { _ in nil }
    #expect(
      server.heard == [
        "Unlock+{method:recovery,for:900,reason:r,interactive:true}", "Init+{recovery:true}",
        "RemoveSlot+{id:3,method:password}",
      ])
  }

  @Test("No answer cancels: the daemon sees the connection close")
  func cancels() throws {
    let closed = Gate()
    let server = try FakeServer { peer, _ in
      _ = try peer.read()
      peer.reply(ConversationTests.prompt("secret"), continues: true)
      try peer.waitForEnd()
      closed.open()
    }
    defer { server.close() }
    let error = clientError { try server.vault.unlock { _ in nil } }
    #expect(error == .fault(.cancelled))
    closed.wait()
    #expect(server.heard == ["Unlock+{}"])
  }

  @Test("An error of the one who answers comes through, and cancels")
  func passesErrors() throws {
    struct Interrupted: Error {}
    let closed = Gate()
    let server = try FakeServer { peer, _ in
      _ = try peer.read()
      peer.reply(ConversationTests.prompt("secret"), continues: true)
      try peer.waitForEnd()
      closed.open()
    }
    defer { server.close() }
    #expect(throws: Interrupted.self) { try server.vault.unlock { _ in throw Interrupted() } }
    closed.wait()
  }

  @Test("A wrong answer is an error of the conversation")
  func failsAuthentication() throws {
    let server = try ConversationTests.server(
      [ConversationTests.prompt("secret")],
      end:
        #"{"error":"io.vaultd.Vault.AuthenticationFailed","parameters":{"method":"password","retry_after_ms":1000}}"#)
    defer { server.close() }
    let error = clientError { try server.vault.unlock { _ in SecretBuffer("wrong") } }
    #expect(error == .fault(.authenticationFailed(method: "password", retryAfterMilliseconds: 1000)))
  }

  @Test("A conversation that ended before the answer says why itself")
  func prefersItsOwnError() throws {
    let server = try FakeServer { peer, number in
      while let request = try peer.read() {
        if request.hasPrefix("Respond") {
          peer.send(#"{"error":"io.vaultd.Vault.NoSuchConversation"}"#)
        } else {
          peer.reply(ConversationTests.prompt("secret"), continues: true)
          peer.send(#"{"error":"io.vaultd.Vault.TimedOut"}"#)
        }
      }
    }
    defer { server.close() }
    let error = clientError { try server.vault.unlock { _ in SecretBuffer("late") } }
    #expect(error == .fault(.timedOut))
  }

  /// Makes a daemon that asks twice, with something to show in between, before the first answer.
  private static func withdrawing() throws -> FakeServer {
    let answered = Gate()
    return try FakeServer { peer, _ in
      while let request = try peer.read() {
        if request.hasPrefix("Respond") {
          if request.contains("number:1") {
            peer.send(#"{"error":"io.vaultd.Vault.NoSuchConversation"}"#)
          } else {
            peer.reply()
            answered.open()
          }
          continue
        }
        for (style, number) in [("secret", #","number":1"#), ("info", ""), ("visible", #","number":2"#)] {
          peer.reply(
            #"{"conversation":"c0ffee","prompt":{"style":"\#(style)","method":"m","text":"t"\#(number)}}"#,
            continues: true)
        }
        answered.wait()
        peer.send(#"{"parameters":{}}"#)
      }
    }
  }

  @Test("An answer that comes too late for its question answers none, and the next question is put")
  func late() throws {
    let server = try ConversationTests.withdrawing()
    defer { server.close() }
    var asked: [Prompt.Style] = []
    try server.vault.unlock { prompt in
      asked.append(prompt.style)
      return SecretBuffer("typed")
    }
    #expect(asked == [.secret, .info, .visible])
    #expect(
      server.heard == [
        "Unlock+{}", "Respond{conversation:c0ffee,number:1,answer:typed}",
        "Respond{conversation:c0ffee,number:2,answer:typed}",
      ])
  }

  @Test("Whoever asks a person can see that the question is withdrawn, and then gives no answer")
  func withdrawn() throws {
    let server = try ConversationTests.withdrawing()
    defer { server.close() }
    var asked: [Prompt.Style] = []
    try server.vault.unlock { prompt in
      asked.append(prompt.style)
      guard prompt.style == .secret, let open = prompt.open else { return SecretBuffer("typed") }
      open.look()
      while let descriptor = open.descriptor {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&polled, 1, 10_000)
        open.look()
      }
      #expect(open.isWithdrawn)
      return nil
    }
    #expect(asked == [.secret, .info, .visible])
    #expect(server.heard == ["Unlock+{}", "Respond{conversation:c0ffee,number:2,answer:typed}"])
  }

  @Test("A message about the open question can be shown before the answer, and is put once")
  func message() throws {
    let server = try FakeServer { peer, _ in
      while let request = try peer.read() {
        if request.hasPrefix("Respond") { return peer.reply() }
        for (style, text) in [("secret", "t"), ("info", "one"), ("error", "two")] {
          let number = style == "secret" ? #","number":1"# : ""
          peer.reply(
            #"{"conversation":"c0ffee","prompt":{"style":"\#(style)","method":"m","text":"\#(text)"\#(number)}}"#,
            continues: true)
        }
        peer.send(#"{"parameters":{}}"#)
      }
    }
    defer { server.close() }
    var asked: [Prompt.Style] = []
    var told: [String] = []
    try server.vault.unlock { prompt in
      asked.append(prompt.style)
      guard let open = prompt.open else { return nil }
      while let descriptor = open.descriptor {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&polled, 1, 10_000)
        open.look()
        if told.isEmpty, let message = open.message() { told.append(message.text) }
      }
      #expect(!open.isWithdrawn)
      return SecretBuffer("typed")
    }
    #expect(told == ["one"] && asked == [.secret, .error])
  }

  @Test("Whoever asks a person can see that the conversation has ended, and the call then says why itself")
  func over() throws {
    let server = try FakeServer { peer, _ in
      _ = try peer.read()
      peer.reply(ConversationTests.prompt("secret"), continues: true)
      peer.send(#"{"error":"io.vaultd.Vault.TimedOut"}"#)
    }
    defer { server.close() }
    let error = clientError {
      try server.vault.unlock { prompt in
        guard let open = prompt.open else { return nil }
        open.look()
        while let descriptor = open.descriptor {
          var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
          _ = unsafe poll(&polled, 1, 10_000)
          open.look()
        }
        #expect(open.isOver && !open.isWithdrawn)
        return nil
      }
    }
    #expect(error == .fault(.timedOut))
    #expect(server.heard == ["Unlock+{}"])
  }

  @Test(
    "Prompts nobody can answer are protocol violations",
    arguments: [
      #"{"prompt":{"style":"secret","method":"m","text":"t"}}"#, #"{"conversation":"c"}"#,
      #"{"conversation":"c","prompt":{"style":"hologram","method":"m","text":"t"}}"#,
      #"{"conversation":"c","prompt":{"style":"secret","method":"m"}}"#,
    ])
  func refusesStrangePrompts(_ parameters: String) throws {
    let server = try FakeServer { peer, _ in
      _ = try peer.read()
      peer.reply(parameters, continues: true)
      try peer.waitForEnd()
    }
    defer { server.close() }
    let error = clientError {
      try server.vault.unlock { _ in
        Issue.record("asked")
        return nil
      }
    }
    #expect(isViolation(error))
  }

  @Test("A daemon that goes away while it checks the answer is reported")
  func reportsLoss() throws {
    let server = try FakeServer { peer, _ in
      guard let request = try peer.read() else { return }
      if request.hasPrefix("Respond") { return peer.reply() }
      peer.reply(ConversationTests.prompt("secret"), continues: true)
    }
    defer { server.close() }
    let error = clientError { try server.vault.unlock { _ in SecretBuffer("x") } }
    #expect(error == .disconnected)
  }
}

/// A counter from 0 that any thread may use.
final class Turn: @unchecked Sendable {
  // The lock guards all use of `value`.
  private let lock = NSLock()
  private var value = 0

  func next() -> Int {
    lock.withLock {
      value += 1
      return value - 1
    }
  }
}
