import Foundation
import Glibc
import Testing
import VaultTesting

/// Another user's requests, approved through the program vault-agent.
@Suite("The agent and requests", .enabled(if: Root.isAtHand, "needs root to be another user"))
struct AgentApprovalTests {
  private static let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]

  /// Makes a machine's vault, unlocked, with the items `a` and `b`, at a socket that every user reaches.
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    let settings = try sandbox.write("", to: "vaultd.conf")
    unsafe chmod(settings, 0o600)
    try sandbox.startDaemon(arguments: [
      "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", settings,
    ])
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    for name in ["a", "b"] { try sandbox.must(["set", name], stdin: "value of \(name)") }
    try sandbox.admitEveryone()
    unsafe chmod(sandbox.root + "/config", 0o755)
    return sandbox
  }

  /// Starts another user's `get`, which waits for an agent's answer.
  private func asker(_ sandbox: Sandbox, _ item: String, _ reason: String) -> Begun {
    let get = ["get", item, "--reason", reason, "--socket", sandbox.socket]
    return Begun(sandbox, Self.nobody + [Sandbox.path(of: "vault")] + get, program: "/usr/bin/setpriv")
  }

  /// Runs `vault` with an explicit socket, because the socket's directory is no longer private to its user.
  private func vault(_ sandbox: Sandbox, _ arguments: String...) throws -> String {
    try sandbox.must(arguments + ["--socket", sandbox.socket])
  }

  private func agent(_ sandbox: Sandbox) throws -> Terminal {
    let terminal = try Terminal(sandbox, ["agent", "--faces", "terminal", "--socket", sandbox.socket])
    try wait(for: "the agent") { try vault(sandbox, "status", "--json").contains("\"pid\":\(terminal.pid),") }
    return terminal
  }

  @Test("a request is shown with subject, right, item, asker and words, and each answer does what it says")
  func answers() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try agent(sandbox)
    let first = asker(sandbox, "a", "to \u{1B}[2Jrenew")
    try terminal.expect("user:nobody asks to get `a`")
    try terminal.expect("asked by process ")
    try terminal.expect(" of user nobody")
    try terminal.expect(#"in its own words: “to \u{1b}[2Jrenew”"#)
    try terminal.expect("allow once (o), this process (s), always (a), or deny (d); Enter: not now: ")
    terminal.type("x")
    try terminal.expect("not now: ")
    terminal.type("o")
    #expect(try first.outcome().output == "value of a")

    let second = asker(sandbox, "a", "again")
    try terminal.expect("“again”")
    try terminal.expect("not now: ")
    terminal.type("d")
    let denied = try second.outcome()
    #expect(
      denied.status == 77 && denied.errors.contains("an administrator has denied this; it may be requested again in"),
      "\(denied)")

    let third = asker(sandbox, "b", "for good")
    try terminal.expect("asks to get `b`")
    try terminal.expect("not now: ")
    terminal.type("a")
    #expect(try third.outcome().output == "value of b")
    #expect(try vault(sandbox, "grants").contains("user:nobody"))
    #expect(try asker(sandbox, "b", "no question").outcome().output == "value of b")

    let audit = try vault(sandbox, "audit", "--json")
    for action in ["attend", "approve", "deny"] { #expect(audit.contains("\"action\":\"\(action)\""), "\(audit)") }
  }

  @Test("this process alone has what is allowed for it") func session() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try agent(sandbox)
    let asker = try OtherProcess(in: sandbox, uid: OtherProcess.nobody)
    let own = try asker.connect()
    try own.begin("Get", ["name": "a", "reason": "one", "ask": true])
    try terminal.expect("not now: ")
    terminal.type("s")
    #expect(try own.reply().outcome == "value of a")
    #expect(try own.call("Get", ["name": "a"]).outcome == "value of a")
    #expect(try asker.fork().connect().call("Get", ["name": "a"]).outcome == "Denied you may not do this")
  }

  @Test("another process that asks for the same meanwhile is shown before it has what the first was allowed")
  func otherAsker() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try agent(sandbox)
    let first = asker(sandbox, "a", "first")
    try terminal.expect("“first”")
    try terminal.expect("not now: ")
    let second = asker(sandbox, "a", "second")
    try wait(for: "the request") {
      try vault(sandbox, "requests", "--json").contains("\"reason\":\"second\"")
    }
    terminal.type("s")
    try terminal.expect("another process has asked for the same in the meantime")
    try terminal.expect("“second”")
    try terminal.expect("not now: ")
    terminal.type("o")
    // That answer was for one request only: the other request asks again.
    try terminal.expect("not now: ")
    terminal.type("o")
    for asker in [first, second] { #expect(try asker.outcome().output == "value of a") }
  }

  @Test("who is no administrator attends nothing, and is told so at once") func refused() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let options = ["--faces", "command", "--command", "/usr/bin/true", "--socket", sandbox.socket]
    let outcome = try sandbox.run(
      Self.nobody + [Sandbox.path(of: "vault"), "agent"] + options, program: "/usr/bin/setpriv")
    #expect(outcome.status == 77)
    #expect(
      outcome.errors == "vault-agent: \(sandbox.socket): you may not attend: this is for the vault's administrators\n")
    let audit = try vault(sandbox, "audit", "--json")
    #expect(audit.contains(#""outcome":"denied""#) && audit.contains(#""item":"io.vaultd.Vault.Attend""#), "\(audit)")
  }
}
