import Foundation
import Testing
import VaultTesting

@Suite("Salvaging") struct SalvagingTests {
  private let password = "correct horse battery"

  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(password)
    let items = ["a", "b", "c"].map { ["name": $0, "value": $0] }
    #expect(try sandbox.client().call("SetMany", ["items": items]).error == nil)
    return sandbox
  }

  /// Returns the last reply of `Salvage`, and the losses reported before it.
  private func salvage(_ client: WireClient) throws -> (reply: WireClient.Reply, losses: [String]) {
    var reply = try client.call("Salvage", more: true)
    var losses: [String] = []
    while true {
      let some = reply.parameters["losses"] as? [WireClient.Message] ?? []
      losses += some.compactMap { $0["text"] as? String }
      guard reply.continues else { return (reply, losses) }
      reply = try client.reply()
    }
  }

  private func isThere(_ sandbox: Sandbox) -> Bool {
    FileManager.default.fileExists(atPath: sandbox.store + "/salvage/vault.db")
  }

  /// Returns the first reply of `Backup` of the salvaged store.
  private func backup(_ client: WireClient) throws -> WireClient.Reply {
    let call = #"{"method":"io.vaultd.Vault.Backup","parameters":{"salvaged":true},"upgrade":true}"#
    client.send(Array(call.utf8) + [0])
    return try client.reply()
  }

  @Test("it needs an open vault, and its backup needs it") func locked() throws {
    let empty = try Sandbox()
    defer { empty.close() }
    try empty.startDaemon()
    #expect(try salvage(empty.client()).reply.error == "NoVault")
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let none = try backup(sandbox.client())
    #expect(none.error == "org.varlink.service.InvalidParameter" && none.string("parameter") == "salvaged")
    #expect(try sandbox.client().call("Lock").error == nil)
    #expect(try salvage(sandbox.client()).reply.error == "Locked")
    #expect(!isThere(sandbox))
  }

  @Test("what was saved waits for its backup, and goes with the next lock, or with the next start") func lifetime()
    throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let client = try sandbox.client()
    let (reply, losses) = try salvage(client)
    #expect(reply.integer("saved") == 3 && reply.integer("omitted") == 0 && losses.isEmpty)
    #expect(isThere(sandbox))
    #expect(try salvage(client).reply.integer("saved") == 3)
    #expect(try client.call("Lock").error == nil)
    #expect(!isThere(sandbox))
    try sandbox.unlock(password)
    #expect(try salvage(client).reply.integer("saved") == 3)
    _ = try sandbox.stopDaemon(signal: 9)
    #expect(isThere(sandbox))
    try sandbox.startDaemon()
    #expect(!isThere(sandbox))
    #expect(try backup(sandbox.client()).error == "org.varlink.service.InvalidParameter")
  }

  @Test("what was saved has the ways in of then, and so goes with the next change of them") func slots() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let added = try sandbox.converse("AddSlot", ["kind": "recovery"]) { $0["code"] as? String ?? password }
    #expect(added?.error == nil)
    let client = try sandbox.client()
    #expect(try salvage(client).reply.integer("saved") == 3)
    #expect(isThere(sandbox))
    #expect(try sandbox.converse("RemoveSlot", ["id": 2]) { _ in password }?.error == nil)
    #expect(!isThere(sandbox))
    #expect(try backup(sandbox.client()).error == "org.varlink.service.InvalidParameter")
    #expect(try salvage(client).reply.integer("saved") == 3)
    #expect(try backup(sandbox.client()).integer("size") ?? 0 > 0)
  }

  @Test("what waits for its backup keeps nobody from giving the vault a new key, which ends the wait") func rekey()
    throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let client = try sandbox.client()
    #expect(try salvage(client).reply.integer("saved") == 3)
    #expect(isThere(sandbox))
    #expect(try sandbox.converse("Rekey") { _ in password }?.error == nil)
    // The first call may have been answered at the beginning of the rekey.
    let waiting = try sandbox.client()
    var reply = try waiting.call("Rekey", more: true)
    while reply.continues, reply.prompt == nil { reply = try waiting.reply() }
    #expect(try sandbox.client().call("Status").parameters["rekey"] == nil)
    #expect(!isThere(sandbox))
    let added = try sandbox.converse("AddSlot", ["kind": "recovery"]) { $0["code"] as? String ?? password }
    #expect(added?.error == nil)
  }

  @Test("whatever is lost is named, and the vault goes on serving the rest") func lost() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try sandbox.stopDaemon()
    try sandbox.editStore(
      "UPDATE heads SET value = zeroblob(length(value)) WHERE id = 1",
      "UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = 2")
    try sandbox.startDaemon()
    try sandbox.unlock(password)
    let (reply, losses) = try salvage(sandbox.client())
    #expect(reply.integer("saved") == 1)
    #expect(losses.count == 2 && losses[0].hasPrefix("item 1 is lost") && losses[1].hasPrefix("item 2 is lost"))
    #expect(try sandbox.client().call("Get", ["name": "c"]).string("value") == "c")
    let begun = try sandbox.client()
    #expect(try backup(begun).integer("size") ?? 0 > 0)
  }
}
