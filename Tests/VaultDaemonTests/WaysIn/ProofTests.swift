import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("What a proof of the right outlives") struct ProofTests {
  private static var floor: WireClient.Message { ["kdf_memory": 19 << 20, "kdf_passes": 2] }
  private let first = "correct horse battery", second = "the second password", third = "the third password"

  /// Makes an unlocked vault with two passwords.
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    do {
      try MachineClock(in: sandbox)
      _ = try sandbox.makeVault(password: first, config: "idle = off")
      try sandbox.unlock(first)
      try succeed(sandbox, "AddSlot", ["kind": "password"], second)
    } catch {
      sandbox.close()
      throw error
    }
    return sandbox
  }

  /// Makes a change: proves the right with slot 1's password (or `password`), and answers the other questions with
  /// `new`.
  private func succeed(
    _ sandbox: Sandbox, _ method: String, _ parameters: WireClient.Message, _ new: String = "",
    by password: String? = nil
  ) throws {
    let reply = try sandbox.converse(method, parameters.merging(Self.cost(method)) { old, _ in old }) { prompt in
      prompt["style"] as? String == "secret" ? password ?? first : new
    }
    guard let reply, reply.error == nil else { throw SandboxError("\(method): \(String(describing: reply))") }
  }

  private static func cost(_ method: String) -> WireClient.Message {
    ["ChangePassword", "AddSlot", "Init"].contains(method) ? floor : [:]
  }

  /// A conversation that waits for an answer.
  private struct Waiting {
    let method: String
    let client: WireClient
    let id: String
    /// The prompt that is open now.
    var prompt: WireClient.Message

    /// Returns the next reply that is more than information.
    func next() throws -> WireClient.Reply {
      while true {
        let reply = try client.reply()
        guard let style = reply.prompt?["style"] as? String, style == "info" || style == "error" else { return reply }
      }
    }
  }

  private func begin(_ sandbox: Sandbox, _ method: String, _ parameters: WireClient.Message) throws -> Waiting {
    let client = try sandbox.client()
    let reply = try client.call(method, parameters.merging(Self.cost(method)) { old, _ in old }, more: true)
    return Waiting(
      method: method, client: client, id: try #require(reply.string("conversation")),
      prompt: try #require(reply.prompt))
  }

  private func answer(_ sandbox: Sandbox, _ waiting: Waiting, _ text: String) throws -> String? {
    try sandbox.client().call("Respond", ["conversation": waiting.id, "answer": text]).error
  }

  /// Begins a conversation and proves the right with a password.
  private func prove(
    _ sandbox: Sandbox, _ method: String, _ parameters: WireClient.Message, _ password: String
  ) throws -> Waiting {
    var waiting = try begin(sandbox, method, parameters)
    #expect(try answer(sandbox, waiting, password) == nil)
    waiting.prompt = try #require(try waiting.next().prompt)
    return waiting
  }

  private func slots(_ sandbox: Sandbox) throws -> [Int] {
    let slots = try sandbox.client().call("ListSlots").parameters["slots"] as? [WireClient.Message] ?? []
    return slots.compactMap { $0["id"] as? Int }
  }

  /// Returns true if a secret opens the vault.
  private func opens(_ sandbox: Sandbox, _ secret: String) throws -> Bool {
    #expect(try sandbox.client().call("Lock").error == nil)
    try sandbox.waitOut("password")
    let error = try sandbox.unlock(secret)?.error
    #expect(error == nil || error == "AuthenticationFailed")
    return error == nil
  }

  enum Change: CaseIterable { case add, remove, changeOther, changeOwn }

  private func make(_ change: Change, _ sandbox: Sandbox) throws {
    switch change {
    case .add: try succeed(sandbox, "AddSlot", ["kind": "password"], third)
    case .remove: try succeed(sandbox, "RemoveSlot", ["id": 2])
    case .changeOther: try succeed(sandbox, "ChangePassword", [:], third)
    case .changeOwn: try succeed(sandbox, "ChangePassword", [:], third, by: second)
    }
  }

  @Test(
    "whoever is about to change the ways in has to begin anew when another change came first",
    arguments: Change.allCases)
  func overtaken(by change: Change) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let waiting = try [
      prove(sandbox, "ChangePassword", [:], second), prove(sandbox, "AddSlot", ["kind": "password"], second),
      prove(sandbox, "AddSlot", ["kind": "recovery"], second), prove(sandbox, "Rekey", [:], second),
    ]
    try make(change, sandbox)
    for one in waiting {
      let reply = try one.next()
      #expect(
        reply.error == "Busy" && reply.string("reason") == "the slots were changed meanwhile; try again",
        "\(one.method)")
      #expect(try answer(sandbox, one, one.prompt["code"] as? String ?? "of the thief's") == "NoSuchConversation")
    }
    #expect(try slots(sandbox) == [.add: [1, 2, 3], .remove: [1]][change, default: [1, 2]])
    #expect(try opens(sandbox, first) == (change != .changeOther))
    #expect(try opens(sandbox, second) == (change == .add || change == .changeOther))
    #expect(try opens(sandbox, third) == (change != .remove))
    #expect(try sandbox.client().call("Status").parameters["rekey"] == nil)
  }

  @Test("the change that comes first also counts for a rekey that waits for its recovery code")
  func rekeyAtItsCode() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try MachineClock(in: sandbox)
    _ = try sandbox.makeVault(password: first, config: "idle = off", recovery: true)
    try sandbox.unlock(first)
    let rekey = try prove(sandbox, "Rekey", [:], first)
    let code = try #require(rekey.prompt["code"] as? String)
    try make(.changeOther, sandbox)
    #expect(try rekey.next().error == "Busy")
    #expect(try answer(sandbox, rekey, code) == "NoSuchConversation")
    #expect(try !opens(sandbox, first))
    #expect(try opens(sandbox, third))
    #expect(try sandbox.unlock(code, ["method": "recovery", "for": 60])?.error == "AuthenticationFailed")
  }

  @Test("who has proven nothing yet goes on, and is judged by the slots that there are then")
  func notProven() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try succeed(sandbox, "AddSlot", ["kind": "login"], "the login password")
    let removed = try begin(sandbox, "AddSlot", ["kind": "password"])
    let left = try begin(sandbox, "AddSlot", ["kind": "recovery"])
    let login = try begin(sandbox, "ChangePassword", ["kind": "login"])
    let gone = try begin(sandbox, "RemoveSlot", ["id": 2])
    let changed = try begin(sandbox, "RemoveSlot", ["id": 1])
    try succeed(sandbox, "RemoveSlot", ["id": 3])
    try succeed(sandbox, "RemoveSlot", ["id": 2])
    #expect(try answer(sandbox, left, first) == nil)
    let code = try #require(try left.next().prompt?["code"] as? String)
    #expect(try answer(sandbox, left, code) == nil)
    #expect(try left.next().integer("slot") == 4)
    #expect(try answer(sandbox, login, first) == nil)
    #expect(try login.next().error == "MethodUnavailable")
    #expect(try answer(sandbox, gone, first) == nil)
    #expect(try gone.next().error == "NoSuchSlot")
    try make(.changeOther, sandbox)
    #expect(try answer(sandbox, changed, third) == nil)
    #expect(try changed.next().error == nil)
    #expect(try answer(sandbox, removed, second) == nil)
    #expect(try removed.next().error != nil)
    #expect(try slots(sandbox) == [4])
  }

  @Test("a code is typed back wrongly so often and no more") func tries() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let adding = try prove(sandbox, "AddSlot", ["kind": "recovery"], first)
    for _ in 1...4 {
      #expect(try answer(sandbox, adding, "another code") == nil)
      #expect(try adding.next().prompt?["style"] as? String == "confirm")
    }
    #expect(try answer(sandbox, adding, "another code") == nil)
    #expect(try adding.next().error == "Cancelled")
    #expect(try slots(sandbox) == [1, 2])
  }

  @Test("what a session has shown with a slot counts no longer than that slot does") func shown() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let client = try sandbox.client()
    #expect(try client.call("Lock").error == nil)
    try sandbox.unlock(second)
    #expect(try client.call("Set", ["name": "a", "value": "v", "require": "password", "reuse": 3600]).error == nil)
    func get() throws -> String? {
      let reply = try sandbox.client().call("Get", ["name": "a"])
      return reply.error ?? reply.string("value")
    }
    #expect(try get() == "v")
    try succeed(sandbox, "ChangePassword", [:], third)
    #expect(try get() == "v")
    try succeed(sandbox, "RemoveSlot", ["id": 2], by: third)
    #expect(try get() == "PresenceRequired")
    let shown = try sandbox.converse("Authenticate", ["name": "a", "interactive": true]) { _ in third }
    #expect(shown?.error == nil)
    #expect(try get() == "v")
    try succeed(sandbox, "ChangePassword", [:], first, by: third)
    #expect(try get() == "PresenceRequired")
  }

  @Test("an unlock shows what was typed for it: a login password that somebody is there, a recovery code nothing")
  func unlocks() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let login = "the login password"
    try succeed(sandbox, "AddSlot", ["kind": "login"], login)
    var code = ""
    let added = try sandbox.converse("AddSlot", ["kind": "recovery"]) { prompt in
      if let shown = prompt["code"] as? String { code = shown }
      return prompt["style"] as? String == "secret" ? first : code
    }
    #expect(added?.error == nil && added != nil)
    let client = try sandbox.client()
    for name in ["user-presence", "password"] {
      #expect(try client.call("Set", ["name": name, "value": "v", "require": name, "reuse": 3600]).error == nil)
    }
    let shown = [
      (method: "login", secret: login, presence: "v", password: "PresenceRequired"),
      (method: "recovery", secret: code, presence: "PresenceRequired", password: "PresenceRequired"),
      (method: "password", secret: first, presence: "v", password: "v"),
    ]
    for (method, secret, presence, password) in shown {
      #expect(try client.call("Lock").error == nil)
      #expect(try sandbox.unlock(secret, ["method": method])?.error == nil)
      for (name, expected) in [("user-presence", presence), ("password", password)] {
        let reply = try client.call("Get", ["name": name])
        #expect((reply.error ?? reply.string("value")) == expected, "\(name) after \(method)")
      }
    }
  }

  @Test("a vault that is being made is given up by a lock", arguments: [false, true], [false, true])
  func initialization(bySignal: Bool, atCode: Bool) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    var making = try begin(sandbox, "Init", ["recovery": true])
    if atCode {
      #expect(try answer(sandbox, making, first) == nil)
      making.prompt = try #require(try making.next().prompt)
    }
    if bySignal {
      try sandbox.signalDaemon(SIGUSR1)
    } else {
      #expect(try sandbox.client().call("Lock").error == "NoVault")
    }
    #expect(try making.next().error == "Cancelled")
    #expect(try answer(sandbox, making, making.prompt["code"] as? String ?? first) == "NoSuchConversation")
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/vault.db"))
    #expect(try sandbox.client().call("Status").string("state") == "new")
  }
}
