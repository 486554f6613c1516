import Foundation
import Testing
import VaultTesting

@Suite("The daemon and its store's log") struct LogFoldingTests {
  @Test("a log that has grown long is folded into the store's file while the daemon runs") func folded() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    try sandbox.unlock("correct horse battery")
    let client = try sandbox.client()
    // The first commit folds the log in by itself. The later ones stay below the size at which a commit does so.
    for index in 0..<8 {
      let value = String(repeating: "v", count: 900_000)
      #expect(try client.call("Set", ["name": "\(index)", "kind": "note", "value": value]).error == nil)
    }
    // A turn of its own behind the sixth call folds the log in, and that turn has run when the last call is answered.
    #expect(try Data(contentsOf: URL(fileURLWithPath: sandbox.store + "/vault.db")).count > 4 * 900_000)
  }
}
