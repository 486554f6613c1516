import Glibc
import Testing
import VaultTesting

@Suite("The trash of a vault that stays unlocked") struct TrashClearingTests {
  private let password = "correct horse battery"

  private func withTrash(_ config: String, _ body: (Sandbox) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: config)
    try sandbox.unlock(password)
    #expect(try sandbox.client().call("Set", ["name": "a", "value": "v"]).error == nil)
    #expect(try sandbox.client().call("Delete", ["names": ["a"]]).error == nil)
    try body(sandbox)
  }

  private func count(_ sandbox: Sandbox) throws -> Int {
    try (sandbox.client().call("Find", ["trash": true]).parameters["items"] as? [WireClient.Message])?.count ?? -1
  }

  @Test("goes by itself, though nothing more is deleted and nobody unlocks") func byItself() throws {
    try withTrash("idle = off\ntrash = 1s\n") { sandbox in
      // Only the store's own writes make it age, so wait for these.
      while try count(sandbox) != 0 { usleep(50_000) }
      #expect(try sandbox.client().call("Undelete", ["name": "a"]).error == "NoSuchItem")
    }
  }

  @Test("goes at an unlock, when it has come of age meanwhile") func atUnlock() throws {
    try withTrash("idle = off\ntrash = 1h\n") { sandbox in
      #expect(try sandbox.client().call("Lock").error == nil)
      try sandbox.configure("idle = off\ntrash = off\n")
      try sandbox.signalDaemon(SIGHUP)
      // A locked vault writes nothing, so the item is still there.
      #expect(try sandbox.client().call("Status").error == nil)
      #expect(try count(sandbox) == 1)
      try sandbox.unlock(password)
      while try count(sandbox) != 0 { usleep(50_000) }
    }
  }

  @Test("goes when new settings have none, however much it is") func settings() throws {
    try withTrash("idle = off\n") { sandbox in
      let names = (0..<200).map { "item\($0)" }
      for name in names {
        #expect(try sandbox.client().call("Set", ["name": name, "value": "v"]).error == nil)
      }
      for part in [names[..<100], names[100...]] {
        #expect(try sandbox.client().call("Delete", ["names": Array(part)]).error == nil)
      }
      #expect(try count(sandbox) >= 1)
      try sandbox.configure("idle = off\ntrash = off\n")
      try sandbox.signalDaemon(SIGHUP)
      while try count(sandbox) != 0 { usleep(50_000) }
    }
  }
}
