import Foundation
import Testing
import VaultTesting

/// The keys and slots from before a rekey, put back beside the items from after it.
@Suite("The keys of before a rekey, put back") struct OldKeysTests {
  private let password = "correct horse battery"
  private let other = "another horse battery"
  private let floor: WireClient.Message = ["kdf_memory": 19 << 20, "kdf_passes": 2]

  private func tables(_ sandbox: Sandbox) throws -> [String] {
    try sandbox.copyRows("keys", where: "1") + sandbox.copyRows("slots", where: "1")
  }

  private func put(_ rows: [String], in sandbox: Sandbox) throws {
    for statement in ["DELETE FROM keys", "DELETE FROM slots"] + rows { try sandbox.editStore(statement) }
  }

  /// Rekeys the vault, which also makes a new recovery code.
  private func rekey(_ sandbox: Sandbox) throws {
    let begun = try sandbox.converse("Rekey") { $0["code"] as? String ?? password }
    #expect(begun?.error == nil)
    let client = try sandbox.client()
    var reply = try client.call("Rekey", more: true)
    while reply.continues, reply.prompt == nil { reply = try client.reply() }
    #expect(reply.error == nil)
    #expect(try sandbox.client().call("Status").parameters["rekey"] == nil)
  }

  private func integrity(_ sandbox: Sandbox) throws -> String? {
    while true {
      let found = try sandbox.client().call("Status").parameters["integrity"] as? WireClient.Message
      guard let state = found?["state"] as? String, state == "checking" else { return found?["state"] as? String }
    }
  }

  @Test("the vault opens to the old password, is found to be changed, and takes no change of any kind")
  func refused() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: password, config: "idle = off", recovery: true)
    try sandbox.unlock(password)
    for (name, accessible) in [("a", "when-unlocked"), ("b", "after-first-unlock"), ("c", "always")] {
      let set = try sandbox.client().call("Set", ["name": name, "value": "of \(name)", "accessible": accessible])
      #expect(set.error == nil)
    }
    try sandbox.stopDaemon()
    let old = try tables(sandbox)
    try sandbox.startDaemon()
    try sandbox.unlock(password)
    try rekey(sandbox)
    let changed = try sandbox.converse("ChangePassword", floor) {
      $0["style"] as? String == "secret" ? password : other
    }
    #expect(changed?.error == nil)
    try sandbox.stopDaemon()
    let new = try tables(sandbox)
    try put(old, in: sandbox)

    try sandbox.startDaemon()
    #expect(try sandbox.unlock(password)?.error == nil)
    #expect(try integrity(sandbox) == "failed")
    let changes: [(String, WireClient.Message)] = [
      ("Set", ["name": "new", "value": "v"]), ("Set", ["name": "a", "value": "v", "update": true]),
      ("Set", ["name": "a", "value": "v", "require": "password", "update": true]),
      ("SetMany", ["items": [["name": "new", "value": "v"]]]), ("Delete", ["names": ["a"]]),
      ("Move", ["from": "a", "to": "b2"]),
    ]
    for (method, parameters) in changes {
      let reply = try sandbox.client().call(method, parameters)
      #expect(reply.error == "Corrupt", "\(method) \(parameters): \(reply)")
    }
    let ways: [(String, WireClient.Message)] = [
      ("AddSlot", ["kind": "recovery"]), ("AddSlot", floor.merging(["kind": "password"]) { $1 }),
      ("AddSlot", floor.merging(["kind": "login"]) { $1 }), ("AddSlot", ["kind": "pam", "keystore": "memory"]),
      ("RemoveSlot", ["id": 2]), ("ChangePassword", floor), ("Rekey", [:]), ("Rekey", ["method": "recovery"]),
    ]
    for (method, parameters) in ways {
      let reply = try sandbox.converse(method, parameters) { prompt in
        prompt["code"] as? String ?? (prompt["style"] as? String == "secret" ? password : other)
      }
      #expect(reply?.error == "Corrupt", "\(method) \(parameters): \(String(describing: reply))")
    }
    try sandbox.stopDaemon()
    #expect(try tables(sandbox) == old)
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/rekey"))

    // The attempt has not damaged the vault itself.
    try put(new, in: sandbox)
    try sandbox.startDaemon()
    #expect(try sandbox.unlock(other)?.error == nil)
    #expect(try integrity(sandbox) == "ok")
    for name in ["a", "b", "c"] {
      #expect(try sandbox.client().call("Get", ["name": name]).string("value") == "of \(name)")
    }
  }
}
