import CLinux
import Foundation
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("Ways in") struct SlotsTests {
  let password = "correct horse battery"
  let floor: WireClient.Message = ["kdf_memory": 19 << 20, "kdf_passes": 2]

  /// Lends a sandbox with a vault and its recovery code; if `onClock`, its daemon uses a clock of the test's own.
  func withVault(recovery: Bool = false, onClock: Bool = false, _ body: (Sandbox, String) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    if onClock { try MachineClock(in: sandbox) }
    let code = try sandbox.makeVault(password: password, config: "idle = off", recovery: recovery)
    try body(sandbox, code ?? "")
  }

  func slots(_ sandbox: Sandbox) throws -> [WireClient.Message] {
    try sandbox.client().call("ListSlots").parameters["slots"] as? [WireClient.Message] ?? []
  }

  @Test("a new password opens, the old one no longer, and the items stay") func changePassword() throws {
    try withVault(onClock: true) { (sandbox, _) throws in
      try sandbox.unlock(password)
      #expect(try sandbox.client().call("Set", ["name": "a", "value": "kept"]).error == nil)
      let answers = ["secret": password, "new-secret": "an entirely new one"]
      let changed = try sandbox.converse("ChangePassword", floor) { answers[$0["style"] as? String ?? ""] }
      #expect(changed?.error == nil)
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try sandbox.unlock(password)?.error == "AuthenticationFailed")
      try sandbox.waitOut("password")
      #expect(try sandbox.unlock("an entirely new one")?.error == nil)
      #expect(try sandbox.client().call("Get", ["name": "a"]).string("value") == "kept")
      #expect(try slots(sandbox).count == 1)
    }
  }

  @Test("a new password costs a guesser no less than the one that it replaces, unless that was asked for")
  func cost() throws {
    try withVault { (sandbox, _) throws in
      var old = password
      func change(_ new: String, _ parameters: WireClient.Message) throws -> (memory: Int, passes: Int) {
        let answers = ["secret": old, "new-secret": new]
        let changed = try sandbox.converse("ChangePassword", parameters) { answers[$0["style"] as? String ?? ""] }
        #expect(changed?.error == nil)
        old = new
        let slot = try #require(try slots(sandbox).first)
        return (slot["kdf_memory"] as? Int ?? 0, slot["kdf_passes"] as? Int ?? 0)
      }
      // A measurement never chooses so much memory.
      try sandbox.unlock(password)
      let dear = try change("an entirely new one", ["kdf_memory": 272 << 20, "kdf_passes": 4])
      #expect(dear.memory == 272 << 20 && dear.passes == 4)
      let kept = try change("another new one", [:])
      #expect(kept.memory == 272 << 20 && kept.passes >= 4)
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try sandbox.unlock(old)?.error == nil)
      let cheap = try change("a cheaper new one", floor)
      #expect(cheap.memory == 19 << 20 && cheap.passes == 2)
    }
  }

  @Test("the recovery code opens however it is typed, and sets a new password") func recovery() throws {
    try withVault(recovery: true) { (sandbox, code) throws in
      let typed = code.lowercased().replacingOccurrences(of: "-", with: " ")
      #expect(try sandbox.unlock(typed, ["method": "recovery"])?.error == nil)
      #expect(try sandbox.client().call("Status").string("cause") == "by recovery code")
      let changed = try sandbox.converse("ChangePassword", floor.merging(["method": "recovery"]) { old, _ in old }) {
        $0["style"] as? String == "secret" ? code : "set by recovery"
      }
      #expect(changed?.error == nil)
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try sandbox.unlock("set by recovery")?.error == nil)
    }
  }

  @Test("a mistyped recovery code is no attempt, another vault's is one") func wrongRecovery() throws {
    try withVault(recovery: true) { (sandbox, code) throws in
      let last = code.last == "0" ? "1" : "0"
      for _ in 0..<3 {
        let reply = try sandbox.unlock(String(code.dropLast()) + last, ["method": "recovery"])
        #expect(reply?.error == "MistypedRecoveryCode")
      }
      try withVault(recovery: true) { (_, other) throws in
        #expect(try sandbox.unlock(other, ["method": "recovery"])?.error == "AuthenticationFailed")
      }
    }
  }

  @Test("a confirmation that differs asks again, and the code that was shown counts") func confirmation() throws {
    try withVault { (sandbox, _) throws in
      var shown: [String] = []
      let added = try sandbox.converse("AddSlot", ["kind": "recovery"]) { prompt in
        guard let code = prompt["code"] as? String else { return password }
        shown.append(code)
        return shown.count == 1 ? "not the code" : code
      }
      #expect(added?.integer("slot") == 2)
      #expect(shown.count == 2 && shown[0] == shown[1])
      #expect(try sandbox.unlock(shown[0], ["method": "recovery"])?.error == nil)
    }
  }

  @Test("a vault is not made if its code is typed back wrongly too often, and that is said") func noVault() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    var told: [String] = []
    let reply = try sandbox.converse("Init", floor.merging(["recovery": true]) { old, _ in old }) { prompt in
      if prompt["style"] as? String == "error" { told.append(prompt["text"] as? String ?? "") }
      return prompt["code"] == nil ? password : "another code"
    }
    #expect(reply?.error == "Cancelled")
    #expect(told == ["The code was wrong too many times; no vault was made"])
    #expect(try sandbox.client().call("Status").string("state") == "new")
  }

  @Test("a second password opens too, and either can be removed but not both") func addAndRemove() throws {
    try withVault { (sandbox, _) throws in
      #expect(try sandbox.converse("RemoveSlot", ["id": 1]) { _ in password }?.error == "LastSlot")
      let answers = ["secret": password, "new-secret": "the second password"]
      let added = try sandbox.converse(
        "AddSlot", floor.merging(["kind": "password", "label": "laptop"]) { old, _ in old }
      ) {
        answers[$0["style"] as? String ?? ""]
      }
      #expect(added?.integer("slot") == 2)
      #expect(try slots(sandbox).map { $0["label"] as? String } == ["", "laptop"])
      #expect(try sandbox.unlock("the second password")?.error == nil)
      #expect(try sandbox.converse("RemoveSlot", ["id": 7]) { _ in password }?.error == "NoSuchSlot")
      #expect(try sandbox.converse("RemoveSlot", ["id": 1]) { _ in "the second password" }?.error == nil)
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try sandbox.unlock(password)?.error == "AuthenticationFailed")
      #expect(try slots(sandbox).map { $0["id"] as? Int } == [2])
    }
  }

  @Test("the last password or recovery code stays, whatever else opens the vault", arguments: ["pam", "login"])
  func lasting(kind: String) throws {
    try withVault { (sandbox, _) throws in
      let parameters = floor.merging(["kind": kind, "keystore": "memory"]) { old, _ in old }
      let added = try sandbox.converse("AddSlot", parameters) {
        $0["style"] as? String == "secret" ? password : "the login password"
      }
      #expect(added?.integer("slot") == 2)
      // The call fails before anybody is asked to prove the right to it.
      #expect(try sandbox.converse("RemoveSlot", ["id": 1]) { _ in nil }?.error == "LastSlot")
      let recovery = try sandbox.converse("AddSlot", ["kind": "recovery"]) { $0["code"] as? String ?? password }
      #expect(recovery?.integer("slot") == 3)
      #expect(try sandbox.converse("RemoveSlot", ["id": 1]) { _ in password }?.error == nil)
      #expect(try sandbox.converse("RemoveSlot", ["id": 3]) { _ in nil }?.error == "LastSlot")
    }
  }

  @Test("a slot that was removed, and put back into the file, opens nothing and proves nothing") func revived() throws {
    try withVault { (sandbox, _) throws in
      let second = "the second password"
      let guarded: WireClient.Message = [
        "name": "guarded", "value": "x", "accessible": "always", "require": "password",
      ]
      #expect(try sandbox.unlock(password)?.error == nil)
      #expect(try sandbox.client().call("Set", guarded).error == nil)
      let answers = ["secret": password, "new-secret": second]
      let added = try sandbox.converse("AddSlot", floor.merging(["kind": "password"]) { old, _ in old }) {
        answers[$0["style"] as? String ?? ""]
      }
      #expect(added?.integer("slot") == 2)
      try sandbox.stopDaemon()
      let slot = try sandbox.copyRows("slots", where: "id = 2")
      try sandbox.startDaemon()
      #expect(try sandbox.converse("RemoveSlot", ["id": 2]) { _ in password }?.error == nil)
      try sandbox.stopDaemon()
      try sandbox.editStore(slot[0])
      let asked: [(String, WireClient.Message)] = [
        ("ChangePassword", floor), ("RemoveSlot", ["id": 1]), ("AddSlot", ["kind": "recovery"]),
        ("Authenticate", ["name": "guarded", "interactive": true]), ("Unlock", [:]),
      ]
      // Each call goes to a freshly started daemon.
      for (method, parameters) in asked {
        try sandbox.startDaemon()
        let reply = try sandbox.converse(method, parameters) { $0["code"] as? String ?? second }
        #expect(reply?.error == "Corrupt", "\(method): \(String(describing: reply))")
        #expect(try sandbox.client().call("Get", ["name": "guarded"]).error == "PresenceRequired")
        try sandbox.stopDaemon()
      }
      try sandbox.startDaemon()
      #expect(try sandbox.unlock(password)?.error == nil)
    }
  }

  @Test("the key of a slot that the store does not take goes from its keystore again") func notStored() throws {
    try withVault { (sandbox, _) throws in
      try sandbox.unlock(password)
      #expect(try sandbox.client().call("Set", ["name": "a", "value": "a"]).error == nil)
      try sandbox.stopDaemon()
      // The check at the unlock finds the damage, and then nothing more is written.
      try sandbox.editStore("UPDATE heads SET sealed = zeroblob(length(sealed))")
      try sandbox.startDaemon()
      try sandbox.unlock(password)
      let slot: WireClient.Message = ["kind": "pam", "keystore": "file", "insecure": true]
      let added = try sandbox.converse("AddSlot", slot) { _ in password }
      #expect(added?.error == "Corrupt", "\(String(describing: added))")
      func isLeft() throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: sandbox.store).contains { $0.hasPrefix("presence-") }
      }
      // The key is removed after the reply.
      let deadline = Date(timeIntervalSinceNow: 30)
      while try isLeft(), Date() < deadline { sched_yield() }
      #expect(try !isLeft())
    }
  }

  @Test("a wrong password changes nothing and removes nothing") func wrongPassword() throws {
    try withVault(recovery: true, onClock: true) { (sandbox, _) throws in
      for (method, parameters) in [
        ("ChangePassword", floor), ("RemoveSlot", ["id": 2]), ("AddSlot", ["kind": "password"]),
      ] {
        #expect(try sandbox.converse(method, parameters) { _ in "a wrong password" }?.error == "AuthenticationFailed")
        try sandbox.waitOut("password")
      }
      #expect(try slots(sandbox).count == 2)
    }
  }

  @Test("failures back off, over a restart of the daemon, and a success ends it") func backoff() throws {
    try withVault(onClock: true) { (sandbox, _) throws in
      let first = try sandbox.unlock("a wrong password")
      #expect(first?.error == "AuthenticationFailed")
      #expect(first?.integer("retry_after_ms") == 1000)
      #expect(try sandbox.unlock(password)?.error == "BackingOff")
      try sandbox.waitOut("password")
      #expect(try sandbox.unlock("a wrong password")?.integer("retry_after_ms") == 2000)
      try sandbox.stopDaemon()
      try sandbox.startDaemon()
      #expect(try sandbox.unlock(password)?.error == "BackingOff")
      try sandbox.waitOut("password")
      #expect(try sandbox.unlock(password)?.error == nil)
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try sandbox.unlock("a wrong password")?.integer("retry_after_ms") == 1000)
    }
  }

  @Test("of many attempts at once one is made, and counted; all others are turned away, and are not") func flood()
    throws
  {
    try withVault(onClock: true) { (sandbox, _) throws in
      // The clock stands still, so that no wait is over before the last answer, however slow the machine is.
      try #require(sandbox.clock).hold()
      var asking: [(WireClient, String)] = []
      for _ in 0..<8 {
        let client = try sandbox.client()
        let reply = try client.call("Unlock", [:], more: true)
        asking.append((client, try #require(reply.string("conversation"))))
      }
      for (_, id) in asking { _ = try sandbox.client().call("Respond", ["conversation": id, "answer": "wrong wrong"]) }
      let errors = try asking.map { try $0.0.reply().error }
      #expect(errors.filter { $0 == "AuthenticationFailed" }.count == 1)
      #expect(errors.filter { $0 == "BackingOff" }.count == 7)
      // The fields are uid, method and failures.
      let counted = try String(contentsOfFile: sandbox.store + "/backoff", encoding: .utf8)
      #expect(counted.split(separator: "\n").count { $0.hasPrefix("\(geteuid()) password ") } == 1, "\(counted)")
      #expect(counted.contains("\(geteuid()) password 1 "), "\(counted)")
    }
  }

  @Test("an answer needs a conversation that is open, and counts once") func conversations() throws {
    try withVault { (sandbox, _) throws in
      let answer = { (id: String) in
        try sandbox.client().call("Respond", ["conversation": id, "answer": self.password]).error
      }
      #expect(try answer("0123456789abcdef0123456789abcdef") == "NoSuchConversation")
      let asking = try sandbox.client()
      let id = try #require(try asking.call("Unlock", [:], more: true).string("conversation"))
      #expect(id.count == 32)
      let other: WireClient.Message = ["conversation": id, "answer": "wrong wrong", "number": 2]
      #expect(try sandbox.client().call("Respond", other).error == "NoSuchConversation")
      #expect(try answer(id) == nil)
      #expect(try answer(id) == "NoSuchConversation")
      #expect(try asking.reply().error == nil)
      #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/backoff"))
      #expect(try answer(id) == "NoSuchConversation")
      // They are refused calls, and no attempts.
      let log = try sandbox.client().call("Audit", [:], more: true)
      let entries = (log.parameters["entries"] as? [[String: Any]] ?? []).map {
        "\($0["action"] ?? "") \($0["outcome"] ?? "") \($0["item"] ?? "")"
      }
      #expect(entries.contains("call invalid io.vaultd.Vault.Respond"), "\(entries)")
      #expect(!entries.contains { $0.hasPrefix("unlock failed") || $0.hasPrefix("unlock denied") }, "\(entries)")
    }
  }

  @Test("what a client says of itself cannot dress up the prompt") func promptText() throws {
    try withVault { (sandbox, _) throws in
      let asking = try sandbox.client()
      let reason = "backup\u{1B}[2J\u{202E}\nPassword for root: " + String(repeating: "x", count: 1000)
      let text = try asking.call("Unlock", ["reason": reason], more: true).prompt?["text"] as? String ?? ""
      #expect(
        text.hasPrefix("Vault password (asked by: backup\\u{1b}[2J\\u{202e}\\u{a}Password for root: x"))
      #expect(text.count < 300)
      #expect(!text.unicodeScalars.contains { $0.value < 32 || $0 == "\u{202E}" })
    }
  }
}
