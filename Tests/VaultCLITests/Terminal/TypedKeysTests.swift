import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("Keys and pastes that are no part of an answer") struct TypedKeysTests {
  @Test(
    "a paste that is longer than a question takes is dropped whole, and neither shows nor reaches the shell",
    arguments: [
      (["unlock"], "Vault password: ", 70_000, "\r\nvault: the text is too long to be typed; give it"),
      (["set", "x"], "Value of `x`: ", 1_100_000, "\r\nvault: the text has more than 1048576 bytes; store"),
      (
        ["set", "x", "--kind", "tls-key"], "empty line:\r\n", 1_100_000,
        "\r\nvault: the text has more than 1048576 bytes; store"
      ),
    ])
  func tooLong(command: [String], question: String, count: Int, refusal: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: command[0] != "unlock")
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, command)
    try terminal.expect(question)
    // The terminal takes what is typed only as fast as the program reads it.
    terminal.type(String(repeating: "s3cret", count: count / 6) + "\necho s3cret\n", return: false)
    try terminal.expect(refusal)
    #expect(try terminal.wait() == 65)
    #expect(terminal.isCooked && terminal.leftBehind == 0)
    #expect(!terminal.screen.contains("s3cret"))
  }

  @Test("what follows a line that is too long for the kernel does not reach the shell, either") func longLine() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x", "--kind", "note"])
    try terminal.expect("empty line:\r\n")
    terminal.type(String(repeating: "y", count: 5000) + "\necho one\necho two\n", return: false)
    try terminal.expect("\r\nvault: line 1 is too long to be typed")
    #expect(try terminal.wait() == 65)
    #expect(terminal.isCooked && terminal.leftBehind == 0)
  }

  @Test("control-C ends the question also where more arrives with it") func burst() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for command in [["set", "x"], ["set", "x", "--kind", "note"], ["get", "web"]] {
      if command[0] == "get" { try sandbox.must(["lock"]) }
      let terminal = try Terminal(sandbox, command)
      try terminal.expect(command[0] == "get" ? "vault get web): " : command.count > 2 ? "empty line:\r\n" : "`x`: ")
      terminal.type("part\u{3}REST\n", return: false)
      #expect(try terminal.wait() == 128 + SIGINT)
      #expect(terminal.isCooked && !terminal.screen.contains("Again"))
    }
  }

  @Test("the marks around a paste are left out") func marks() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let unlock = try Terminal(sandbox, ["unlock"])
    try unlock.expect("Vault password: ")
    unlock.type("\u{1B}[200~\(password)\u{1B}[201~")
    #expect(try unlock.wait() == 0)
    let set = try Terminal(sandbox, ["set", "x"])
    for question in ["Value of `x`: ", "Again: "] {
      try set.expect(question)
      set.type("\u{1B}[200~hun~ter2\n\u{1B}[201~", return: false)
    }
    #expect(try set.wait() == 0)
    #expect(try sandbox.must(["get", "x"]) == "hun~ter2")
  }

  /// Types the same unusable line three times, after which the command ends.
  private func expectEnd(
    _ sandbox: Sandbox, _ command: [String], _ question: String, typing line: String, _ message: String
  ) throws {
    let terminal = try Terminal(sandbox, command)
    for _ in 1...3 {
      try terminal.expect(question)
      terminal.type(line)
    }
    try terminal.expect(message)
    #expect(try terminal.wait() == 65)
  }

  @Test("an arrow key in a hidden line is told, and the line asked for again") func arrows() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x"])
    try terminal.expect("Value of `x`: ")
    terminal.type("hun\u{1B}[Dter2")
    try terminal.expect("vault: a key that types no character was pressed, such as an arrow key\r\n")
    for question in ["Value of `x`: ", "Again: "] {
      try terminal.expect(question)
      terminal.type("hunter2")
    }
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "x"]) == "hunter2")
    let last = "vault: a key that types no character was pressed three times, such as an arrow key; start again"
    try expectEnd(sandbox, ["set", "y"], "Value of `y`: ", typing: "\u{1B}[A", last)
  }

  @Test(
    "an arrow key in a password is told, costs no try, and the password asked for again", arguments: ["get", "unlock"])
  func arrowsInPassword(command: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, command == "get" ? ["get", "web"] : ["unlock"])
    let question = command == "get" ? "Vault password (asked by: vault get web): " : "Vault password: "
    try terminal.expect(question)
    terminal.type("\(password)\u{1B}[D")
    try terminal.expect("vault: a key that types no character was pressed, such as an arrow key\r\n")
    try terminal.expect(question)
    // Control-W deletes the word that was mistyped.
    let words = password.split(separator: " ")
    terminal.type("\(words.dropLast().joined(separator: " ")) wrogn \u{17}\(words[words.count - 1])")
    try terminal.expect(command == "get" ? "hunter2" : "vault: unlocked until")
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("wrong"))
    try sandbox.must(["lock"])
    let last = "vault: a key that types no character was pressed three times, such as an arrow key; start again"
    try expectEnd(sandbox, ["unlock"], "Vault password: ", typing: "\u{1B}[A", last)
  }

  @Test("Return alone is told, costs no try, and the password asked for again") func returnAlone() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["unlock"])
    for _ in 1...2 {
      try terminal.expect("Vault password: ")
      terminal.type("")
      try terminal.expect("vault: nothing was typed\r\n")
    }
    try terminal.expect("Vault password: ")
    terminal.type(password)
    try terminal.expect("vault: unlocked until")
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("wrong"))
    try sandbox.must(["lock"])
    let last = "vault: nothing was typed three times; start again"
    try expectEnd(sandbox, ["unlock"], "Vault password: ", typing: "", last)
  }

  @Test("each reason for another try has its own tries") func tries() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    try sandbox.startDaemon()
    let terminal = try Terminal(sandbox, ["init", "--no-recovery"] + floorOptions)
    for weak in ["short", "password123"] {
      try terminal.expect("New vault password: ")
      terminal.type(weak)
    }
    for again in ["Tr0mbone-kettel", "Tr0mbone-kettle"] {
      try terminal.expect("New vault password: ")
      terminal.type("Tr0mbone-kettle")
      try terminal.expect("Again: ")
      terminal.type(again)
    }
    try terminal.expect("vault: the vault is made, and unlocked")
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("three times"))
  }

  @Test("a question for an unlock that somebody else has made meanwhile is no obstacle") func overtaken() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    for command in [["get", "web"], ["unlock"]] {
      try sandbox.must(["lock"])
      let terminal = try Terminal(sandbox, command)
      try terminal.expect(command[0] == "get" ? "vault get web): " : "Vault password: ")
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      terminal.type(password)
      try terminal.expect(command[0] == "get" ? "hunter2" : "vault: unlocked until")
      #expect(try terminal.wait() == 0)
    }
  }
}
