import Foundation
import Testing
import VaultTesting

/// The program vault-agent beside the real fprintd, in a user's vault.
@Suite("The agent and fingers", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct AgentFingerTests {
  @Test("a finger is all that is needed: the agent shows what it is for, and takes that back") func finger() throws {
    let vault = try UserVault()
    defer { vault.close() }
    let reader = try FingerprintStand(in: vault.sandbox)
    try reader.enrol(vault.user.name, print: "finger-A")
    try vault.make()
    #expect(try vault.addSlot("file", ["insecure": true]).reply?.error == nil)
    _ = try vault.unlock(["method": "password"], typing: [vault.password])
    #expect(try vault.client().call("Set", ["name": "door", "value": "hunter3"]).error == nil)
    try vault.lock()
    let agent = try vault.terminal("agent", "--faces", "terminal")
    try wait(for: "the agent") { try (vault.client().call("Status").parameters["agents"] as? [Any])?.isEmpty == false }

    let asking = try vault.client(in: "asking")
    _ = asking.send(frame: #"{"method":"io.vaultd.Vault.Get","parameters":{"name":"door","ask":true}}"#)
    try agent.expect("asks to unlock the vault\r\n")
    try agent.expect("Fingerprint or login password to unlock the vault\r\n")
    try agent.expect("Swipe your right index finger across the fingerprint reader\r\n")
    try agent.expect("(return: not now)")
    try reader.touch("finger-B")
    try agent.expect("Failed to match fingerprint")
    try agent.expect("Swipe your right index finger across the fingerprint reader\r\n")
    try agent.expect("(return: not now)")
    try reader.touch("finger-A")
    try agent.expect("it is unlocked")
    #expect(try asking.reply().string("value") == "hunter3")
    #expect(!agent.echoes)

    // The person presses Return instead of giving a finger.
    try vault.lock()
    _ = asking.send(frame: #"{"method":"io.vaultd.Vault.Get","parameters":{"name":"door","ask":true}}"#)
    try agent.expect("Swipe your right index finger across the fingerprint reader\r\n")
    try agent.expect("(return: not now)")
    agent.type("")
    let end = try asking.reply()
    #expect(end.error == "Cancelled", "\(end) \(agent.screen)")
  }
}
