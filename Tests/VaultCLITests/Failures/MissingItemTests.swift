import Testing
import VaultTesting

@Suite("An item that is not there") struct MissingItemTests {
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox.withVault(unlocked: true)
    for name in ["webcam", "iothome/express.key", "iothome/lamp"] { try sandbox.must(["set", name], stdin: "v") }
    return sandbox
  }

  @Test(
    "a person is told the nearest names, those that begin so, and those in folders that end so",
    arguments: [
      ("wbe", "did you mean `web`?"), ("WEB2", "did you mean `web`?"), ("webca", "did you mean `webcam`?"),
      ("iothoem/lamp", "did you mean `iothome/lamp`?"), ("express.key", "did you mean `iothome/express.key`?"),
      ("iothome/exp", "did you mean `iothome/express.key`?"), ("nothing", "see `vault list`"),
    ])
  func nearest(name: String, advice: String) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    for command in ["get", "show", "edit", "rm", "history"] {
      let terminal = try Terminal(sandbox, [command, name], stdout: sandbox.home + "/output")
      #expect(try terminal.wait() == 66)
      #expect(terminal.screen == "vault: no item `\(name)`; \(advice)\r\n", "\(command)")
    }
  }

  @Test("a program is told no names")
  func pipe() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run("get", "wbe")
    #expect(outcome.errors == "vault: no item `wbe`; see `vault list`\n", "\(outcome)")
  }

  @Test(
    "no name is told where the daemon lists none, and its silence holds up nobody",
    arguments: [[#"{"error":"io.vaultd.Vault.Locked","parameters":{"state":"locked","cause":"r"}}"#], []])
  func unlisted(find: [String]) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let missing = #"{"error":"io.vaultd.Vault.NoSuchItem","parameters":{"name":"wbe"}}"#
    let daemon = try ScriptedDaemon(sandbox, ["Show": [missing], "Find": find])
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, ["show", "wbe", "--socket", daemon.socket])
    #expect(try terminal.wait() == 66)
    #expect(terminal.screen == "vault: no item `wbe`; see `vault list`\r\n", "\(terminal.screen)")
  }

  @Test("one that lies in the trash is told of, and so is one that looks the same") func lookalikes() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try sandbox.must(["rm", "webcam"])
    try sandbox.must(["set", "caf\u{E9}/x"], stdin: "v")
    for (name, told) in [
      ("webcam", "but one in the trash; `vault trash restore` restores it"),
      (
        "cafe\u{301}/x",
        "but one that looks the same, with its accents composed in another way (NFC, NFD); copy its name"
      ),
    ] {
      let terminal = try Terminal(sandbox, ["get", name], stdout: sandbox.home + "/output")
      #expect(try terminal.wait() == 66)
      #expect(terminal.screen.contains(told), "\(terminal.screen)")
    }
  }

  @Test("an update of a name that looks like another one's says so before it makes an item") func lookalikeUpdate()
    throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try sandbox.must(["set", "caf\u{E9}/x"], stdin: "v")
    let terminal = try Terminal(sandbox, ["set", "cafe\u{301}/x", "--update"])
    try terminal.expect("; another name looks the same, with its accents composed in")
    try terminal.expect("Make a new item of that name?")
    terminal.type("n")
    #expect(try terminal.wait() == 66)
    #expect(!terminal.screen.contains("did you mean"))
  }

  @Test("a name with a field behind it is told how to have the field, where there is such an item") func fields() throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    for (name, advice) in [
      ("webcam#kind", "print a field with `vault get webcam --field kind`"), ("nothing#kind", "see `vault list`"),
    ] {
      let terminal = try Terminal(sandbox, ["get", name], stdout: sandbox.home + "/output")
      #expect(try terminal.wait() == 66)
      #expect(terminal.screen == "vault: no item `\(name)`; \(advice)\r\n")
    }
  }

  @Test(
    "a pattern where a name stands is told how to write it",
    arguments: [
      (
        "iothome/*",
        "`vault rm 'name~iothome/*'` takes what the pattern matches, and `vault rm iothome/` the whole folder"
      ),
      ("iothome/l*", "`vault rm 'name~iothome/l*'` takes what the pattern matches"),
      ("web?", "`vault rm 'name~web?'` takes what the pattern matches"),
    ])
  func pattern(name: String, advice: String) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["rm", name])
    #expect(try terminal.wait() == 66)
    #expect(terminal.screen == "vault: no item `\(name)`; \(advice)\r\n", "\(terminal.screen)")
  }

  @Test("an item that is given as a backup to restore is told what restores items") func restore() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    func advice(_ name: String) throws -> String {
      let outcome = try sandbox.run("restore", name)
      #expect(outcome.status == 74 && outcome.errors.hasPrefix("vault: cannot open `\(name)`: "), "\(outcome)")
      return outcome.errors
    }
    #expect(try advice("webcam").hasSuffix("; `vault restore-version webcam NUMBER` restores a version of the item\n"))
    try sandbox.must(["rm", "webcam"])
    #expect(try advice("webcam").hasSuffix("; `vault trash restore webcam` restores the item\n"))
    #expect(try advice("nothing").hasSuffix("; name another file\n"))
  }

  @Test("the nearest name in the trash is told where one is to come back")
  func trash() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try sandbox.must(["rm", "webcam"])
    let terminal = try Terminal(sandbox, ["trash", "restore", "webacm"])
    #expect(try terminal.wait() == 66)
    #expect(
      terminal.screen == "vault: `webacm` is not in the trash; did you mean `webcam`?\r\n", "\(terminal.screen)")
  }
}
