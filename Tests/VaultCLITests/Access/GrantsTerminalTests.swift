import Testing
import VaultTesting

@Suite("vault grants on a terminal") struct GrantsTerminalTests {
  @Test("tells grants that are all in use from none") func unused() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    func told(_ words: [String]) throws -> String {
      let terminal = try Terminal(sandbox, ["grants"] + words)
      #expect(try terminal.wait() == 0)
      return terminal.screen
    }
    #expect(try told(["--unused", "1d"]).contains("vault: no grants"))
    try Terminal.grant(sandbox, "unit:a.service", "web")
    let used = "vault: every grant was used since then, or is newer"
    for words in [[], ["--on", "web"], ["--on", "w*"], ["--for", "unit:a.service"]] {
      #expect(try told(["--unused", "1d"] + words).contains(used), "\(words)")
    }
    #expect(try told(["--unused", "1d", "--on", "other/*"]).contains("vault: no grants"))
  }
}
