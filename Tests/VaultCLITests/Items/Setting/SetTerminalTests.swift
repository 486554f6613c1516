import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("What is pasted and mistyped where a value is set on a terminal") struct SetTerminalTests {
  private static let refusal =
    "vault: several lines came at once instead of one, pasted or typed ahead, so nothing was stored"

  @Test(
    "of a text of several lines nothing is stored, shows or reaches the shell",
    arguments: [
      (["set", "x"], "{\n  \"key\": \"s3cret\",\n  \"id\": 7\n}\n"),
      (["set", "x", "--kind", "api-key"], "s3cret1\ns3cret2\n"),
      (["set", "x", "--kind", "blob"], "s3cret1\ns3cret2"), (["deposit", "x"], "s3cret1\r\ns3cret2\r\n"),
      (["set", "x"], "otpauth://totp/a?secret=MY\notpauth://totp/b?secret=MZ\n"),
    ])
  func severalLines(command: [String], text: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, command)
    try terminal.expect("Value of `x`: ")
    #expect(!terminal.echoes)
    terminal.type(text, return: false)
    try terminal.expect(Self.refusal)
    #expect(try terminal.wait() == 65)
    #expect(terminal.isCooked && terminal.unread == 0 && terminal.leftBehind == 0)
    #expect(!terminal.screen.contains("s3cret") && !terminal.screen.contains("otpauth"))
    #expect(try sandbox.run("show", "x").status == 66)
  }

  @Test("a name that has a = is asked about, because other programs take a value there") func equals() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for (answer, status) in [("n", Int32(77)), ("y", 0)] {
      let terminal = try Terminal(sandbox, ["set", "gen/y=hunter2"])
      try terminal.expect("the name `gen/y=hunter2` has a = in it, and nothing in it is taken as the value. Make an ")
      try terminal.expect("that name? [y/N] ")
      terminal.type(answer)
      for question in answer == "y" ? ["Value of `gen/y=hunter2`: ", "Again: "] : [] {
        try terminal.expect(question)
        terminal.type("v")
      }
      #expect(try terminal.wait() == status)
      #expect(try sandbox.run("show", "gen/y=hunter2").status == (answer == "y" ? 0 : 66))
    }
  }

  @Test("several lines are refused where the value is to be given again, too") func again() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x"])
    try terminal.expect("Value of `x`: ")
    terminal.type("one")
    try terminal.expect("Again: ")
    terminal.type("one\ntwo")
    try terminal.expect(Self.refusal)
    #expect(try terminal.wait() == 65)
    #expect(try sandbox.run("show", "x").status == 66)
  }

  @Test("line breaks behind a pasted line are no other lines") func breaks() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x"])
    for question in ["Value of `x`: ", "Again: "] {
      try terminal.expect(question)
      terminal.type("hunter2\r\n \n", return: false)
    }
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "x"]) == "hunter2")
  }

  @Test("an update of a name that is not there asks where another is nearly called so") func mistyped() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "mail/password"], stdin: "1")
    let no = try Terminal(sandbox, ["set", "mail/pasword", "--update"])
    // The question is longer than the terminal is wide, so expect it in two parts.
    try no.expect("There is no item `mail/pasword` to update; did you mean `mail/password`? ")
    try no.expect("[y/N] ")
    no.type("")
    try no.expect("vault: no item `mail/pasword`; did you mean `mail/password`?")
    #expect(try no.wait() == 66)
    #expect(try sandbox.run("show", "mail/pasword").status == 66)
    // A generated item is made without a question, and a message says so.
    let made = try Terminal(sandbox, ["set", "mail/pasword", "--update", "--generate"])
    try made.expect("vault: made `mail/pasword`: it did not exist")
    try made.expect("vault: did you mean `mail/password`?")
    #expect(try made.wait() == 0)
    // If no similar name exists, nobody is asked.
    let new = try Terminal(sandbox, ["set", "quite/another", "--update"])
    for question in ["Value of `quite/another`: ", "Again: "] {
      try new.expect(question)
      new.type("hunter2")
    }
    try new.expect("vault: made `quite/another`: it did not exist")
    #expect(try new.wait() == 0)
    #expect(!new.screen.contains("did you mean"))
  }

  @Test("a proof that nobody can give is asked about") func proof() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for (answer, status) in [("n", Int32(77)), ("y", 0)] {
      let terminal = try Terminal(sandbox, ["set", "x", "--require", "biometry", "--generate"])
      try terminal.expect("Nobody can give the proof `biometry` here now")
      try terminal.expect("be read. Store it anyway? [y/N] ")
      terminal.type(answer)
      #expect(try terminal.wait() == status)
    }
    let password = try Terminal(sandbox, ["set", "y", "--require", "password", "--generate"])
    #expect(try password.wait() == 0)
    #expect(!password.screen.contains("proof"))
  }

  @Test(
    "what is generated for a key is told which styles there are",
    arguments: [("sign", "ed25519, p256, rsa3072, rsa4096"), ("jwt", "ed25519, p256, rsa3072, rsa4096, hmac256")])
  func styles(use: String, styles: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let outcome = try sandbox.run("set", "x", "--use", use, "--generate")
    #expect(outcome.status == 65 && outcome.errors.hasSuffix("; for \(use) give --generate one of \(styles)\n"))
    try sandbox.must(["set", "x", "--use", use, "--generate", "ed25519"])
    let update = try sandbox.run("set", "x", "--update", "--generate")
    #expect(update.status == 65 && update.errors.hasSuffix("; for \(use) give --generate one of \(styles)\n"))
  }

  @Test("the time at which an item expires is told in local time") func expiry() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x", "--generate", "--expires", "2099-01-31"])
    try terminal.expect("vault: stored `x`, version 1; it expires at 2099-01-31 00:00:00+00:00")
    #expect(try terminal.wait() == 0)
    let past = ["set", "x", "--update", "--keep-value", "--expires", "2020-01-31", "--expired"]
    let passed = try Terminal(sandbox, past)
    try passed.expect("vault: changed `x`; its value stays, version 1; it expired at 2020-01-31 00:00:00+00:00")
    #expect(try passed.wait() == 0)
  }

  @Test("a line break that is left out is not told where nothing is stored") func leftOut() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "x"], stdin: "1")
    let line = try sandbox.write("hunter2\n", to: "line")
    let terminal = try Terminal(sandbox, ["set", "x"], stdin: line)
    #expect(try terminal.wait() == 73)
    #expect(!terminal.screen.contains("line break"))
  }

  @Test("no advice on an empty value is one that is refused then") func empty() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for (kind, advice) in [("password", "an item of kind password is never empty"), ("note", "give --allow-empty")] {
      try sandbox.must(["set", kind, "--kind", kind], stdin: "1")
      let outcome = try sandbox.run("set", kind, "--update", stdin: "")
      #expect(outcome.status == 65 && outcome.errors.contains(advice), "\(outcome)")
    }
  }
}
