import Foundation
import Testing
import VaultTesting

// Checks that a client starts.
extension IntegrityTests {
  @Test("a store that is as it was written has no findings") func whole() throws {
    let sandbox = try stopped()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    try sandbox.unlock(password)
    let result = try verify(sandbox)
    #expect(result.findings.isEmpty)
    #expect(result.integer("unharmed") == 3 && result.integer("harmed") == 0)
    #expect(result.strings("unchecked").isEmpty && result.strings("changed").isEmpty)
    // The records are heads, values, tags, slots, keys and the clock.
    #expect(result.integer("records") ?? 0 >= 3 + 5 + 3)
    #expect(try state(sandbox) == "ok")
  }

  struct Edit: CustomTestStringConvertible {
    var sql: String
    var kind: String
    var text: String
    var names: Set<String> = []
    var unharmed: Int
    var testDescription: String { sql }
  }

  @Test(
    "what was edited is named, with the items that it harms",
    arguments: [
      Edit(
        sql: "UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = 1", kind: "damaged",
        text: "the head of item 1 does not open", unharmed: 2),
      Edit(
        sql: "UPDATE vals SET sealed = zeroblob(length(sealed)) WHERE item = 2 AND version = 1", kind: "damaged",
        text: "version 1 of item 2 is not the one its head names", names: ["folder/b"], unharmed: 2),
      Edit(
        sql: "DELETE FROM vals WHERE item = 2", kind: "missing", text: "version 1 of item 2 is missing",
        names: ["folder/b"], unharmed: 2),
      Edit(
        sql: "DELETE FROM tags WHERE item = 3", kind: "missing",
        text: "the tag by which item 3 is found by its name is missing", names: ["c"], unharmed: 2),
      Edit(
        sql: "DELETE FROM heads WHERE id = 1", kind: "missing", text: "a tag leads to item 1, which has no head",
        unharmed: 2),
      Edit(
        sql: "INSERT INTO tags VALUES(zeroblob(16), 3, 3)", kind: "foreign",
        text: "a tag leads to item 3, where it does not belong", names: ["c"], unharmed: 2),
      Edit(
        sql: "UPDATE vals SET item = 99 WHERE item = 2", kind: "foreign",
        text: "version 1 of item 99 is there, but its item has no head", names: ["folder/b"], unharmed: 2),
      Edit(
        sql: "UPDATE slots SET record = CAST(record || x'00' AS BLOB) WHERE id = 2", kind: "damaged",
        text: "slot 2 is not the one that was stored last", unharmed: 3),
      Edit(
        sql: "DELETE FROM hashes WHERE class = 1", kind: "damaged",
        text: "the class record of when-unlocked is missing", unharmed: 3),
    ])
  func edited(_ edit: Edit) throws {
    let sandbox = try stopped()
    defer { sandbox.close() }
    try sandbox.editStore(edit.sql)
    try sandbox.startDaemon()
    #expect(try sandbox.unlock(password)?.error == nil)
    let result = try verify(sandbox)
    #expect(result.texts.contains(edit.text), "\(result.texts)")
    #expect(result.kinds.contains(edit.kind))
    #expect(result.names == edit.names)
    #expect(result.integer("unharmed") == edit.unharmed, "\(result.result)")
    #expect(try state(sandbox) == "failed")
  }

  @Test("an old head and value, or a whole old item, that is put back is named as such", arguments: [false, true])
  func replayed(whole: Bool) throws {
    let sandbox = try stopped()
    defer { sandbox.close() }
    var old = try sandbox.copyRows("heads", where: "id = 1")
    if whole { old += try sandbox.copyRows("vals", where: "item = 1") }
    try sandbox.startDaemon()
    try sandbox.unlock(password)
    let client = try sandbox.client()
    #expect(try client.call("Set", ["name": "folder/a", "value": "new", "update": true]).error == nil)
    try sandbox.stopDaemon()
    if whole { try sandbox.editStore("DELETE FROM vals WHERE item = 1") }
    for row in old { try sandbox.editStore(row) }
    try sandbox.startDaemon()
    try sandbox.unlock(password)
    let result = try verify(sandbox)
    #expect(result.strings("changed") == ["when-unlocked"])
    if whole {
      #expect(result.kinds.contains("replayed"), "\(result.texts)")
    } else {
      #expect(result.findings.contains { $0["name"] as? String == "folder/a" }, "\(result.texts)")
    }
  }

  @Test("while locked it goes as far as the keys allow, and says what it could not check") func locked() throws {
    let sandbox = try stopped()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    let cold = try verify(sandbox)
    #expect(cold.strings("unchecked") == ["when-unlocked", "after-first-unlock"])
    #expect(cold.result["reason"] as? String == "the vault was not unlocked since the daemon started")
    #expect(cold.integer("unharmed") == 1)
    #expect(try state(sandbox) == "unchecked")
    try sandbox.unlock(password)
    #expect(try state(sandbox) == "ok")
    #expect(try sandbox.client().call("Lock").error == nil)
    let locked = try verify(sandbox)
    #expect(locked.findings.isEmpty)
    #expect(locked.strings("unchecked") == ["when-unlocked"])
    #expect(locked.result["reason"] as? String == "the vault is locked")
    // The earlier result still holds.
    #expect(try state(sandbox) == "ok")
  }

  @Test("names are told while locked, unless they are to be hidden", arguments: [false, true])
  func names(hidden: Bool) throws {
    let sandbox = try stopped(config: "idle = off\nhide-names = \(hidden)")
    defer { sandbox.close() }
    try sandbox.editStore("DELETE FROM vals WHERE item = 2")
    try sandbox.startDaemon()
    try sandbox.unlock(password)
    #expect(try sandbox.client().call("Lock").error == nil)
    let result = try verify(sandbox)
    #expect(result.names == (hidden ? [] : ["folder/b"]), "\(result.findings)")
  }

  @Test("two who ask at once both hear the result, and one who leaves disturbs nobody") func together() throws {
    let sandbox = try stopped()
    defer { sandbox.close() }
    try sandbox.editStore("DELETE FROM vals WHERE item = 2")
    try sandbox.startDaemon()
    try sandbox.unlock(password)
    let (first, second) = (try sandbox.client(), try sandbox.client())
    let call = Array(#"{"method":"io.vaultd.Vault.Verify","more":true}"#.utf8) + [0]
    do { try sandbox.client().send(call) }
    first.send(call)
    second.send(call)
    for client in [first, second] {
      let result = try result(client.reply(), from: client)
      #expect(result.names == ["folder/b"])
    }
    #expect(try sandbox.client().call("Verify").error == "org.varlink.service.ExpectedMore")
  }

  @Test("without a vault there is nothing to check") func noVault() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    #expect(try sandbox.client().call("Verify", more: true).error == "NoVault")
    #expect(try integrity(sandbox).isEmpty)
  }
}
