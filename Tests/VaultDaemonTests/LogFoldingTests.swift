import Foundation
import Testing
import VaultTesting

@Suite("The daemon and its store's log") struct LogFoldingTests {
  @Test("a log that has grown long is folded into the store's file while the daemon runs") func folded() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: "correct horse battery")
    try sandbox.unlock("correct horse battery")
    let client = try sandbox.client()
    // The first is folded in as such. The rest is less than makes a commit fold the log in.
    for index in 0..<8 {
      let value = String(repeating: "v", count: 900_000)
      #expect(try client.call("Set", ["name": "\(index)", "kind": "note", "value": value]).error == nil)
    }
    // The log is folded in in a turn of its own behind the sixth, which has come when the last is answered.
    #expect(try Data(contentsOf: URL(fileURLWithPath: sandbox.store + "/vault.db")).count > 4 * 900_000)
  }
}
