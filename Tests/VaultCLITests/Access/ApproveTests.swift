import Testing
import VaultTesting

/// `vault approve`, `deny` and `requests` against a daemon with scripted replies.
@Suite("Answers to requests") struct ApproveTests {
  private static let requests = """
    {"parameters":{"requests":[\
    {"number":271828,"state":"pending","subject":"user:990,unit:gw.service","right":"get","name":"iot/x",\
    "reason":"renew\\u001b[2J”, says root","uid":990,"user":"gw","pid":1,"unit":"gw.service",\
    "executable":"/usr/bin/gw","count":12,"first":1,"last":1800000000},\
    {"number":314159,"state":"pending","subject":"user:991","right":"use","name":"gone","missing":true,\
    "uid":991,"pid":43,"count":1,"first":1,"last":1800000000},\
    {"number":141421,"state":"approved","subject":"user:992","right":"get","name":"b","uses":2,"until":1800000000},\
    {"state":"denied","subject":"user:993","name":"c"}]},"continues":true}
    """
  private static let none = #"{"parameters":{"requests":[]}}"#
  private static let replies = [
    "Requests": [requests, none],
    "Approve": [#"{"parameters":{"subject":"user:990,unit:gw.service","right":"get","name":"iot/x"}}"#],
    "Deny": [#"{"parameters":{"subject":"user:992","name":"b"}}"#],
    "Rights": [#"{"parameters":{"rights":[],"some":[],"sources":[]}}"#],
  ]

  private func with(_ body: (Sandbox, (String...) -> [String]) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, Self.replies)
    defer { daemon.close() }
    try body(sandbox) { $0 + ["--socket", daemon.socket] }
  }

  @Test("approve shows the subject, the right, the item and the caller's words, and asks") func asked() throws {
    try with { sandbox, words in
      for (answer, status) in [("y", Int32(0)), ("n", 77), ("", 77)] {
        let terminal = try Terminal(sandbox, words("approve", "271828"))
        try terminal.expect("  user:990,unit:gw.service asks to get `iot/x`\r\n")
        try terminal.expect("  asked 12 times, last ")
        try terminal.expect(", by process 1 (gw, gw.service, /usr/bin/gw)\r\n")
        try terminal.expect(#"  in its own words: “renew\u{1b}[2J', says root”"#)
        try terminal.expect("Approve it, once, within five minutes? [y/N] ")
        terminal.type(answer)
        #expect(try terminal.wait() == status)
        let said = "user:990,unit:gw.service may get `iot/x` once, within five minutes"
        #expect(terminal.screen.contains(said) == (answer == "y"), "\(terminal.screen)")
      }
    }
  }

  @Test(
    "approve asks for what its options say",
    arguments: [
      (["--session"], "for that process, until a lock"), (["--always"], "always"), (["--for", "15m"], "for 15 min"),
      (["--uses", "20"], "20 times, within a day"), (["--uses", "20", "--for", "1h"], "20 times, for 1 h"),
      (["--once", "--for", "1h"], "once, for 1 h"), (["--always", "--for", "30d"], "for 30 d"),
      (["--session", "--uses", "1"], "for that process, until a lock, once"),
      (["--session", "--uses", "2"], "for that process, until a lock, 2 times"),
    ])
  func terms(options: [String], sentence: String) throws {
    try with { sandbox, words in
      let terminal = try Terminal(sandbox, words("approve", "271828") + options)
      try terminal.expect("Approve it, \(sentence)? [y/N] ")
      terminal.type("n")
      #expect(try terminal.wait() == 77)
    }
  }

  /// Pairs of names in JSON, whose second name holds the spelling of a character in the first.
  private static let pairs = [
    (#"web/a\u00a0b"#, #"web/a\\u{a0}b"#), (#"web/x\u200by"#, #"web/x\\u{200b}y"#),
    ("web/p  q", #"web/p\\u{20}\\u{20}q"#), ("web/r`s", #"web/r\\u{60}s"#),
  ]

  @Test("different names have different questions, and different rows in the list", arguments: pairs)
  func different(one: String, other: String) throws {
    let screens = try [one, other].map { name in
      let sandbox = try Sandbox()
      defer { sandbox.close() }
      let reply = Self.requests.replacing("iot/x", with: name)
      let daemon = try ScriptedDaemon(sandbox, Self.replies.merging(["Requests": [reply, Self.none]]) { $1 })
      defer { daemon.close() }
      let asked = try Terminal(sandbox, ["approve", "271828", "--socket", daemon.socket])
      try asked.expect("[y/N] ")
      asked.type("n")
      try asked.wait()
      let listed = try Terminal(sandbox, ["requests", "--socket", daemon.socket])
      try listed.wait()
      return [asked.screen, listed.screen]
    }
    #expect(screens[0][0] != screens[1][0] && screens[0][0].contains("asks to get `web/"), "\(screens)")
    #expect(screens[0][1] != screens[1][1] && screens[0][1].contains(" web/"), "\(screens)")
    #expect(screens.allSatisfy { $0[0].split(separator: "\n")[0].count { $0 == "`" } == 2 }, "\(screens)")
  }

  @Test("nothing is approved that does not wait, or where there is no such item") func lookedUp() throws {
    try with { sandbox, words in
      for (number, text) in [
        ("141421", "there is no request 141421, or it is gone"), ("314159", "no item `gone`"),
        ("5", "there is no request 5"),
      ] {
        let outcome = try sandbox.run(words("approve", number, "--yes"))
        #expect(outcome.status == 66 && outcome.errors.contains(text), "\(outcome)")
      }
      for options in [["--once", "--session"], ["--uses", "0"], ["--uses", "2", "--always"], ["--for", "soon"]] {
        #expect(try sandbox.run(words("approve", "271828", "--yes") + options).status == 64, "\(options)")
      }
    }
  }

  @Test("they are listed: whole to a pipe, a table on a terminal, and their numbers are completed") func list() throws {
    try with { sandbox, words in
      let time = "2027-01-15T08:00:00Z"
      let pipe = try sandbox.must(words("requests"))
      #expect(
        pipe == """
          271828\tpending\tuser:990,unit:gw.service\tget\tiot/x\tasked 12 times, last \(time), \
          “renew\\u{1b}[2J', says root”
          314159\tpending\tuser:991\tuse\tgone\tno such item, asked once, last \(time)
          141421\tapproved\tuser:992\tget\tb\t2 times, until \(time)
          \tdenied\tuser:993\t\tc\tuntil `vault requests forget`

          """)
      let terminal = try Terminal(sandbox, words("requests"))
      #expect(try terminal.wait() == 0)
      #expect(terminal.screen.contains("SUBJECT") && !terminal.screen.contains("\u{1B}[2J"))
      let offers = try sandbox.must(["__complete", "--", ""] + words("approve"))
      #expect(offers.hasPrefix("=271828\tuser:990,unit:gw.service iot/x\n"))
      let denied = try Terminal(sandbox, words("deny", "141421"))
      #expect(try denied.wait() == 0)
      #expect(denied.screen == "vault: user:992 may not have `b`\r\n")
    }
  }
}
