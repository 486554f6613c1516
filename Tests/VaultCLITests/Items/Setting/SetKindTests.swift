import Foundation
import Testing
import VaultTesting

@Suite("The kind of what is stored on a terminal") struct SetKindTests {
  private static let value = "Value of `x`: "
  private static let uri = "otpauth://totp/Example:ana?secret=JBSWY3DPEHPK3PXP&issuer=Example"

  private func shown(_ sandbox: Sandbox) throws -> [String] {
    try sandbox.must(["show", "x"]).split(separator: "\n").map(String.init)
  }

  @Test("a secret of one-time codes is asked for once, and then for its kind, which is the one that it looks like")
  func otpauth() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x"])
    try terminal.expect(Self.value)
    #expect(!terminal.echoes)
    terminal.type(Self.uri)
    try terminal.expect("It looks like the secret of one-time codes (otpauth://). Its kind (Enter for totp): ")
    terminal.type("")
    try terminal.expect("vault: stored `x`, version 1")
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("JBSW") && terminal.isCooked)
    let lines = try shown(sandbox)
    #expect(lines.contains("kind: totp") && lines.contains("issuer: Example") && lines.contains("account: ana"))
  }

  @Test("the kind of a file's content is asked for, too") func file() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let path = try sandbox.write(Self.uri, to: "uri")
    let terminal = try Terminal(sandbox, ["set", "x", "--file", path])
    try terminal.expect("It looks like the secret of one-time codes (otpauth://). Its kind (Enter for totp): ")
    terminal.type("")
    #expect(try terminal.wait() == 0)
    #expect(try shown(sandbox).contains("kind: totp"))
  }

  @Test("another kind can be said, and what is none is asked for again") func another() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x"])
    try terminal.expect(Self.value)
    terminal.type(Self.uri)
    try terminal.expect("(Enter for totp): ")
    terminal.type("spoon")
    try terminal.expect("vault: a kind is one of password, ")
    try terminal.expect("(Enter for totp): ")
    terminal.type("password")
    #expect(try terminal.wait() == 0)
    #expect(try shown(sandbox).contains("kind: password") && sandbox.must(["get", "x"]) == Self.uri)
    // Nobody is asked if the command names the kind, or if the item already has a different kind.
    try sandbox.must(["set", "x", "--update", "--kind", "note", "--keep-value"])
    try sandbox.write(Self.uri, to: "uri")
    let update = try Terminal(sandbox, ["set", "x", "--update", "--file", sandbox.home + "/uri"])
    #expect(try update.wait() == 0)
    #expect(!update.screen.contains("kind"))
  }

  @Test("giving up stores nothing") func givingUp() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x"])
    try terminal.expect(Self.value)
    terminal.type(Self.uri)
    try terminal.expect("(Enter for totp): ")
    terminal.control("d")
    try terminal.expect("vault: canceled")
    try terminal.expect("Try again with the same value (y), type it again (e), or give up (n)? ")
    terminal.control("d")
    #expect(try terminal.wait() == 77)
    #expect(try sandbox.run("show", "x").status == 66)
  }

  @Test("a key in PEM is pasted whole where a line was asked for, up to control-D") func pem() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let made = try sandbox.run(
      ["-c", "cd; ssh-keygen -q -t ed25519 -N '' -f key </dev/null && cat key"], program: "/bin/sh")
    try #require(made.status == 0, "\(made)")
    let terminal = try Terminal(sandbox, ["set", "x"])
    try terminal.expect(Self.value)
    terminal.type(made.output, return: false)
    try terminal.expect("It has several lines: end it with control-D on an empty line.")
    terminal.control("d")
    try terminal.expect("\(made.output.split(separator: "\n").count) lines.\r\n")
    try terminal.expect("It looks like PEM. Its kind (Enter for ssh-key): ")
    terminal.type("")
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("BEGIN") && terminal.isCooked)
    #expect(try shown(sandbox).contains("kind: ssh-key") && sandbox.must(["get", "x"]) == made.output)
  }

  @Test("the network's name is asked for before its passphrase, and not where it is known") func ssid() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x", "--kind", "wifi"])
    try terminal.expect("Name of the network (ssid): ")
    #expect(terminal.echoes)
    terminal.type("Ana's net")
    for question in [Self.value, "Again: "] {
      try terminal.expect(question)
      terminal.type("correct horse")
    }
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "x", "--field", "uri"]) == "WIFI:T:WPA;S:Ana's net;P:correct horse;;")
    let update = try Terminal(sandbox, ["set", "x", "--kind", "wifi", "--update"])
    for question in [Self.value, "Again: "] {
      try update.expect(question)
      update.type("battery staple")
    }
    #expect(try update.wait() == 0)
    #expect(!update.screen.contains("ssid"))
  }

  @Test("the text of a network's QR code is taken apart") func network() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x"])
    try terminal.expect(Self.value)
    terminal.type(#"WIFI:T:SAE;S:net;P:pass\;word;H:true;;"#)
    try terminal.expect("Its kind (Enter for wifi): ")
    terminal.type("")
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "x"]) == "pass;word")
    let lines = try shown(sandbox)
    #expect(["attr hidden: true", "attr security: SAE", "attr ssid: net"].allSatisfy { lines.contains($0) })
  }

  @Test("what is refused is not lost: another kind takes it, or it is given again") func refused() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let question = "Type it again (e), give it another kind (k), or give up (n)? "
    let terminal = try Terminal(sandbox, ["set", "x", "--kind", "pairing-code"])
    for question in [Self.value, "Again: "] {
      try terminal.expect(question)
      terminal.type("hunter2")
    }
    try terminal.expect("vault: not a valid value for kind pairing-code")
    for answer in ["", "hunter2", "e"] {
      try terminal.expect(question)
      #expect(!terminal.echoes)
      terminal.type(answer)
    }
    for question in [Self.value, "Again: "] {
      try terminal.expect(question)
      terminal.type("hunter3")
    }
    // Control-C and an empty line leave the value as it is.
    for leave in [{ terminal.control("c") }, { terminal.type("") }] {
      try terminal.expect(question)
      terminal.type("k")
      try terminal.expect("Its kind: ")
      leave()
    }
    try terminal.expect(question)
    terminal.type("k")
    try terminal.expect("Its kind: ")
    terminal.type("password")
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "x"]) == "hunter3" && shown(sandbox).contains("kind: password"))
    let given = try Terminal(sandbox, ["set", "y", "--kind", "totp"])
    for question in ["Value of `y`: ", "Again: "] {
      try given.expect(question)
      given.type("!!")
    }
    try given.expect(question)
    given.control("d")
    #expect(try given.wait() == 65)
    #expect(try sandbox.run("show", "y").status == 66)
  }

  @Test("without a person nothing is asked, and what looks like more is a password") func unattended() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "x"], stdin: Self.uri)
    #expect(try shown(sandbox).contains("kind: password"))
  }
}
