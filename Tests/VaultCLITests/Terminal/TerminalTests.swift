import Foundation
import Testing
import VaultTesting

@Suite("On a terminal") struct TerminalTests {
  @Test("init asks twice without showing what is typed, makes a recovery code, and says what comes next")
  func initialize() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    let terminal = try Terminal(sandbox, ["init"] + floorOptions)
    try terminal.expect("New vault password: ")
    #expect(!terminal.echoes)
    terminal.type(password)
    try terminal.expect("Again: ")
    #expect(!terminal.echoes)
    terminal.type(password)
    try terminal.expect("\r\n\r\n    ")
    let code = try terminal.expect("\r\n").trimmingCharacters(in: .whitespacesAndNewlines)
    try terminal.expect("Recovery code: ")
    terminal.type(code)
    try terminal.expect("vault: the vault is made, and unlocked\r\n\r\nNext:\r\n  vault set mail/password  ")
    #expect(try terminal.wait() == 0)
    #expect(terminal.isCooked)
    #expect(!terminal.screen.contains(password))
    try sandbox.must(["set", "mail/password"], stdin: "hunter2")
    try sandbox.must(["lock"])
    try sandbox.must(["unlock", "--recovery", "--password-stdin"], stdin: code + "\n")
  }

  @Test("a vault that a recovery code has opened is offered a new password, and the code is not typed again")
  func recovered() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let code = try sandbox.must(["slot", "add", "recovery", "--password-stdin"], stdin: password + "\n")
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let new = "another horse, no battery"
    for isWanted in [false, true] {
      try sandbox.must(["lock"])
      let terminal = try Terminal(sandbox, ["unlock", "--recovery"])
      try terminal.expect("Recovery code: ")
      terminal.type(code)
      try terminal.expect("unlocked until")
      try terminal.expect("Set a new password now, in place of the lost one? [y/N] ")
      terminal.type(isWanted ? "y" : "")
      if isWanted {
        for question in ["New vault password: ", "Again: "] {
          try terminal.expect(question)
          #expect(!terminal.echoes)
          terminal.type(new)
        }
        try terminal.expect("the password is changed; the recovery code stays as it is, and older copies of the store")
      } else {
        try terminal.expect("`vault passwd --recovery` sets a new password later")
      }
      #expect(try terminal.wait() == 0)
      #expect(!terminal.screen.contains(code) && !terminal.screen.contains(new))
      try sandbox.must(["lock"])
      try sandbox.must(["unlock", "--password-stdin"], stdin: (isWanted ? new : password) + "\n")
    }
    // An unlock by password offers no new password.
    try sandbox.must(["lock"])
    let terminal = try Terminal(sandbox, ["unlock"])
    try terminal.expect("Vault password: ")
    terminal.type(new)
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("Set a new password"))
    // One of several passwords is named.
    try sandbox.must(["slot", "add", "password", "--password-stdin"] + floorOptions, stdin: "\(new)\na third one\n")
    try sandbox.must(["lock"])
    let several = try Terminal(sandbox, ["unlock", "--recovery"])
    try several.expect("Recovery code: ")
    several.type(code)
    try several.expect("Set a new password now, in place of that of slot 1? [y/N] ")
    several.type("y")
    for question in ["New vault password of slot 1: ", "Again: "] {
      try several.expect(question)
      several.type(password)
    }
    try several.expect("the password of slot 1 is changed, and slot 3 keeps its own; the recovery code stays as it is")
    #expect(try several.wait() == 0)
  }

  @Test("init makes no recovery code where none is wanted, and without a person only where one is")
  func noRecovery() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    let terminal = try Terminal(sandbox, ["init", "--no-recovery"] + floorOptions)
    for question in ["New vault password: ", "Again: "] {
      try terminal.expect(question)
      terminal.type(password)
    }
    #expect(try terminal.wait() == 0)
    #expect(try !sandbox.must(["slot", "list"]).contains("recovery"))
    let input = try Sandbox.withVault(unlocked: true)
    defer { input.close() }
    #expect(try !input.must(["slot", "list"]).contains("recovery"))
  }

  @Test("two different entries are asked for again, three times at most")
  func mismatch() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    let terminal = try Terminal(sandbox, ["init"] + floorOptions)
    for time in 1...3 {
      try terminal.expect("New vault password: ")
      terminal.type(password)
      try terminal.expect("Again: ")
      terminal.type("corect horse battery")
      try terminal.expect(time < 3 ? "The two are not the same." : "the two entries differed three times; start again")
    }
    #expect(try terminal.wait() == 65)
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/vault.db"))
  }

  @Test("a recovery code is shown once, and has to be typed back")
  func recovery() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["slot", "add", "recovery"])
    try terminal.expect("Vault password to add a slot: ")
    terminal.type(password)
    try terminal.expect("\r\n\r\n    ")
    let code = try terminal.expect("\r\n").trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(code.split(separator: "-").map(\.count) == [5, 5, 5, 5, 5, 5])
    try terminal.expect("Recovery code: ")
    terminal.type("no idea")
    try terminal.expect("a different code")
    try terminal.expect("Recovery code: ")
    terminal.type(code.lowercased().replacingOccurrences(of: "-", with: " "))
    try terminal.expect("added slot 2")
    #expect(try terminal.wait() == 0)
    try sandbox.must(["unlock", "--recovery", "--password-stdin"], stdin: code + "\n")
  }

  @Test("get asks for the unlock, names what asks, and goes on")
  func get() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["get", "web"])
    try terminal.expect("Vault password (asked by: vault get web): ")
    #expect(!terminal.echoes)
    terminal.type(password)
    // The newline after the hidden password comes first, then the value with a newline of its own.
    try terminal.expect("\r\nhunter2\r\n")
    #expect(try terminal.wait() == 0)
    #expect(terminal.isCooked)
  }

  @Test("a value that goes elsewhere than to the terminal gets no newline, whoever asked for the unlock")
  func getElsewhere() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let file = sandbox.home + "/value"
    let terminal = try Terminal(sandbox, ["get", "web"], stdout: file)
    try terminal.expect("asked by: vault get web): ")
    terminal.type(password)
    #expect(try terminal.wait() == 0)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "hunter2")
  }

  @Test("a value that ends with a newline gets no other on a terminal, and an empty one gets it")
  func newlines() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for (value, shown) in [("v\n", "v\r\n"), ("v", "v\r\n"), ("\n", "\r\n"), ("", "\r\n")] {
      try sandbox.must(["set", "text", "--kind", "note", "--update", "--allow-empty"], stdin: value)
      let terminal = try Terminal(sandbox, ["get", "text"])
      #expect(try terminal.wait() == 0)
      #expect(terminal.screen == shown, "\(value)")
    }
  }

  @Test("beside a password the user name and the URL are shown, where a person sees the value or pastes it")
  func beside() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must([
      "set", "web", "--update", "--keep-value", "--attr", "user=ana", "--attr", "url=https://x.example",
      "--attr", "owner=bo",
    ])
    let shown = try Terminal(sandbox, ["get", "web"])
    #expect(try shown.wait() == 0)
    #expect(
      shown.screen == "vault: user: ana\r\nvault: url: https://x.example\r\nhunter2\r\n", "\(shown.screen)")
    let clipped = try Terminal(sandbox, ["get", "web", "--clip"], stdout: sandbox.home + "/output")
    #expect(try clipped.wait() == 0)
    #expect(clipped.screen.hasPrefix("vault: user: ana\r\nvault: url: https://x.example\r\n"))
    // If the value goes elsewhere, `get` prints nothing more, and for other kinds neither.
    let file = sandbox.home + "/value"
    for arguments in [["get", "web"], ["get", "web", "--json"], ["get", "web", "--field", "owner"]] {
      let quiet = try Terminal(sandbox, arguments, stdout: file)
      #expect(try quiet.wait() == 0)
      #expect(quiet.screen == "")
    }
    try sandbox.must(["set", "web", "--update", "--keep-value", "--kind", "note"])
    let note = try Terminal(sandbox, ["get", "web"])
    #expect(try note.wait() == 0)
    #expect(note.screen == "hunter2\r\n")
  }

  @Test(
    "what is no text is kept from a terminal unless that is forced",
    arguments: ["a\u{1B}[2J", "\u{9B}31m", "bell\u{7}"])
  func noText(value: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "raw", "--kind", "blob"], stdin: value)
    let refused = try Terminal(sandbox, ["get", "raw"])
    #expect(try refused.wait() == 64)
    #expect(
      refused.screen == "vault: `raw` is not text, and a terminal acts on such bytes; "
        + "send it to a file or a pipe, or give --force\r\n")
    let forced = try Terminal(sandbox, ["get", "raw", "--force"])
    #expect(try forced.wait() == 0)
    #expect(forced.screen == value + "\r\n")
    let file = sandbox.home + "/value"
    #expect(try Terminal(sandbox, ["get", "raw"], stdout: file).wait() == 0)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == value)
    let json = try Terminal(sandbox, ["get", "raw", "--json"])
    #expect(try json.wait() == 0)
    #expect(json.screen.contains("\"data\":\""))
  }

  @Test("a line break that is left out behind a piped line is told, and one that stays is not")
  func leftOut() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let line = try sandbox.write("hunter3\n", to: "line")
    let said = "vault: the line break at the end is not stored; --exact keeps it\r\n"
    for (options, value) in [([], "hunter3"), (["--exact"], "hunter3\n"), (["--kind", "note"], "hunter3\n")] {
      let terminal = try Terminal(sandbox, ["set", "web", "--update"] + options, stdin: line)
      #expect(try terminal.wait() == 0)
      #expect(terminal.screen.contains(said) == (value == "hunter3"), "\(terminal.screen)")
      #expect(try sandbox.must(["get", "web"]) == value)
    }
    // Without `--kind`, the item's own kind decides.
    let terminal = try Terminal(sandbox, ["set", "web", "--update"], stdin: line)
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains(said))
  }

  @Test("with --wait nobody is asked")
  func waits() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["get", "web", "--wait", "1s"])
    #expect(try terminal.wait() == 75)
    #expect(!terminal.screen.contains("Password"))
  }

  @Test("a typed value may be longer than the kernel's line, and can be corrected while it is typed")
  func typing() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let long = String(repeating: "0123456789", count: 600)
    let terminal = try Terminal(sandbox, ["set", "long"])
    try terminal.expect("Value of `long`: ")
    terminal.type("nonsense", return: false)
    terminal.control("u")
    terminal.type(long + "é", return: false)
    terminal.type("\u{7F}")
    try terminal.expect("Again: ")
    terminal.type(long)
    try terminal.expect("stored `long`, version 1")
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("0123456789"))
    #expect(try sandbox.must(["get", "long"]) == long)
  }

  @Test("an expiry that has passed is asked about before the value is", arguments: [true, false])
  func pastExpiry(isMeant: Bool) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "token", "--expires", "2020-01-31"])
    try terminal.expect(
      "2020-01-31 00:00:00+00:00 has passed, so the item would not be served. Store it anyway? [y/N] ")
    terminal.type(isMeant ? "y" : "")
    if isMeant {
      for question in ["Value of `token`: ", "Again: "] {
        try terminal.expect(question)
        terminal.type("old")
      }
      try terminal.expect("stored `token`, version 1")
    }
    #expect(try terminal.wait() == (isMeant ? 0 : 77))
    guard isMeant else { return #expect(try sandbox.run(["show", "token"]).status == 66) }

    let update = try Terminal(sandbox, ["set", "token", "--update", "--generate"])
    try update.expect("version 2; its expiry, 2020-01-31 00:00:00+00:00, had passed and is removed")
    #expect(try update.wait() == 0)
  }

  @Test("nobody types a secret that could not be stored: the unlock and the name come first")
  func order() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "web"])
    try terminal.expect("Vault password: ")
    terminal.type(password)
    try terminal.expect("vault: `web` already exists; use --update")
    #expect(try terminal.wait() == 73)
    #expect(!terminal.screen.contains("Value of"))
  }

  @Test("input that is no terminal is stored as it is, on a terminal too")
  func piped() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let file = try sandbox.write("two\nlines\n", to: "value")
    let terminal = try Terminal(sandbox, ["set", "piped"], stdin: file)
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "piped"]) == "two\nlines\n")
  }

  @Test("list is a table with a bold heading, and plain with NO_COLOR and on a terminal that knows no more")
  func table() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let coloured = try Terminal(sandbox, ["list"])
    try coloured.wait()
    #expect(coloured.screen.hasPrefix("\u{1B}[1mNAME  KIND      MODIFIED    EXPIRES\u{1B}[0m\r\nweb   password  20"))
    for (name, value) in ["NO_COLOR": "1", "TERM": "dumb"] {
      let plain = try Terminal(sandbox, ["list"], environment: [name: value])
      try plain.wait()
      #expect(plain.screen.hasPrefix("NAME  KIND"), "\(name)")
    }
  }

  @Test("deleting many asks first", arguments: [("y", 0, false), ("Yes", 0, false), ("n", 77, true), ("", 77, true)])
  func delete(answer: String, status: Int, stays: Bool) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "web2"], stdin: "hunter3")
    let terminal = try Terminal(sandbox, ["rm", "web", "web2"])
    try terminal.expect("  web\r\n  web2\r\nDelete these 2 items? [y/N] ")
    terminal.type(answer)
    if !stays { try terminal.expect("deleted 2 items; `vault trash` lists what can be restored within 30 d") }
    #expect(try terminal.wait() == Int32(status))
    #expect(try sandbox.must(["list"]).isEmpty == !stays)
  }

  @Test(
    "what a predicate matches is shown and asked about, also when it is one item", arguments: ["name=web", "name~w*"])
  func deletePredicate(predicate: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["rm", predicate])
    try terminal.expect("  web\r\nDelete this item? [y/N] ")
    terminal.type("n")
    #expect(try terminal.wait() == 77)
    #expect(try sandbox.must(["list"]) == "web\n")
  }

  @Test("whether there are items of all names is looked at before anybody is asked") func deleteMissing() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["rm", "web", "nothing"])
    try terminal.expect("no item `nothing`")
    #expect(try terminal.wait() == 66)
    #expect(!terminal.screen.contains("Delete"))
  }

  @Test("what was deleted is brought back as it says, and what is deleted for good is asked about so")
  func trash() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try expectScreen(sandbox, ["rm", "web"], "deleted `web`; `vault trash restore` restores it within 30 d")
    try expectScreen(sandbox, ["trash"], "web   password")
    try expectScreen(sandbox, ["trash", "restore", "web"], "`web` restored from the trash")
    try expectScreen(sandbox, ["rm", "--now", "name=web"], "Delete this item with all versions, for good? [y/N] ", "y")
    try expectScreen(sandbox, ["trash", "empty"], "the trash was empty")
    try sandbox.must(["set", "web"], stdin: "hunter2")
    try sandbox.must(["rm", "web"])
    try expectScreen(sandbox, ["trash", "empty"], "Delete the 1 item in the trash for good? [y/N] ", "n", status: 77)
    try expectScreen(sandbox, ["trash", "empty"], "Delete the 1 item in the trash for good? [y/N] ", "y")
    #expect(try sandbox.run(["trash", "restore", "web"]).status == 66)
  }

  private func expectScreen(
    _ sandbox: Sandbox, _ arguments: [String], _ text: String, _ answer: String? = nil, status: Int32 = 0
  ) throws {
    let terminal = try Terminal(sandbox, arguments)
    try terminal.expect(text)
    if let answer { terminal.type(answer) }
    #expect(try terminal.wait() == status, "\(terminal.screen)")
  }

  @Test("before the first unlock, searching asks for it")
  func search() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.stopDaemon()
    let terminal = try Terminal(sandbox, ["find", "web"])
    try terminal.expect("Vault password: ")
    terminal.type(password)
    #expect(try terminal.wait() == 0)
  }
}
