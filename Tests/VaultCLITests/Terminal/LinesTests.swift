import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("A value of several lines, typed on a terminal") struct LinesTests {
  private static let question = ", ended by control-D on an empty line:\r\n"

  @Test("a note is typed line by line, shows, and ends with control-D") func note() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "diary", "--kind", "note"])
    try terminal.expect("Value of `diary`" + Self.question)
    #expect(terminal.echoes)
    terminal.type("first")
    terminal.type("")
    terminal.type("secx\u{7F}ond")
    try terminal.expect("ond\r\n")
    terminal.control("d")
    try terminal.expect("vault: stored `diary`, version 1")
    #expect(try terminal.wait() == 0)
    #expect(terminal.isCooked)
    #expect(try sandbox.must(["get", "diary"]) == "first\n\nsecond\n")
    // Without `--kind`, the item's own kind decides.
    let again = try Terminal(sandbox, ["set", "diary", "--update"])
    try again.expect(Self.question)
    again.type("other\nlines")
    try again.expect("lines\r\n")
    again.control("d")
    #expect(try again.wait() == 0)
    #expect(try sandbox.must(["get", "diary"]) == "other\nlines\n")
  }

  @Test("a key is pasted whole, does not show, and its lines are counted") func key() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let made = try sandbox.run(
      ["-c", "cd; ssh-keygen -q -t ed25519 -N '' -f key </dev/null && cat key"], program: "/bin/sh")
    try #require(made.status == 0, "\(made)")
    let terminal = try Terminal(sandbox, ["set", "ssh", "--kind", "ssh-key"])
    try terminal.expect(Self.question)
    #expect(!terminal.echoes)
    terminal.type("nonsense", return: false)
    terminal.control("u")
    terminal.type(made.output, return: false)
    terminal.control("d")
    try terminal.expect("\(made.output.split(separator: "\n").count) lines.\r\n")
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("BEGIN") && terminal.isCooked)
    #expect(try sandbox.must(["get", "ssh"]) == made.output)
  }

  @Test("nothing at all is a change of mind, and so is control-C, which leaves the terminal as it was") func given()
    throws
  {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for (kind, echoes) in [("note", true), ("tls-key", false)] {
      let empty = try Terminal(sandbox, ["set", "x", "--kind", kind])
      try empty.expect(Self.question)
      empty.control("d")
      try empty.expect("vault: canceled")
      #expect(try empty.wait() == 77)
      let interrupted = try Terminal(sandbox, ["set", "x", "--kind", kind])
      try interrupted.expect(Self.question)
      #expect(interrupted.echoes == echoes)
      interrupted.type("some text")
      interrupted.control("c")
      #expect(try interrupted.wait() == 128 + SIGINT)
      #expect(interrupted.isCooked)
    }
    #expect(try sandbox.run("show", "x").status == 66)
  }

  @Test("a line that is longer than what the kernel hands over is refused, and not cut") func longLine() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for (count, status) in [(4094, 0), (4095, 65), (5000, 65)] as [(Int, Int32)] {
      let terminal = try Terminal(sandbox, ["set", "x", "--kind", "note", "--update"])
      try terminal.expect(Self.question)
      terminal.type("ab")
      try terminal.expect("ab\r\n")
      terminal.type(String(repeating: "y", count: count))
      if status == 0 { terminal.control("d") }
      #expect(try terminal.wait() == status, "\(count)")
      if status == 65 { #expect(terminal.screen.contains("line 2 is too long to be typed")) }
    }
    #expect(try sandbox.must(["get", "x"]).utf8.count == 3 + 4095)
  }

  @Test("what was typed stays when the program is stopped and goes on") func stopped() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x", "--kind", "note"])
    try terminal.expect(Self.question)
    terminal.type("kept")
    try terminal.expect("kept\r\n")
    terminal.signal(SIGCONT)
    try terminal.expect("(1 line so far)\r\n")
    terminal.type("more")
    try terminal.expect("more\r\n")
    terminal.control("d")
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "x"]) == "kept\nmore\n")
  }
}
