import Testing
import VaultTesting

@Suite("Who changes the ways in", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct WaysInTests {
  @Test("a finger or the login password that opens the vault changes none of its ways in", arguments: ["pam", "login"])
  func presence(method: String) throws {
    let vault = try UserVault(pam: PAMService.password)
    defer { vault.close() }
    try vault.make()
    let presence = try #require(try vault.addSlot("memory").reply?.integer("slot"))
    let own: WireClient.Message = ["kind": "login", "kdf_memory": 19 << 20, "kdf_passes": 2]
    let login = try vault.converse("AddSlot", own, typing: [vault.password, vault.user.password])
    #expect(login.reply?.error == nil, "\(login)")
    let opened = try vault.unlock(["method": method], typing: [vault.user.password])
    #expect(opened.reply?.error == nil && opened.reply != nil, "\(opened)")

    let slots = try Self.slots(vault)
    var changes: [(String, WireClient.Message)] = [
      ("AddSlot", ["kind": "password"]), ("AddSlot", ["kind": "recovery"]),
      ("AddSlot", ["kind": "pam", "keystore": "memory"]), ("RemoveSlot", ["id": presence]),
      ("ChangePassword", ["kind": "password"]),
    ]
    // The login password may rekey the vault and replace its own slot, because neither makes another way in.
    if method == "pam" { changes += [("Rekey", [:]), ("ChangePassword", ["kind": "login"])] }
    for (name, parameters) in changes {
      let talk = try vault.converse(
        name, parameters.merging(["method": method]) { $1 },
        typing: [vault.user.password, "another password", "another password"])
      #expect(talk.reply?.error == "MethodUnavailable" && talk.said == [], "\(name) \(parameters): \(talk)")
      #expect(
        talk.reply?.string("reason") == "only password or recovery allows a change of the slots", "\(name): \(talk)")
    }
    #expect(try Self.slots(vault) == slots)
    let removed = try vault.converse("RemoveSlot", ["id": presence], typing: [vault.password])
    #expect(removed.reply?.error == nil && removed.reply != nil, "\(removed)")
    #expect(try Self.slots(vault).count == slots.count - 1)
  }

  /// Returns the number and the kind of each slot.
  private static func slots(_ vault: UserVault) throws -> [Int: String] {
    let slots = try vault.client().call("ListSlots").parameters["slots"] as? [WireClient.Message] ?? []
    return Dictionary(uniqueKeysWithValues: slots.map { ($0["id"] as? Int ?? 0, $0["kind"] as? String ?? "") })
  }
}
