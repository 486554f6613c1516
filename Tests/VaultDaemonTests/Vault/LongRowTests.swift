import Foundation
import Testing
import VaultTesting

/// Rows longer than SQLite may read here, in the tables that are searched by name.
@Suite("A row that somebody made megabytes long") struct LongRowTests {
  private let password = "correct horse battery"

  /// Makes a vault with an item, and edits its store while the daemon is stopped.
  private func edited(_ sql: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(password)
    #expect(try sandbox.client().call("Set", ["name": "a", "value": "secret"]).error == nil)
    try sandbox.stopDaemon()
    try sandbox.editStore(sql)
    try sandbox.startDaemon()
    return sandbox
  }

  @Test(
    "beside those of the vault keeps nobody from its items, is found by the check, and is left out of what is saved",
    arguments: ["meta", "keys"])
  func beside(table: String) throws {
    let sandbox = try edited("INSERT INTO \(table) VALUES('aaa', zeroblob(3000000))")
    defer { sandbox.close() }
    #expect(try sandbox.unlock(password)?.error == nil)
    #expect(try sandbox.client().call("Get", ["name": "a"]).string("value") == "secret")
    let check = try sandbox.run(["verify"])
    #expect(check.status == 65 && check.output.contains(table == "meta" ? "a fact" : "the wrapped key"), "\(check)")
    #expect(try sandbox.client().call("Set", ["name": "b", "value": "2"]).error == "Corrupt")
    let saved = sandbox.home + "/saved"
    _ = try sandbox.run(["salvage", saved])
    let other = try Sandbox()
    defer { other.close() }
    try other.startDaemon(config: "idle = off")
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: saved)))
    #expect(try other.restore(bytes, secret: password).error == nil)
    #expect(try other.unlock(password)?.error == nil)
    try other.awaitCheck()
    #expect(try other.client().call("Get", ["name": "a"]).string("value") == "secret")
  }

  @Test("in the place of one that is needed is told, with what to do") func instead() throws {
    for (place, reason) in [
      ("keys SET sealed = zeroblob(3000000) WHERE name = 'when-unlocked'", "the key when-unlocked cannot be read"),
      ("meta SET value = zeroblob(3000000) WHERE name = 'vault-id'", "the vault's identity cannot be read"),
    ] {
      let sandbox = try edited("UPDATE " + place)
      defer { sandbox.close() }
      let outcome = try sandbox.run(["unlock", "--password-stdin"], stdin: Array("\(password)\n".utf8))
      #expect(outcome.status == 65 && outcome.errors.contains(reason), "\(outcome)")
      #expect(outcome.errors.contains("restore a backup"), "\(outcome)")
    }
  }
}
