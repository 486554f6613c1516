import Foundation
import Testing
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("vault deposit, deposits and show-key") struct DepositTests {
  @Test(
    "an argument that makes no sense is told, before anything is read",
    arguments: [
      (["deposit"], "missing expected argument '<name>'"),
      (["deposit", "web", "--seal"], "--seal needs a key; give it with --key"),
      (["deposit", "web", "--key", "k"], "--key is for --seal; give --seal too"),
      (["deposit", "web", "-o", "f"], "--output is for --seal; give --seal too"),
      (["deposit", "web", "--output=f"], "--output is for --seal; give --seal too"),
      (["deposit", "web", "--force"], "--force is for --output; give --output too"),
      (["deposit", "web", "--seal", "--key", "k", "--force"], "--force is for --output; give --output too"),
      (["deposit", "web", "--seal", "--key", "k", "--reason", "r"], "--reason is for the deposit itself"),
      (["deposit", "web", "--seal", "--key", "-"], "standard input cannot supply both the key and the value"),
      (["deposit", "web", "--seal", "--key", "-", "--file", "-"], "standard input cannot supply both"),
      (["deposit", "--seal", "--key", "k"], "missing expected argument '<name>'"),
      (["deposit", "web", "--kind", "spoon"], "give one of password, "),
      (["deposit", "web", "--accessible", "sometimes"], "give one of when-unlocked, "),
      (["deposit", "web", "--attr", "owner"], "`owner` is not a valid attribute"),
      (["deposit", "web", "--sealed", "f"], "give only --reason with --sealed"),
      (["deposit", "--sealed", "f", "--seal", "--key", "k"], "give only --reason with --sealed"),
      (["deposit", "--sealed", "f", "--kind", "note"], "give only --reason with --sealed"),
      (["deposit", "--sealed", "f", "--attr", "a=b"], "give only --reason with --sealed"),
      (["deposit", "--sealed", "f", "--accessible", "always"], "give only --reason with --sealed"),
      (["deposit", "--sealed", "f", "--file", "v"], "give only --reason with --sealed"),
      (["deposit", "--sealed", "f", "-o", "v"], "give only --reason with --sealed"),
      (["deposits", "accept"], "missing expected argument '<numbers> ...'"),
      (["deposits", "accept", "0"], "deposits are counted from 1"),
      (["deposits", "drop", "1", "1.5"], "deposits are counted from 1"),
      (["deposits", "drop", "99999999999999999999"], "deposits are counted from 1"),
      (["deposits", "settle"], "unknown command `deposits settle`"),
      (["show-key", "--force"], "--force is for --output; give --output too"),
    ])
  func mistakes(arguments: [String], message: String) throws {
    let failure = #expect(throws: Failure.self) { try Arguments.parse(arguments) }
    #expect(failure?.exit == .usage && failure?.message.contains(message) == true, "\(failure?.message ?? "")")
  }

  @Test("every way to leave a value is taken")
  func ways() throws {
    for arguments in [
      ["deposit", "web"], ["deposit", "web", "--seal", "--key", "k", "-o", "f", "--force"],
      ["deposit", "web", "--seal", "--key", "-", "--file", "v"], ["deposit", "--sealed", "-", "--reason", "r"],
      ["deposit", "web", "-k", "note", "-a", "a=b", "--accessible", "always", "--exact", "--reason", "r"],
    ] {
      #expect(try Arguments.parse(arguments) is DepositCommand)
    }
    let command = try #require(try Arguments.parse(["deposits", "drop", "3", "1", "--yes"]) as? DepositsDropCommand)
    #expect(command.settlement.numbers == [3, 1] && command.settlement.yes)
    #expect(try Arguments.parse(["deposits"]) is DepositsListCommand)
  }

  @Test(
    "the first line that begins so counts, without the blanks behind it, and only as text",
    arguments: [
      ("vault-key:AB==\n", "vault-key:AB=="), ("vault-key:AB==", "vault-key:AB=="),
      ("Hello,\r\n\r\nvault-key:A \t\r\nfingerprint 1\r\n", "vault-key:A"),
      ("vault-key:A\nvault-key:B\n", "vault-key:A"),
      ("", nil), ("\n\n", nil), (" vault-key:A\n", nil), ("vault-ke", nil), ("vault-key:A b\n", nil),
      ("vault-key:A\u{1B}[2J\n", nil), ("vault-key:é\n", nil), ("vault-key:\n", "vault-key:"),
    ] as [(String, String?)])
  func lines(text: String, line: String?) {
    let bytes = Array(text.utf8)
    #expect(DepositLine.line(of: bytes.span, "vault-key:") == line)
  }

  @Test("what came of it is said in a line, as far as it is known")
  func sentences() {
    func sentence(
      _ number: Int?, waiting: Bool = false, version: Int? = nil, kept: String? = nil, name: String? = "iot/x"
    ) -> String {
      Wire.DepositSealedReply(number: number, waiting: waiting, version: version, kept: kept, name: name).sentence
    }
    #expect(sentence(nil, version: 3) == "stored version 3 of `iot/x`")
    #expect(sentence(nil, version: 3, name: nil) == "stored version 3")
    #expect(sentence(nil) == "deposited for `iot/x`")
    #expect(sentence(nil, name: nil) == "deposited")
    #expect(sentence(5, waiting: true) == "deposited for `iot/x`; the next unlock decides about it (deposit 5)")
    #expect(sentence(5, waiting: true, name: nil) == "deposited; the next unlock decides about it (deposit 5)")
    #expect(sentence(5, kept: "r\n") == "kept aside (deposit 5): r\\u{a}; `vault deposits` shows it")
  }

  @Test("an entry is shown with all that is known of it, however hostile that is")
  func entries() {
    let info = Wire.DepositInfo(number: 5, waiting: false, reason: "it is not a deposit")
    #expect(info.sentence == "5: it is not a deposit")
    let whole = Wire.DepositInfo(
      number: 7, waiting: false, reason: "seen", name: "a\u{1B}[2J", kind: "note", accessible: "always", size: 12,
      time: 0, depositor: "user:1\n", sealed: true)
    #expect(
      whole.sentence
        == "7 for `a\\u{1b}[2J` (note, always, 12 bytes, sealed elsewhere), deposited \(LocalTime.text(0, to: 2)) "
        + "by user:1\\u{a}: seen")
  }

  @Test("what does not look like a password is asked for its kind, locked or not, and not where the item has one")
  func kinds() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let uri = "otpauth://totp/Example:ana?secret=JBSWY3DPEHPK3PXP"
    let question = "It looks like the secret of one-time codes (otpauth://). Its kind (Enter for totp): "
    for (name, answer) in [("open", ""), ("password", "password"), ("locked", "")] {
      if name == "locked" { try sandbox.must(["lock"]) }
      let terminal = try Terminal(sandbox, ["deposit", name])
      try terminal.expect("Value of `\(name)`: ")
      terminal.type(uri)
      try terminal.expect(question)
      terminal.type(answer)
      #expect(try terminal.wait() == 0)
      #expect(!terminal.screen.contains("JBSW") && terminal.isCooked)
    }
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    for (name, kind) in [("open", "totp"), ("password", "password"), ("locked", "totp")] {
      #expect(try sandbox.must(["show", name]).contains("\nkind: \(kind)\n"), "\(name)")
    }
    let again = try Terminal(sandbox, ["deposit", "password", "--file", sandbox.write(uri + "&digits=8", to: "uri")])
    #expect(try again.wait() == 0)
    #expect(!again.screen.contains("kind") && again.screen.contains("stored version 2 of `password`"))
    // Without a person nothing is asked.
    try sandbox.must(["deposit", "pipe"], stdin: uri)
    #expect(try sandbox.must(["show", "pipe"]).contains("\nkind: password\n"))
  }

  @Test("a sealed one is asked for its kind, and takes a network's code apart") func sealedKind() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["show-key", "-o", sandbox.home + "/key"])
    let terminal = try Terminal(
      sandbox, ["deposit", "net", "--seal", "--key", sandbox.home + "/key", "-o", sandbox.home + "/sealed"])
    try terminal.expect("Value of `net`: ")
    terminal.type("WIFI:T:WPA;S:net;P:correct horse;;")
    try terminal.expect("It looks like the code of a Wi-Fi network (WIFI:). Its kind (Enter for wifi): ")
    terminal.type("")
    #expect(try terminal.wait() == 0)
    try sandbox.must(["deposit", "--sealed", sandbox.home + "/sealed"])
    #expect(try sandbox.must(["get", "net"]) == "correct horse")
    #expect(try sandbox.must(["show", "net"]).contains("\nattr ssid: net\n"))
  }

  @Test("an unlock says that deposits are kept aside, until somebody has settled them")
  func keptAtUnlock() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["lock"])
    try sandbox.must(["deposit", "web", "--kind", "note"], stdin: "a note")
    func unlockSays() throws -> Bool {
      let terminal = try Terminal(sandbox, ["unlock"])
      try terminal.expect("Vault password: ")
      terminal.type(password)
      #expect(try terminal.wait() == 0)
      return terminal.screen.contains("1 deposit is kept aside; `vault deposits` says why")
    }
    #expect(try unlockSays())
    try sandbox.must(["lock"])
    #expect(try unlockSays())
    let number = try sandbox.must(["deposits"]).prefix { $0 != "\t" }
    try sandbox.must(["deposits", "drop", "--yes", String(number)])
    try sandbox.must(["lock"])
    #expect(try !unlockSays())
  }

  @Test("a list on a terminal says what to do about a deposit that was kept aside") func advised() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["deposit", "web", "--kind", "note"], stdin: "a note")
    let number = String(try sandbox.must(["deposits"]).prefix { $0 != "\t" })
    let terminal = try Terminal(sandbox, ["deposits"])
    try terminal.expect(
      "vault: `vault deposits accept \(number)` stores deposit \(number) as if you had set it, and `vault deposits drop"
    )
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("vault grant"))
  }

  @Test("a list on a terminal offers only the deletion of a deposit that no acceptance can store")
  func defective() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "x", "--kind", "wifi", "-a", "ssid=net"], stdin: "long;enough")
    // Without the kind, only the vault knows that the item is one.
    try sandbox.must(["deposit", "x"], stdin: "WIFI:T:WPA;S:net;P:long enough;;")
    let number = String(try sandbox.must(["deposits"]).prefix { $0 != "\t" })
    let terminal = try Terminal(sandbox, ["deposits"])
    #expect(try terminal.wait() == 0)
    let advice = "deposit \(number) cannot be accepted, because the value is not valid for its kind; "
    #expect(terminal.screen.contains(advice), "\(terminal.screen)")
    #expect(!terminal.screen.contains("deposits accept"))
    #expect(try sandbox.run("deposits", "accept", "--yes", number).status == 65)
  }

  @Test("of a deposit that nobody can read it offers only the deletion") func unreadable() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let (key, box) = (sandbox.home + "/key", sandbox.home + "/box")
    try sandbox.must(["show-key", "-o", key])
    try sandbox.must(["deposit", "--seal", "--key", key, "-o", box, "web"], stdin: "late")
    try sandbox.must(["rekey", "--password-stdin"], stdin: password + "\n")
    let kept = try sandbox.run("deposit", "--sealed", box)
    #expect(kept.status == 65 && kept.errors.contains("it does not open with the vault's key"), "\(kept)")
    let number = String(try sandbox.must(["deposits"]).prefix { $0 != "\t" })
    let terminal = try Terminal(sandbox, ["deposits"])
    try terminal.expect("vault: deposit \(number) cannot be accepted, because nobody can read it; `vault deposits drop")
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("accept \(number)"))
  }

  @Test("the table fits 80 columns with the longest there is, and shows a whole day")
  func table() {
    let long = String(repeating: "x", count: 200)
    var table = DepositReport.table([
      Wire.DepositInfo(
        number: 4096, waiting: false, reason: long, name: long, kind: "pairing-code", accessible: "when-unlocked",
        size: 1_048_575, time: 1_800_000_000, depositor: long)
    ])
    let rows = table.text(withHeading: false, most: 80).split(separator: "\n")
    #expect(rows.allSatisfy { $0.count <= 80 } && rows[0].contains(" 2027-01-15 "), "\(rows)")
    // The reason stands below, in full.
    #expect(rows.dropFirst().joined().filter { $0 == "x" }.count == 200, "\(rows)")
  }
}
