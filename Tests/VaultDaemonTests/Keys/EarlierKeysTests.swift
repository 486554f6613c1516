import Foundation
import Testing
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultStore

@Suite("Keys that an earlier program stored") struct EarlierKeysTests {
  private static let password = "correct horse battery"

  @Test("have no public half beside their name, and it is told of the key itself, until a new value brings one")
  func publicHalf() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    let keys = try VaultKeys(of: sandbox, password: Self.password)
    try sandbox.stopDaemon()
    let pem = try sandbox.run(["genpkey", "-algorithm", "ed25519"], program: "/usr/bin/openssl").stdout
    do {
      // The item is stored without a public key, as an earlier program stored it.
      let keychain = try Keychain(opening: sandbox.store)
      try keychain.unlock(vaultKey: unsafe SecureBytes(copying: keys.vault.span.bytes))
      let change = ItemChange(name: try ItemName("old"), kind: .sshKey)
      try keychain.set(change, value: unsafe SecureBytes(copying: pem.span.bytes), now: 2000)
      #expect(try keychain.item(named: ItemName("old")).publicKey == nil)
      try keychain.close()
    }
    try sandbox.startDaemon(config: "idle = off")
    try sandbox.unlock(Self.password)
    let client = try sandbox.client()
    let item = try client.call("Show", ["name": "old"]).parameters["item"] as? WireClient.Message
    #expect(item?["use"] as? String == "ssh" && item?["key_type"] == nil)
    let expected = try sandbox.run(["pkey", "-pubout"], program: "/usr/bin/openssl", stdin: pem).output
    #expect(try client.call("PublicKey", ["name": "old"]).string("key") == expected)
    #expect(try client.call("Sign", ["name": "old", "value": "x"]).error == "WrongUse")
    #expect(try client.call("Set", ["name": "old", "update": true, "use": "sign"]).error == "InvalidValue")
    #expect(try client.call("Lock").error == nil)
    #expect(try client.call("PublicKey", ["name": "old"]).error == "Locked")
    try sandbox.unlock(Self.password)
    let text = String(decoding: pem, as: UTF8.self)
    #expect(try client.call("Set", ["name": "old", "update": true, "value": text]).integer("version") == 2)
    #expect(try client.call("Lock").error == nil)
    #expect(try client.call("PublicKey", ["name": "old"]).string("key") == expected)
  }
}
