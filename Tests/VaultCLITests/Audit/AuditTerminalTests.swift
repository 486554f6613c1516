import Testing
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("The audit log and a terminal") struct AuditTerminalTests {
  /// Returns the actions since the audit log was last read, except that reading itself.
  private func actions(_ sandbox: Sandbox) throws -> [String] {
    try sandbox.must(["audit"]).split(separator: "\n").map { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      return "\(fields[3]) \(fields[4])"
    }
  }

  @Test(
    "a get on a terminal is one entry, though more is shown than the value",
    arguments: [
      ["get", "mail"], ["get", "mail", "--field", "uri"],
    ])
  func one(words: [String]) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let isNetwork = words.count > 2
    let kind = isNetwork ? ["--kind", "wifi", "--attr", "ssid=Home"] : ["--attr", "username=ana"]
    try sandbox.must(["set", "mail"] + kind, stdin: "correct horse")
    let before = try actions(sandbox)
    let terminal = try Terminal(sandbox, words)
    try terminal.expect(isNetwork ? "WIFI:T:WPA;S:Home" : "vault: username: ana\r\ncorrect horse")
    #expect(try terminal.wait() == 0)
    let new = try actions(sandbox).dropFirst(before.count)
    #expect(new.filter { !$0.hasPrefix("audit ") } == ["get mail"], "\(new)")
  }

  @Test("a count that is not recorded yet is marked, and a count of one is an event like any other")
  func counts() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let entries = [1, 2].map { #"{"number":0,"time":1,"action":"get","outcome":"ok","item":"i","count":\#($0)}"# }
    let daemon = try ScriptedDaemon(
      sandbox, ["Audit": [#"{"parameters":{"entries":[\#(entries.joined(separator: ","))]}}"#]])
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, ["audit", "--socket", daemon.socket])
    #expect(try terminal.wait() == 0)
    #expect(terminal.screen.contains("×2 waits") && !terminal.screen.contains("×1"), "\(terminal.screen)")
    #expect(terminal.screen.split(separator: "waits").count == 3, "\(terminal.screen)")
    #expect(terminal.screen.contains("  ok waits\r\n"), "an outcome is never left out: \(terminal.screen)")
  }

  @Test("a person reads what was wrong, and a program reads the outcome's name")
  func words() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["lock"])
    let terminal = try Terminal(sandbox, ["audit", "-n", "9"], environment: ["NO_COLOR": "1"])
    for secret in ["another one", password] {
      try terminal.expect("Vault password (asked by: vault audit): ")
      terminal.type(secret)
    }
    #expect(try terminal.wait() == 0)
    #expect(
      terminal.screen.contains("  wrong password\r\n") && !terminal.screen.contains("unproven"), "\(terminal.screen)")
    #expect(try sandbox.must(["audit"]).contains("\tby password “vault audit”\tunproven\n"))
    func words(_ item: String?, _ detail: String? = nil, door: String = "varlink") -> String {
      AuditReport.words(
        for: Wire.AuditEntry(
          number: 1, time: 1, action: "unlock", outcome: "unproven", door: door, item: item, detail: detail))
    }
    #expect(words("by recovery") == "wrong recovery code" && words("web", "by recovery") == "wrong recovery code")
    #expect(words("by pam") == "not recognized" && words("web", "not recognised by PAM") == "not recognized")
    #expect(words(nil) == "wrong password" && words("by login") == "wrong password")
    #expect(words("x", door: "ssh-agent") == "wrong passphrase")
  }

  @Test(
    "a question says which command asks, in words that go on from it",
    arguments: [
      "grant user:nobody a/b", "revoke user:nobody", "grants confirm", "requests forget user:nobody a", "audit",
      "audit --verify", "audit item a", "receipts a", "clock repair",
    ])
  func asker(words: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, words.split(separator: " ").map(String.init))
    try terminal.expect("(asked by: vault \(words.split(separator: " ")[0])")
    terminal.control("d")
    #expect(try terminal.wait() == 77)
  }
}
