import Testing
import VaultTesting

/// Programs without a terminal to ask on, though a person reads their messages. They are started in a session of their
/// own, as by setsid(1).
@Suite("Without a terminal to ask on") struct UnaskedTests {
  private func run(_ sandbox: Sandbox, _ words: String) throws -> (status: Int32, screen: String) {
    let terminal = try Terminal(
      sandbox, ["-c", "exec setsid -w \(Sandbox.path(of: "vault")) \(words) </dev/null"], program: "/bin/sh",
      environment: ["TERM": "xterm", "EDITOR": nil, "VISUAL": nil])
    return (try terminal.wait(), terminal.screen)
  }

  @Test("a question is exit code 75, and the message says what to do instead")
  func unlocked() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "mail"], stdin: "v")
    for (words, message) in [
      ("rm web mail", "this would delete 2 items; add --yes to confirm"),
      ("rm kind=password", "this would delete 2 items; add --yes to confirm"),
      ("set x --expires 2001-01-01 --generate", "has passed, so the item would not be served; give a later time"),
      ("pick", "no terminal to ask on; name the item"),
      ("edit web", "no terminal to ask on; name an editor that needs no terminal in $VISUAL"),
      ("passwd", "no terminal to ask on; use --password-stdin"),
      ("slot add recovery", "no terminal to ask on; use --password-stdin"),
    ] {
      let (status, screen) = try run(sandbox, words)
      #expect(status == 75 && screen.contains("vault: ") && screen.contains(message), "\(words): \(status) \(screen)")
    }
    #expect(try sandbox.must(["list"]) == "mail\nweb\n")
    try sandbox.must(["rm", "mail"])
    let (status, screen) = try run(sandbox, "trash empty")
    #expect(status == 75 && screen.contains("this would delete 1 item for good; add --yes"), "\(screen)")
  }

  @Test(
    "a locked vault is what is told, and not an option that the command has not",
    arguments: ["get web", "edit web", "set mail --generate", "totp web", "run -e A=web -- true", "audit", "rekey"])
  func locked(words: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let (status, screen) = try run(sandbox, words)
    #expect(status == 75 && screen.contains("locked") && screen.contains("`vault unlock`"), "\(status) \(screen)")
    #expect(!screen.contains("--password-stdin"))
  }
}
