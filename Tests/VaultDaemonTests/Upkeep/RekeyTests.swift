import CLinux
import Foundation
import Testing
import VaultTesting

@Suite("Rekey") struct RekeyTests {
  let password = "correct horse battery"
  let floor: WireClient.Message = ["kdf_memory": 19 << 20, "kdf_passes": 2]

  func withVault(recovery: Bool = false, onClock: Bool = false, _ body: (Sandbox, String) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    if onClock { try MachineClock(in: sandbox) }
    let code = try sandbox.makeVault(password: password, config: "idle = off", recovery: recovery)
    try sandbox.unlock(password)
    try body(sandbox, code ?? "")
  }

  /// A rekey that has reported which slots it carries over.
  struct Begun {
    let client: WireClient
    let first: WireClient.Reply
    var told: [String] = []
    /// The recovery codes shown.
    var codes: [String] = []

    /// Waits for the last reply.
    func last() throws -> WireClient.Reply {
      var reply = first
      while reply.continues { reply = try client.reply() }
      return reply
    }
  }

  /// Answers the questions of a rekey until there are no more; each shown code is typed back.
  func begin(
    _ sandbox: Sandbox, _ parameters: WireClient.Message = [:], _ answer: (String) -> String
  ) throws -> Begun {
    let client = try sandbox.client()
    var reply = try client.call("Rekey", parameters, more: true)
    var told: [String] = []
    var codes: [String] = []
    while reply.error == nil, let prompt = reply.prompt, let conversation = reply.string("conversation") {
      let text = prompt["text"] as? String ?? ""
      if prompt["style"] as? String == "info" {
        told.append(text)
      } else {
        if let code = prompt["code"] as? String { codes.append(code) }
        let typed = prompt["code"] as? String ?? answer(text)
        let answered = try sandbox.client().call("Respond", ["conversation": conversation, "answer": typed])
        if let error = answered.error { throw SandboxError("Respond: \(error)") }
      }
      reply = try client.reply()
    }
    return Begun(client: client, first: reply, told: told, codes: codes)
  }

  /// Waits for the end of a rekey that is running or already over.
  func waitForEnd(_ sandbox: Sandbox) throws {
    let client = try sandbox.client()
    var reply = try client.call("Rekey", more: true)
    while reply.continues, reply.prompt == nil { reply = try client.reply() }
    if let error = reply.error { throw SandboxError(error) }
    #expect(try sandbox.client().call("Status").parameters["rekey"] == nil)
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/rekey"))
  }

  func fill(_ sandbox: Sandbox, _ count: Int) throws {
    let classes = ["when-unlocked", "after-first-unlock", "always"]
    var number = 0
    while number < count {
      let items = (number..<min(number + 125, count)).map { index -> WireClient.Message in
        ["name": "folder/item \(index)", "value": "value \(index)", "accessible": classes[index % 3]]
      }
      let reply = try sandbox.client().call("SetMany", ["items": items])
      if let error = reply.error { throw SandboxError(error) }
      number += items.count
    }
  }

  func value(_ sandbox: Sandbox, _ name: String) throws -> String? {
    let reply = try sandbox.client().call("Get", ["name": name])
    return reply.error ?? reply.string("value")
  }

  func expectAll(_ sandbox: Sandbox, _ count: Int) throws {
    for index in [0, 1, 2, count / 2, count - 1] {
      #expect(try value(sandbox, "folder/item \(index)") == "value \(index)")
    }
    #expect(try sandbox.client().call("Status").integer("items") == count)
  }

  func kinds(_ sandbox: Sandbox) throws -> [Int: String] {
    let slots = try sandbox.client().call("ListSlots").parameters["slots"] as? [WireClient.Message] ?? []
    return slots.reduce(into: [:]) { found, slot in
      if let id = slot["id"] as? Int, let kind = slot["kind"] as? String { found[id] = kind }
    }
  }

