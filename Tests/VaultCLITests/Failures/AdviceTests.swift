import Foundation
import Testing
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("What a person is told beside the result") struct AdviceTests {
  @Test("a folder that is none: the nearest one, or that it is an item") func list() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "mail/ana"], stdin: "1")
    let near = try Terminal(sandbox, ["list", "mial"])
    try near.expect("vault: there is nothing in `mial`; did you mean `mail`?")
    #expect(try near.wait() == 0)
    let item = try sandbox.run("list", "mail/ana")
    #expect(item.status == 66)
    #expect(item.errors == "vault: `mail/ana` is an item, not a folder; `vault show` shows it\n")
    let none = try sandbox.run("list", "mial")
    #expect(none.status == 0 && none.output.isEmpty && none.errors.isEmpty)
  }

  @Test("a change that keeps the value makes no version") func kept() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "web", "--update", "--keep-value", "--attr", "owner=ana"])
    try terminal.expect("vault: changed `web`; its value stays, version 1")
    #expect(try terminal.wait() == 0)
  }

  @Test("a grant to a user who cannot connect, and a revocation by the name that was granted") func grant() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for (command, answer) in [
      (["grant", "user:nobody", "web"], "vault: user:nobody cannot connect to your vault"),
      (["revoke", "user:nobody", "other"], "vault: user:nobody has no such grant"),
      (["grant", "user:root", "web"], "vault: user:root may get `web`"),
    ] {
      let terminal = try Terminal(sandbox, command)
      // Each terminal is a session of its own, and needs a proof of its own.
      try terminal.expect("Vault password to administer the vault and its grants (asked by: vault")
      try terminal.expect("\(command[1])): ")
      terminal.type(password)
      try terminal.expect(answer)
      _ = try terminal.wait()
      #expect(command[1] == "user:nobody" || !terminal.screen.contains("cannot connect"))
    }
  }

  @Test("a value with control characters is kept from a terminal by helpers, too") func helpers() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    // Python's keyring carries no such value at all.
    for name in ["esc", "git/https/x.org/ana"] {
      try sandbox.must(["set", name, "--kind", "blob"], stdin: "a\u{1B}[2Jb")
    }
    for (words, input) in [
      (["password-file", "esc"], ""), (["git", "get"], "protocol=https\nhost=x.org\n"),
    ] {
      try sandbox.write(input, to: "input")
      let terminal = try Terminal(sandbox, ["helper"] + words, stdin: sandbox.home + "/input")
      try terminal.expect("is not text, and a terminal acts on such bytes; send it to a file or a pipe")
      #expect(try terminal.wait() == 64)
      #expect(try sandbox.must(["helper"] + words, stdin: input).contains("a\u{1B}[2Jb"))
    }
  }

  @Test("no code of a counter is made for a clipboard that is not there") func counter() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(
      ["set", "hotp", "--kind", "totp"], stdin: "otpauth://hotp/a?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=3")
    let none: [String: String?] = ["DISPLAY": nil, "WAYLAND_DISPLAY": nil]
    for command in [["totp", "hotp", "--clip"], ["get", "web", "--clip"]] {
      #expect(try sandbox.run(command, environment: none).status == 69)
    }
    // RFC 4226, appendix D.
    #expect(try sandbox.must(["totp", "hotp"]) == "969429")
  }

  @Test("the times of a read of the log are shown as all others: with their offset on a terminal, else in UTC")
  func audit() {
    let read = "read since 1795788315, until 1795788315"
    let local = LocalTime.local(1_795_788_315)
    #expect(AuditReport.withTimes(read, LocalTime.local) == "read since \(local), until \(local)")
    let elsewhere = AuditReport.withTimes(read) { LocalTime.text($0, to: -1) }
    #expect(elsewhere == "read since 2026-11-27T14:05:15Z, until 2026-11-27T14:05:15Z")
    #expect(AuditReport.withTimes("read item a, now, action get") == "read item a, now, action get")
    func granted(_ detail: String) -> String { AuditReport.detail(detail, of: "grant") { "<\($0)>" } }
    #expect(granted("a/** get,watch until 4102444800") == "a/** get,watch until <4102444800>")
    #expect(granted("a until 5 get as key until 4102444800") == "a until 5 get as key until <4102444800>")
    for other in ["a get", "until 5 get", "a get until"] { #expect(granted(other) == other) }
  }

  @Test("a name that begins with a dash, and what other programs call import and export") func words() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for command in ["get", "set", "show"] {
      let outcome = try sandbox.run(command, "-dash")
      #expect(outcome.status == 64 && outcome.output.isEmpty)
      #expect(outcome.errors.contains("a name that begins with a dash comes after --"))
    }
    #expect(try sandbox.run("import").errors.contains("`vault help import`"))
    #expect(try sandbox.must(["help", "import"]).contains("`vault set --batch`"))
    #expect(try sandbox.must(["help", "export"]).contains("`vault backup`"))
    // Joined short options are no name.
    #expect(try sandbox.run("get", "-h").status == 0)
  }
}
