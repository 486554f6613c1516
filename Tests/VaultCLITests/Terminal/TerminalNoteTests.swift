import Testing
import VaultTesting

/// Sentences for a person that no transcript shows, because a program does not get them.
@Suite("What a person is told at the terminal") struct TerminalNoteTests {
  /// Runs a command on a terminal, and returns what it shows.
  private func shown(_ sandbox: Sandbox, _ words: [String], status: Int32 = 0, answers: [String] = []) throws -> String
  {
    let terminal = try Terminal(sandbox, words, environment: ["NO_COLOR": "1"])
    for answer in answers {
      try terminal.expect("? [y/N] ")
      terminal.type(answer)
    }
    #expect(try terminal.wait() == status, "\(words): \(terminal.screen)")
    return terminal.screen
  }

  /// Grants items to a user, and returns what the terminal shows.
  private func granted(_ sandbox: Sandbox, _ pattern: String, _ options: [String] = []) throws -> String {
    try Terminal.grant(sandbox, "user:4242", pattern, options).replacing("\r\n", with: " ")
  }

  @Test("a revocation names what it has revoked, and a copy of the key says that it has no list") func tokens() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "gw", "--use", "jwt", "--generate", "ed25519"])
    let number = "6727732C71B004E1C12D548D177D885D"
    #expect(
      try shown(sandbox, ["token", "revoke", "gw", number])
        == "vault: revoked token \(number.lowercased()); the list is `gw.revoked`, version 1\r\n")
    #expect(
      try shown(sandbox, ["token", "revoke", "gw", "--sub", "lamp-40"])
        == "vault: revoked all tokens of `lamp-40` issued until now; the list is `gw.revoked`, version 2\r\n")
    #expect(
      try shown(sandbox, ["cp", "gw", "copy"]).hasSuffix(
        "vault: the copy has no list of revoked tokens, and accepts those of `gw.revoked`; copy the list to "
          + "`copy.revoked` too\r\n"))
    try sandbox.must(["rm", "copy", "--now"])
    try sandbox.must(["cp", "gw.revoked", "copy.revoked"])
    #expect(try !shown(sandbox, ["cp", "gw", "copy"]).contains("has no list"))
    // The question about a move has the rights on the list, which goes along.
    _ = try granted(sandbox, "gw.revoked")
    let moved = try shown(sandbox, ["mv", "gw", "gate"], answers: ["y"])
    #expect(moved.contains("user:4242 loses get on the list of its revoked tokens"), "\(moved)")
    let names = try sandbox.must(["list"]).split(separator: "\n")
    #expect(names.contains("gate.revoked") && !names.contains("gw.revoked"), "\(names)")
  }

  @Test("the question about a move of a never-read key names its use, which is all that `get` gives") func neverRead()
    throws
  {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "gw", "--use", "sign", "--generate", "ed25519", "--never-read"])
    _ = try granted(sandbox, "gw")
    let moved = try shown(sandbox, ["mv", "gw", "gate"], answers: ["y"])
    #expect(moved.contains("user:4242 loses use") && !moved.contains("loses get"), "\(moved)")
  }

  @Test("a command on an item says how much is left in the folder of its name, and only to a person")
  func parts() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for name in ["mail", "mail/totp", "mail/notes", "mailbox/pin", "lone"] {
      try sandbox.must(["set", name], stdin: "v")
    }
    let copied = try shown(sandbox, ["cp", "mail", "mail/old"])
    #expect(copied.contains("vault: `mail/` was not copied: it has 2 items\r\n"), "\(copied)")
    #expect(try shown(sandbox, ["mv", "mail", "post"]).hasSuffix("vault: `mail/` still has 3 items\r\n"))
    try sandbox.must(["rm", "--yes", "mail/totp", "mail/old"])
    #expect(try shown(sandbox, ["mv", "post", "mail"]).contains("moved `post` to `mail`"))
    let removed = try shown(sandbox, ["rm", "mail"])
    #expect(removed.contains("deleted `mail`; ") && removed.hasSuffix("vault: `mail/` still has 1 item\r\n"))
    #expect(try !shown(sandbox, ["rm", "lone"]).contains("still has"))
    try sandbox.must(["set", "mail"], stdin: "v")
    #expect(try sandbox.must(["rm", "mail"]).isEmpty)
  }

  @Test("nobody is asked for a password to confirm grants that are all in effect") func confirmed() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    #expect(try shown(sandbox, ["grants", "confirm"]) == "vault: no grant waits for a confirmation\r\n")
  }

  @Test("a search of the log that found nothing says whether it was for everything") func filters() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "mail"], stdin: "v")
    let filters = [["--until", "2026-01-01"], ["--caller", "user:4242"], ["--door", "ssh-agent"]]
    #expect(try shown(sandbox, ["audit", "item", "mail"]) == "vault: nobody is known to have read `mail`\r\n")
    try sandbox.must(["get", "mail"])
    for filter in filters {
      #expect(
        try shown(sandbox, ["audit", "item", "mail"] + filter) == "vault: no read or use of `mail` matches\r\n",
        "\(filter)")
      #expect(try shown(sandbox, ["audit"] + filter) == "vault: no entry matches\r\n", "\(filter)")
    }
    #expect(
      try shown(sandbox, ["receipts", "mail"]) == "vault: no watcher has reported anything about `mail`\r\n")
  }

  @Test("grants are shown with the day of their last use") func used() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    func grant(_ subject: String, _ used: String) -> String {
      #"{"subject":"\#(subject)","items":"web","rights":["get"],"created":1700000000,"active":true\#(used)}"#
    }
    let grants = [grant("user:4242", #","used":1700300000"#), grant("user:4243", "")].joined(separator: ",")
    let daemon = try ScriptedDaemon(sandbox, ["Grants": [#"{"parameters":{"grants":[\#(grants)]}}"#]])
    defer { daemon.close() }
    let lines = try shown(sandbox, ["grants", "--socket", daemon.socket]).split(separator: "\r\n").map { line in
      line.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
    }
    #expect(
      lines.prefix(3) == [
        ["SUBJECT", "ITEMS", "MAY", "UNTIL", "USED"], ["user:4242", "web", "get", "2023-11-18"],
        ["user:4243", "web", "get", "never"],
      ], "\(lines)")
  }

  @Test("a caller that sees only its own entries is told so") func own() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let status =
      #"{"parameters":{"state":"unlocked","cause":"","since":1,"locks_on":[],"methods":[],"warnings":[],"version":"1","#
      + #""pid":1}}"#
    let daemon = try ScriptedDaemon(
      sandbox,
      [
        "Audit": [#"{"parameters":{"entries":[]}}"#],
        "Status": [status],
        "Show": [#"{"error":"io.vaultd.Vault.Denied","parameters":{"reason":"no"}}"#],
      ])
    defer { daemon.close() }
    func shown(_ words: String...) throws -> String {
      try self.shown(sandbox, words + ["--socket", daemon.socket])
    }
    #expect(
      try shown("audit", "item", "db")
        == "vault: no read or use of `db` by your own programs is known; you see only theirs\r\n")
    #expect(
      try shown("audit", "item", "db", "--since", "1h")
        == "vault: no read or use of `db` by your own programs matches; you see only theirs\r\n")
    #expect(try shown("audit") == "vault: no entries of your own programs; you see only theirs\r\n")
    #expect(
      try shown("audit", "--denied") == "vault: no entry of your own programs matches; you see only theirs\r\n")
    #expect(
      try shown("receipts", "db")
        == "vault: no watcher among your own programs has reported anything about `db`; you see only theirs\r\n")
  }

  @Test("a grant for nothing is told, with the name that was meant") func grants() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for name in ["db/main", "db/replica"] { try sandbox.must(["set", name], stdin: "v") }
    let made = "vault: user:4242 may get "
    for (pattern, note) in [
      ("db/mian", "there is no item `db/mian` now; did you mean `db/main`?"),
      ("zebra", "there is no item `zebra` now"),
      (
        "db/[mr]*",
        "no item matches `db/[mr]*` now; brackets, braces and commas are part of a name, and only *, ** and ? stand "
          + "for other characters"
      ),
      (
        "db/{main,replica}",
        "there is no item `db/{main,replica}` now; brackets, braces and commas are part of a name, and only *, ** "
          + "and ? stand for other characters"
      ),
    ] {
      let screen = try granted(sandbox, pattern)
      #expect(screen.contains(note) && screen.contains(made + "`\(pattern)`"), "\(screen)")
      #expect(try !granted(sandbox, pattern, ["--json"]).contains(" now"))
    }
    #expect(try !granted(sandbox, "db/m*").contains("no item"))
  }

  @Test("whoever fails three times is told of the recovery code, if there is one") func recovery() throws {
    let plain = try Sandbox.withVault(unlocked: false)
    defer { plain.close() }
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    func fail(_ sandbox: Sandbox, _ words: [String]) throws -> String {
      let terminal = try Terminal(sandbox, words, environment: ["NO_COLOR": "1"])
      for attempt in 1...3 {
        try terminal.expect("Vault password")
        terminal.type("wrong \(attempt)")
        try terminal.expect("wrong password")
      }
      #expect(try terminal.wait() == 77)
      return terminal.screen.replacing("\r\n", with: " ")
    }
    #expect(try !fail(plain, ["unlock"]).contains("--recovery"))
    let code = try sandbox.must(["slot", "add", "recovery", "--password-stdin"], stdin: password + "\n")
    try sandbox.must(["lock"])
    #expect(try fail(sandbox, ["unlock"]).contains("; `vault unlock --recovery` opens it with the recovery code"))
    try sandbox.must(["unlock", "--recovery", "--password-stdin"], stdin: code)
    // An open vault asks for nothing.
    let open = try shown(sandbox, ["unlock", "--recovery"])
    #expect(
      open.hasPrefix("vault: the vault was open already, so no code was asked for\r\nvault: unlocked until"), "\(open)")
  }

  @Test("an unlock tells what the check of the store has found wrong") func damaged() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(password)
    try sandbox.must(["set", "a"], stdin: "v")
    try sandbox.stopDaemon()
    let edit = """
      import sqlite3, sys
      store = sqlite3.connect(sys.argv[1])
      store.execute('UPDATE heads SET value = zeroblob(length(value)) WHERE id = 1')
      store.commit()
      """
    let words = ["-c", edit, sandbox.store + "/vault.db"]
    try #require(try sandbox.run(words, program: "/usr/bin/python3").status == 0)
    try sandbox.startDaemon()
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let said = try shown(sandbox, ["unlock"])
    let fault =
      "vault: something is wrong with the store: version 1 of item 1 is not the one its head names; `vault verify` "
      + "lists everything\r\n"
    #expect(said.hasPrefix(fault), "\(said)")
    // A daemon of another version may not say it.
    let status =
      #"{"parameters":{"state":"unlocked","cause":"","since":1,"locks_on":[],"methods":[],"warnings":[],"version":"1","#
      + #""pid":1,"integrity":{"state":"failed"}}}"#
    let daemon = try ScriptedDaemon(
      sandbox, ["Unlock": [#"{"parameters":{}}"#], "Status": [status]])
    defer { daemon.close() }
    let plain = "vault: the check of the store found something wrong; `vault verify` says what it is\r\n"
    #expect(try shown(sandbox, ["unlock", "--socket", daemon.socket]).hasPrefix(plain))
  }

  @Test("an empty trash and a byte order mark are told") func small() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    #expect(try shown(sandbox, ["trash"]) == "vault: the trash is empty\r\n")
    #expect(try shown(sandbox, ["trash", "empty"]) == "vault: the trash was empty\r\n")
    let file = try sandbox.write("\u{FEFF}secret", to: "windows")
    #expect(
      try shown(sandbox, ["set", "w", "--file", file]).contains(
        "vault: the value begins with a byte order mark, as files from Windows do, and it is stored with it\r\n"))
    #expect(try !shown(sandbox, ["set", "b", "--kind", "blob", "--file", file]).contains("byte order mark"))
  }

  @Test("the question about copies of a folder says how many items are replaced") func replaced() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for name in ["a/1", "a/2", "a/3", "b/1", "b/2"] { try sandbox.must(["set", name], stdin: name) }
    let screen = try shown(sandbox, ["cp", "--force", "a/", "b/"], status: 77, answers: ["n"])
    #expect(screen.contains("Copy 3 items from `a/` to `b/`, and replace 2 items there?"), "\(screen)")
  }
}
