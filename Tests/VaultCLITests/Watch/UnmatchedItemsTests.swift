import Testing
import VaultTesting

@Suite("A watch of names that match nothing") struct UnmatchedItemsTests {
  private static let status =
    #"{"parameters":{"state":"unlocked","cause":"start","since":1,"locks_on":[],"methods":[],"warnings":[],"#
    + #""version":"0.0.9","pid":4711}}"#

  /// Watches for an item that a caller who is no administrator does not find, and returns the exit code and the errors.
  private static func watch(_ monitor: [String]) throws -> (status: Int32, errors: String) {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let replies = ["Status": [status], "Find": [#"{"parameters":{"items":[]}}"#], "Monitor": monitor]
    let daemon = try ScriptedDaemon(sandbox, replies)
    defer { daemon.close() }
    let outcome = try sandbox.run("watch", "web/mail", "--socket", daemon.socket)
    return (outcome.status, outcome.errors)
  }

  @Test("says that it waits for one") func waits() throws {
    let state = #"{"parameters":{"event":"state","state":"unlocked","cause":"start","time":1},"continues":true}"#
    let end = #"{"error":"io.vaultd.Vault.Denied","parameters":{"reason":"your right to watch has ended"}}"#
    let outcome = try Self.watch([state, end])
    #expect(outcome.errors.contains("no item that you may find matches `web/mail` now; waiting for one"), "\(outcome)")
  }

  @Test("says only that it is denied to a caller who may watch nothing") func denied() throws {
    let denial = #"{"error":"io.vaultd.Vault.Denied","parameters":{"reason":"you have no right to watch any item"}}"#
    let outcome = try Self.watch([denial])
    #expect(outcome.status == 77 && outcome.errors.contains("you have no right to watch any item"), "\(outcome)")
    #expect(!outcome.errors.contains("waiting"), "\(outcome)")
  }
}
