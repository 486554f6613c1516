import Foundation
import Testing
import VaultTesting

/// The deposit commands against a daemon with scripted replies.
@Suite("Deposits at the socket") struct DepositDoorTests {
  private static let kept = """
    {"parameters":{"deposits":[\
    {"number":7,"waiting":false,"reason":"it was deposited before","name":"iot/x","kind":"api-key",\
    "accessible":"when-unlocked","size":12,"time":1800000000,"depositor":"user:990,unit:gw.service","sealed":true},\
    {"number":5,"waiting":false,"reason":"it is not a deposit","time":1800000000},\
    {"number":9,"waiting":true}]},"continues":true}
    """
  private static let last = #"{"parameters":{"deposits":[]}}"#
  private static let unlocked = """
    {"parameters":{"state":"unlocked","cause":"by password","since":1,"locks_on":[],"methods":[],"warnings":[],\
    "version":"0.1.0","pid":1}}
    """

  /// Runs `body` with a daemon that gives these replies.
  private func with(
    _ replies: [String: [String]], _ body: (Sandbox, (String...) -> [String]) throws -> Void
  ) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, replies)
    defer { daemon.close() }
    try body(sandbox) { $0 + ["--socket", daemon.socket] }
  }

  @Test(
    "what came of it is told on a terminal, and as JSON, and nothing elsewhere",
    arguments: [
      (#"{"waiting":false,"version":3}"#, "stored version 3 of `iot/x`"),
      (#"{"waiting":false}"#, "deposited for `iot/x`"),
      (#"{"number":5,"waiting":true}"#, "deposited for `iot/x`; the next unlock decides about it (deposit 5)"),
      (#"{"number":5,"waiting":false,"kept":"why"}"#, "kept aside (deposit 5): why; `vault deposits` shows it"),
    ])
  func left(reply: String, sentence: String) throws {
    try with(["Deposit": [#"{"parameters":\#(reply)}"#]]) { sandbox, words in
      let value = try sandbox.write("hunter2", to: "value")
      let terminal = try Terminal(sandbox, words("deposit", "iot/x"), stdin: value)
      #expect(try terminal.wait() == 0)
      #expect(terminal.screen == "vault: \(sentence)\r\n")
      let quiet = try sandbox.run(words("deposit", "iot/x"), stdin: Array("hunter2".utf8))
      #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty, "\(quiet)")
      let json = try sandbox.run(words("deposit", "iot/x", "--json"), stdin: Array("hunter2".utf8))
      #expect(json.output == reply.dropLast() + #","name":"iot/x"}"# + "\n" && json.errors.isEmpty, "\(json)")
    }
  }

  @Test("a value is not offered again to whoever may not deposit it") func denied() throws {
    let replies = [
      "Status": [
        #"{"parameters":{"state":"locked","cause":"idle","since":1,"locks_on":[],"methods":[],"warnings":[],"#
          + #""version":"0.0.9","pid":4711}}"#
      ],
      "Can": [#"{"error":"io.vaultd.Vault.Locked","parameters":{"state":"locked","cause":"idle"}}"#],
      "Deposit": [#"{"error":"io.vaultd.Vault.Denied","parameters":{"reason":"you may not do this"}}"#],
    ]
    try with(replies) { sandbox, words in
      let terminal = try Terminal(sandbox, words("deposit", "iot/x"))
      try terminal.expect("Value of `iot/x`: ")
      terminal.type("hunter2")
      try terminal.expect("Again: ")
      terminal.type("hunter2")
      #expect(try terminal.wait() == 77, "\(terminal.screen)")
      #expect(terminal.screen.contains("denied: you may not do this"), "\(terminal.screen)")
      #expect(!terminal.screen.contains("same value"), "\(terminal.screen)")
    }
  }

  @Test("a sealed line that is kept aside at once is an error, whoever reads the report") func keptSealed() throws {
    let reply = #"{"number":5,"waiting":false,"kept":"why","name":"iot/x"}"#
    let line = "vault: kept aside (deposit 5): why; `vault deposits` shows it"
    try with(["DepositSealed": [#"{"parameters":\#(reply)}"#]]) { sandbox, words in
      let command = words("deposit", "--sealed", try sandbox.write("vault-deposit:AA==\n", to: "box"))
      let terminal = try Terminal(sandbox, command)
      #expect(try terminal.wait() == 65)
      #expect(terminal.screen == line + "\r\n")
      for (options, output) in [([], ""), (["--json"], reply + "\n")] as [([String], String)] {
        let quiet = try sandbox.run(command + options)
        #expect(quiet.status == 65 && quiet.errors == line + "\n" && quiet.output == output, "\(quiet)")
      }
    }
  }

  @Test("on a terminal the value is asked for twice and does not show, and nobody is asked for an unlock")
  func typed() throws {
    try with(["Deposit": [#"{"parameters":{"number":1,"waiting":true}}"#]]) { sandbox, words in
      let terminal = try Terminal(sandbox, words("deposit", "iot/x"))
      for question in ["Value of `iot/x`: ", "Again: "] {
        try terminal.expect(question)
        #expect(!terminal.echoes)
        terminal.type("hunter2")
      }
      try terminal.expect("the next unlock decides about it")
      #expect(try terminal.wait() == 0 && terminal.isCooked)
      #expect(!terminal.screen.contains("hunter2"))
    }
  }

  @Test("a typed value that the daemon refuses is corrected in the same run") func corrected() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["deposit", "pin", "--kind", "pairing-code"])
    for value in ["031-45", "031-45-154"] {
      for question in ["Value of `pin`: ", "Again: "] {
        try terminal.expect(question)
        terminal.type(value)
      }
      if value == "031-45-154" { break }
      try terminal.expect("a pairing code is digits in groups such as 031-45-154")
      try terminal.expect("Type it again (e), or give up (n)? ")
      terminal.type("e")
    }
    #expect(try terminal.wait() == 0 && terminal.isCooked)
    #expect(try sandbox.must(["get", "pin"]) == "031-45-154")
  }

  @Test(
    "a refusal ends as any other, and says what to do",
    arguments: [
      (#"{"error":"io.vaultd.Vault.RekeyRests"}"#, 75, "unlock it, then deposit the value again"),
      (
        #"{"error":"io.vaultd.Vault.Locked","parameters":{"state":"cold","cause":"start"}}"#, 75,
        "open it with `vault unlock`"
      ),
      (#"{"error":"io.vaultd.Vault.Denied","parameters":{"reason":"no grant"}}"#, 77, "denied: no grant"),
    ] as [(String, Int32, String)])
  func refused(reply: String, status: Int32, text: String) throws {
    try with(["Deposit": [reply], "DepositSealed": [reply], "PublicKey": [reply]]) { sandbox, words in
      let box = try sandbox.write("vault-deposit:AA==\n", to: "box")
      for command in [words("deposit", "iot/x"), words("deposit", "--sealed", box), words("show-key")] {
        let outcome = try sandbox.run(command, stdin: Array("hunter2".utf8))
        #expect(outcome.status == status && outcome.errors.contains(text), "\(outcome)")
      }
    }
  }

  private static let sealed = #"{"parameters":{"box":"vault-deposit:QUJD","fingerprint":"0123 4567"}}"#

  @Test("a box goes to standard output or to a file of mode 0600, which replaces none unasked")
  func sealing() throws {
    try with(["SealDeposit": [Self.sealed]]) { sandbox, words in
      let key = try sandbox.write("vault-key:QQ==\nfingerprint 0123 4567\n", to: "key")
      let seal = words("deposit", "--seal", "--key", key, "iot/x")
      let printed = try sandbox.run(seal, stdin: Array("hunter2".utf8))
      #expect(printed.output == "vault-deposit:QUJD\n" && printed.errors.isEmpty && printed.status == 0, "\(printed)")

      let file = sandbox.home + "/box"
      let terminal = try Terminal(
        sandbox, seal + ["-o", file], stdin: try sandbox.write("hunter2", to: "value"))
      #expect(try terminal.wait() == 0)
      #expect(
        terminal.screen
          == "vault: sealed to the key with the fingerprint 0123 4567; compare it with `vault show-key` there\r\n")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "vault-deposit:QUJD\n")
      #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)

      try Data("precious".utf8).write(to: URL(fileURLWithPath: file))
      let refused = try sandbox.run(seal + ["-o", file], stdin: Array("hunter2".utf8))
      #expect(refused.status == 73 && refused.errors.contains("give --force to replace it"), "\(refused)")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
      let forced = try sandbox.run(seal + ["-o", file, "--force", "--json"], stdin: Array("hunter2".utf8))
      #expect(forced.output == #"{"name":"iot/x","file":"\#(file)","fingerprint":"0123 4567"}"# + "\n", "\(forced)")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "vault-deposit:QUJD\n")
    }
  }

  @Test("the key may come from standard input where the value does not")
  func keyFromInput() throws {
    try with(["SealDeposit": [Self.sealed]]) { sandbox, words in
      let value = try sandbox.write("hunter2", to: "value")
      let outcome = try sandbox.run(
        words("deposit", "--seal", "--key", "-", "--file", value, "iot/x"), stdin: Array("vault-key:QQ==\n".utf8))
      #expect(outcome.status == 0 && outcome.output == "vault-deposit:QUJD\n", "\(outcome)")
    }
  }

  @Test("a file without a key, without a box or without an end is refused, and nothing is sent")
  func noLine() throws {
    try with(["DepositSealed": [#"{"parameters":{"waiting":false}}"#], "SealDeposit": [Self.sealed]]) {
      sandbox, words in
      let other = try sandbox.write("vault-other:AA==\n", to: "other")
      for (arguments, text) in [
        (["--sealed", other], "`\(other)` holds no sealed deposit; name the output of `vault deposit --seal`"),
        (["--sealed", "-"], "standard input holds no sealed deposit"),
        (["--sealed", "/dev/zero"], "/dev/zero holds more than 2097152 bytes; name the output of `vault deposit"),
        (
          ["--seal", "iot/x", "--file", other, "--key", other],
          "holds no key of a vault; name the output of `vault show-key`"
        ),
        (["--seal", "iot/x", "--file", other, "--key", "/dev/zero"], "/dev/zero holds more than 65536 bytes"),
      ] {
        let outcome = try sandbox.run(words("deposit") + arguments)
        #expect(outcome.status == 65 && outcome.errors.contains(text) && outcome.output.isEmpty, "\(outcome)")
      }
      let missing = try sandbox.run(words("deposit", "--sealed", "/nonexistent/box"))
      #expect(missing.status == 74, "\(missing)")
      // A long deposit, behind other lines.
      let box = "Hello\nvault-deposit:" + String(repeating: "A", count: 100_000) + "\n"
      let handed = try sandbox.run(words("deposit", "--sealed", "-", "--json"), stdin: Array(box.utf8))
      #expect(handed.status == 0 && handed.output == "{\"waiting\":false}\n", "\(handed)")
    }
  }

  @Test("the key is printed with its fingerprint, or put into a file")
  func key() throws {
    try with(["PublicKey": [#"{"parameters":{"key":"vault-key:QQ==","fingerprint":"0123 4567"}}"#]]) { sandbox, words in
      let text = "vault-key:QQ==\nfingerprint 0123 4567\n"
      #expect(try sandbox.must(words("show-key")) == text)
      #expect(
        try sandbox.must(words("show-key", "--json")) == #"{"key":"vault-key:QQ==","fingerprint":"0123 4567"}"# + "\n")
      let file = sandbox.home + "/key"
      let terminal = try Terminal(sandbox, words("show-key", "-o", file))
      #expect(try terminal.wait() == 0)
      #expect(terminal.screen == "vault: the key is written; its fingerprint is 0123 4567\r\n")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
      #expect(try sandbox.run(words("show-key", "-o", file)).status == 73)
    }
  }

  @Test("what was left is listed in its order: whole to a pipe, a table on a terminal")
  func list() throws {
    try with(["Deposits": [Self.kept, Self.last]]) { sandbox, words in
      let time = "2027-01-15T08:00:00Z"
      #expect(
        try sandbox.must(words("deposits")) == """
          5\tkept\t\t\t\t\(time)\t\tit is not a deposit
          7\tkept\tiot/x\tapi-key\t12\t\(time)\tuser:990,unit:gw.service\tit was deposited before
          9\twaiting\t\t\t\t\t\t

          """)
      let json = try sandbox.must(words("deposits", "list", "--json")).split(separator: "\n")
      #expect(json.count == 3 && json[2] == #"{"number":9,"waiting":true}"# && json[1].contains(#""sealed":true"#))
      let terminal = try Terminal(sandbox, words("deposits"), environment: ["NO_COLOR": "1"])
      #expect(try terminal.wait() == 0)
      let rows = terminal.screen.split(separator: "\r\n")
      try #require(rows.count == 8, "\(terminal.screen)")
      #expect(rows[0].hasPrefix("NO  NAME   KIND     SIZE      SENT        BY"))
      // The reason stands below its row, in full.
      #expect(rows[2].contains("it is not a deposit") && rows[4].contains("it was deposited before"))
      #expect(rows[3].hasPrefix("7   iot/x  api-key  12 bytes  2027-01-15  user:990,"))
      #expect(rows[5].hasPrefix("9") && rows[5].hasSuffix("waiting"))
      #expect(rows[6].hasPrefix("vault: `vault deposits accept 7` stores deposit 7 as if you had set it"))
      #expect(rows[7].hasPrefix("vault: deposit 5 cannot be accepted, because nobody can read it"))
    }
    try with(["Deposits": [Self.last]]) { sandbox, words in
      #expect(try sandbox.must(words("deposits")) == "")
      let terminal = try Terminal(sandbox, words("deposits"))
      #expect(try terminal.wait() == 0)
      #expect(terminal.screen == "vault: nothing waits, and nothing was kept aside\r\n")
    }
  }

  @Test("accept and drop show what they are about and ask, or are told to go on")
  func settle() throws {
    let replies = [
      "Status": [Self.unlocked], "Deposits": [Self.kept, Self.last],
      "SettleDeposit": [#"{"parameters":{"name":"iot/x","version":4}}"#],
    ]
    try with(replies) { sandbox, words in
      for (answer, status) in [("y", Int32(0)), ("n", 77), ("", 77)] {
        let terminal = try Terminal(sandbox, words("deposits", "accept", "7"))
        try terminal.expect("  7 for `iot/x` (api-key, when-unlocked, 12 bytes, sealed elsewhere)")
        try terminal.expect("it was deposited before")
        try terminal.expect("Store it as if you had set it? [y/N] ")
        terminal.type(answer)
        #expect(try terminal.wait() == status)
        #expect(terminal.screen.contains("stored version 4 of `iot/x`") == (answer == "y"), "\(terminal.screen)")
      }
      let dropped = try Terminal(sandbox, words("deposits", "drop", "7", "5", "7"))
      try dropped.expect("5, deposited ")
      try dropped.expect("Delete these 2 deposits for good? [y/N] ")
      dropped.type("y")
      try dropped.expect("dropped 2 deposits")
      #expect(try dropped.wait() == 0)

      #expect(
        try sandbox.must(words("deposits", "accept", "7", "--yes", "--json"))
          == #"{"accepted":[{"number":7,"name":"iot/x","version":4}]}"# + "\n")
      #expect(try sandbox.must(words("deposits", "drop", "7", "5", "--yes", "--json")) == "{\"dropped\":[7,5]}\n")
      let unasked = try sandbox.run(words("deposits", "drop", "7", "5"))
      #expect(
        unasked.status == 75 && unasked.errors.contains("this would drop 2 deposits; add --yes to confirm"),
        "\(unasked)")
    }
  }

  @Test("several are accepted by one question") func several() throws {
    let two = Self.kept.replacing(
      #"{"number":5,"waiting":false,"reason":"it is not a deposit","time":1800000000}"#,
      with: #"{"number":5,"waiting":false,"reason":"it was deposited before","name":"iot/y","time":1800000000}"#)
    try with(["Status": [Self.unlocked], "Deposits": [two, Self.last]]) { sandbox, words in
      let both = try Terminal(sandbox, words("deposits", "accept", "7", "5"))
      try both.expect("Store these 2 deposits as if you had set them? [y/N] ")
      both.type("n")
      #expect(try both.wait() == 77)
    }
  }

  @Test("nothing is done unless each number is that of something that was kept aside")
  func lookedUp() throws {
    // If the command settled anything here, it would fail with a different exit code.
    let replies = ["Deposits": [Self.kept, Self.last], "SettleDeposit": [#"{"error":"io.vaultd.Vault.VaultExists"}"#]]
    try with(replies) { sandbox, words in
      for (number, status, text) in [
        ("6", Int32(66), "there is no deposit 6; see `vault deposits`"),
        ("9", 75, "deposit 9 waits for the next unlock"),
      ] {
        let outcome = try sandbox.run(words("deposits", "accept", "7", number, "--yes"))
        #expect(outcome.status == status && outcome.errors.contains(text), "\(outcome)")
      }
      let outcome = try sandbox.run(words("deposits", "drop", "7", "5", "--yes"))
      #expect(outcome.status == 73 && outcome.errors.contains("(0 dropped before that)"), "\(outcome)")
    }
  }

  @Test("the numbers of what was kept aside are completed, with the items")
  func completed() throws {
    try with(["Deposits": [Self.kept, Self.last]]) { sandbox, words in
      for command in ["accept", "drop"] {
        let offers = try sandbox.must(["__complete", "--", ""] + words("deposits", command))
        #expect(offers == "=5\tit is not a deposit\n=7\tiot/x\n")
      }
    }
  }
}