  @Test("a rekey asks for the password once, makes a new recovery code, and keeps everything else")
  func complete() throws {
    try withVault(recovery: true, onClock: true) { sandbox, code throws in
      try fill(sandbox, 30)
      var asked: [String] = []
      let begun = try begin(sandbox) { text in
        asked.append(text)
        return password
      }
      #expect(asked == ["Vault password to give the vault a new key"])
      #expect(begun.first.parameters["slots"] as? [Int] == [1, 2])
      #expect(begun.first.parameters["left_out"] as? [Int] == [])
      let last = try begun.last()
      #expect(last.error == nil && last.integer("done") == 30 && last.integer("of") == 30, "\(last)")
      try expectAll(sandbox, 30)
      #expect(try kinds(sandbox) == [1: "password", 2: "recovery"])
      #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/rekey"))

      try sandbox.stopDaemon()
      try sandbox.startDaemon()
      #expect(try value(sandbox, "folder/item 2") == "value 2", "what `always` is open from boot")
      #expect(try sandbox.unlock(code, ["method": "recovery"])?.error == "AuthenticationFailed")
      try sandbox.waitOut("recovery")
      #expect(try sandbox.unlock(#require(begun.codes.first), ["method": "recovery"])?.error == nil)
      try expectAll(sandbox, 30)
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try sandbox.unlock(password)?.error == nil)
    }
  }

  @Test("with a recovery code that code stays, and the password is asked for")
  func byRecoveryCode() throws {
    try withVault(recovery: true) { sandbox, code throws in
      try fill(sandbox, 3)
      let begun = try begin(sandbox, ["method": "recovery"]) { $0.hasPrefix("Recovery code") ? code : password }
      #expect(begun.codes == [])
      #expect(try begun.last().error == nil)
      _ = try sandbox.client().call("Lock")
      #expect(try sandbox.unlock(code, ["method": "recovery"])?.error == nil)
      _ = try sandbox.client().call("Lock")
      #expect(try sandbox.unlock(password)?.error == nil)
      try expectAll(sandbox, 3)
    }
  }

  @Test("items are served and changed while it goes on, and nothing of that is lost")
  func meanwhile() throws {
    try withVault { sandbox, _ throws in
      try fill(sandbox, 1000)
      let begun = try begin(sandbox) { _ in password }
      let client = try sandbox.client()
      for number in 0..<40 {
        #expect(try value(sandbox, "folder/item \(number * 7)") == "value \(number * 7)")
        #expect(try client.call("Set", ["name": "new \(number)", "value": "new"]).error == nil)
        let changed: WireClient.Message = ["name": "folder/item \(number)", "value": "changed", "update": true]
        #expect(try client.call("Set", changed).error == nil)
        #expect(try client.call("Delete", ["names": ["folder/item \(900 + number)"]]).error == nil)
      }
      #expect(try begun.last().error == nil)
      try waitForRest(sandbox)
      for number in 0..<40 {
        #expect(try value(sandbox, "new \(number)") == "new")
        #expect(try value(sandbox, "folder/item \(number)") == "changed")
        #expect(try value(sandbox, "folder/item \(900 + number)") == "NoSuchItem")
      }
      #expect(try value(sandbox, "folder/item 500") == "value 500")
      #expect(try client.call("Status").integer("items") == 1000)
    }
  }

  /// Locks and unlocks the vault once more, so that later reads use the new store's own keys.
  func waitForRest(_ sandbox: Sandbox) throws {
    #expect(try sandbox.client().call("Lock").error == nil)
    #expect(try sandbox.unlock(password)?.error == nil)
  }

  @Test("a lock has it rest, a kill too, and the next unlock goes on")
  func resumed() throws {
    try withVault(recovery: true) { sandbox, code throws in
      try fill(sandbox, 3000)
      let begun = try begin(sandbox) { _ in password }
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try begun.last().error == "Locked")
      let progress = try sandbox.client().call("Status").parameters["rekey"] as? WireClient.Message
      #expect(progress?["of"] as? Int == 3000)
      #expect(try sandbox.client().call("Rekey", more: true).error == "Locked")
      // Cancelling a rekey changes all class records, so that its files are worthless afterwards.
      #expect(try sandbox.client().call("Rekey", ["cancel": true], more: true).error == "Locked")
      #expect(FileManager.default.fileExists(atPath: sandbox.store + "/rekey/vault.db"))

      // A backup would contain the next key, sealed under the key that it replaces.
      #expect(try sandbox.client().call("Backup", upgrade: true).error == "Rekeying")

      // Until the rekey is done, the old slots count, and none changes.
      #expect(try sandbox.converse("AddSlot", ["kind": "recovery"]) { _ in password }?.error == "Rekeying")
      #expect(try sandbox.converse("RemoveSlot", ["id": 2]) { _ in password }?.error == "Rekeying")
      #expect(try sandbox.converse("ChangePassword", floor) { _ in password }?.error == "Rekeying")

      #expect(try sandbox.unlock(code, ["method": "recovery"])?.error == nil)
      try sandbox.stopDaemon(signal: SIGKILL)
      try sandbox.startDaemon()
      #expect(try sandbox.unlock(password)?.error == nil)
      try waitForEnd(sandbox)
      try expectAll(sandbox, 3000)
      #expect(try sandbox.converse("AddSlot", ["kind": "recovery"]) { $0["code"] as? String ?? password }?.error == nil)
      try waitForRest(sandbox)
      try expectAll(sandbox, 3000)
    }
  }

  @Test("a rekey that is given up leaves the vault as it was")
  func cancelled() throws {
    try withVault { sandbox, _ throws in
      try fill(sandbox, 2000)
      let added = try sandbox.converse("AddSlot", ["kind": "pam", "keystore": "file", "insecure": true]) { _ in password
      }
      #expect(added?.error == nil, "\(String(describing: added))")
      let before = try presenceKeys(sandbox)
      // `"cancel": false` cancels nothing.
      #expect(try sandbox.client().call("Rekey", ["cancel": false], more: true).prompt != nil)
      let begun = try begin(sandbox, ["cancel": false]) { _ in password }
      #expect(try presenceKeys(sandbox).count == 2)
      #expect(try sandbox.client().call("Rekey", ["cancel": true], more: true).parameters["cancelled"] as? Bool == true)
      #expect(try begun.last().error == "Cancelled")
      #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/rekey"))
      try waitUntil { try presenceKeys(sandbox) == before }
      #expect(
        try sandbox.client().call("Rekey", ["cancel": true], more: true).parameters["cancelled"] as? Bool == false)
      try expectAll(sandbox, 2000)
      #expect(try sandbox.converse("RemoveSlot", ["id": 2]) { _ in password }?.error == nil)
    }
  }

  @Test(
    "one whose second store is damaged is given up, which the status and the log tell, and another one can begin",
    arguments: [nil, "UPDATE heads SET sealed = zeroblob(length(sealed))"])
  func damaged(record: String?) throws {
    try withVault { sandbox, _ throws in
      try fill(sandbox, 3000)
      let begun = try begin(sandbox) { _ in password }
      // The first 1024 items are in the second store by then.
      try waitUntil {
        let progress = try sandbox.client().call("Status").parameters["rekey"] as? WireClient.Message
        return record == nil || progress?["done"] as? Int ?? 0 > 1100
      }
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try begun.last().error == "Locked")
      if let record {
        try sandbox.editStore(record, in: "rekey")
      } else {
        try Data("no database".utf8).write(to: URL(fileURLWithPath: sandbox.store + "/rekey/vault.db"))
      }
      #expect(try sandbox.unlock(password)?.error == nil)
      // A damaged record is found when the rekey comes to it.
      try waitUntil { try sandbox.client().call("Status").parameters["rekey"] == nil }

      let status = try sandbox.client().call("Status").parameters
      let warnings = status["warnings"] as? [WireClient.Message] ?? []
      let warning = try #require(warnings.first { $0["about"] as? String == "rekey" })
      #expect((warning["text"] as? String)?.hasPrefix("a rekey was given up: the second store") == true, "\(warning)")
      #expect(status["rekey"] == nil && !FileManager.default.fileExists(atPath: sandbox.store + "/rekey"))
      let reader = try sandbox.client()
      var log = try reader.call("Audit", ["action": "rekey"], more: true)
      var entries = log.parameters["entries"] as? [WireClient.Message] ?? []
      while log.continues {
        log = try reader.reply()
        entries += log.parameters["entries"] as? [WireClient.Message] ?? []
      }
      #expect(
        entries.contains { $0["item"] as? String == "given up" && $0["outcome"] as? String == "failed" }, "\(entries)")
      try expectAll(sandbox, 3000)

      let again = try begin(sandbox) { _ in password }
      #expect(try again.last().error == nil)
      let told = try sandbox.client().call("Status").parameters["warnings"] as? [WireClient.Message] ?? []
      #expect(!told.contains { $0["about"] as? String == "rekey" }, "\(told)")
      try expectAll(sandbox, 3000)
    }
  }

  @Test("it cannot be given up while the vault is locked, and its files change nothing when they are put back later")
  func cancelledLocked() throws {
    try withVault { sandbox, _ throws in
      let (store, kept) = (sandbox.store + "/rekey", sandbox.root + "/kept")
      let manager = FileManager.default
      func cancel() throws -> WireClient.Reply {
        try sandbox.client().call("Rekey", ["cancel": true], more: true)
      }
      try fill(sandbox, 3000)
      _ = try begin(sandbox) { _ in password }
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try cancel().error == "Locked")
      #expect(manager.fileExists(atPath: store))
      try sandbox.stopDaemon()
      try manager.copyItem(atPath: store, toPath: kept)
      let row = try sandbox.copyRows("meta", where: "name = 'rekeying'")
      try sandbox.startDaemon()
      // Without a key, in a vault that was not unlocked yet, nobody can cancel the rekey either.
      #expect(try cancel().error == "Locked")
      #expect(manager.fileExists(atPath: store))
      try sandbox.unlock(password)
      #expect(try cancel().parameters["cancelled"] as? Bool == true)
      #expect(!manager.fileExists(atPath: store))

      try sandbox.stopDaemon()
      try manager.copyItem(atPath: kept, toPath: store)
      try sandbox.editStore(row[0])
      try sandbox.startDaemon()
      #expect(try cancel().parameters["cancelled"] as? Bool != true)
      #expect(try sandbox.unlock(password)?.error == nil)
      let status = try sandbox.client().call("Status")
      #expect(status.parameters["rekey"] == nil)
      #expect((status.parameters["integrity"] as? WireClient.Message)?["state"] as? String == "failed")
      #expect(!manager.fileExists(atPath: store))
      #expect(try cancel().parameters["cancelled"] as? Bool == false)
      for index in [0, 1500, 2999] {
        #expect(try value(sandbox, "folder/item \(index)") == "value \(index)")
      }
      #expect(try sandbox.client().call("Set", ["name": "new", "value": "x"]).error == "Corrupt")
    }
  }

  @Test("left half way through its questions it has done nothing")
  func halfWay() throws {
    try withVault(recovery: true) { sandbox, _ throws in
      let client = try sandbox.client()
      let reply = try client.call("Rekey", more: true)
      let id = try #require(reply.string("conversation"))
      #expect(try sandbox.client().call("Respond", ["conversation": id, "answer": password]).error == nil)
      while try client.reply().prompt?["code"] == nil {}
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try client.reply().error == "Cancelled")
      #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/rekey"))
      #expect(try sandbox.client().call("Status").parameters["rekey"] == nil)
      let wrong = try sandbox.converse("Rekey") { _ in "wrong password" }
      #expect(wrong?.error == "Locked")
      try sandbox.unlock(password)
      #expect(try sandbox.converse("Rekey") { _ in "wrong password" }?.error == "AuthenticationFailed")
    }
  }

  @Test("an answer that comes after a lock is told of that") func afterLock() throws {
    try withVault { sandbox, _ throws in
      let client = try sandbox.client()
      let id = try #require(client.call("Rekey", more: true).string("conversation"))
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try sandbox.client().call("Respond", ["conversation": id, "answer": password]).error == nil)
      var reply = try client.reply()
      while reply.error == nil { reply = try client.reply() }
      #expect(reply.error == "Locked", "\(reply)")
    }
  }
}
