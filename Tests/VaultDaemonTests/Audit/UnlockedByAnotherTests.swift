import Testing
import VaultTesting

@Suite("A call of Unlock that another one forestalls, in the audit log") struct UnlockedByAnotherTests {
  @Test("is there as a call that another one has unlocked the vault for") func forestalled() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    let waiting = try sandbox.client()
    let asked = try waiting.call("Unlock", ["method": "password"], more: true)
    try #require(asked.parameters["prompt"] != nil, "\(asked)")
    try sandbox.unlock("correct horse battery")
    #expect(try waiting.reply().error == nil)
    let log = try sandbox.client().call("Audit", more: true)
    let entries = log.parameters["entries"] as? [[String: Any]] ?? []
    let told = entries.map { "\($0["action"] ?? "") \($0["outcome"] ?? "") \($0["item"] ?? "") \($0["detail"] ?? "")" }
    #expect(told.contains("call ok io.vaultd.Vault.Unlock unlocked by another call"), "\(told)")
    #expect(told.count { $0.hasPrefix("unlock ok by ") } == 1, "\(told)")
  }
}
