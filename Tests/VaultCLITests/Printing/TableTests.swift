import Foundation
import Glibc
import Testing
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("Tables") struct TableTests {
  @Test(
    "a character has the columns that a terminal gives it",
    arguments: [
      ("", 0), ("a", 1), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한글", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("Ａ", 2),
      ("ｱ", 1),
      ("🙂", 2), ("⌚", 2), ("☃", 1), ("🇵🇹", 2), ("├── a", 5), ("…", 1), ("Ω", 1), ("𠀀", 2), ("ไม้", 2),
    ])
  func width(text: String, columns: Int) { #expect(TextWidth.columns(text) == columns) }

  @Test("a text is cut to its columns, between characters")
  func cut() {
    #expect(TextWidth.cut("abcdef", to: 6) == "abcdef" && TextWidth.cut("abcdef", to: 5) == "abcd…")
    #expect(TextWidth.cut("日本語", to: 6) == "日本語" && TextWidth.cut("日本語", to: 5) == "日本…")
    #expect(
      TextWidth.cut("日本語", to: 4) == "日…" && TextWidth.cut("日本語", to: 1) == "…" && TextWidth.cut("a", to: 0) == "")
    #expect(TextWidth.cut("e\u{301}e\u{301}e\u{301}", to: 2) == "e\u{301}…")
    #expect(TextWidth.end(of: "ab日本", 3) == "本" && TextWidth.end(of: "abc", 9) == "abc")
  }

  @Test("columns stand below each other, whatever the characters")
  func columns() {
    var table = Table("NAME", "KIND")
    for name in ["日本語", "abc", "🙂", "e\u{301}"] { table.add(.init(name), .init("k")) }
    #expect(table.text(most: nil) == "NAME    KIND\n日本語  k\nabc     k\n🙂      k\ne\u{301}       k\n")
  }

  @Test("the widest column is shortened to the terminal, and the others stay whole", arguments: [30, 40, 80, 100, 200])
  func fits(most: Int) {
    var table = Table("NAME", "KIND", "MODIFIED")
    let names = [String(repeating: "n", count: 512), String(repeating: "日", count: 170), "short"]
    for name in names { table.add(.init(name), .init("note", isRed: true), .init("2030-01-31")) }
    var whole = table
    let lines = table.text(most: most).split(separator: "\n")
    #expect(lines.count == 4 && lines.allSatisfy { TextWidth.columns($0) <= most }, "\(lines)")
    #expect(lines.dropFirst().allSatisfy { $0.contains("  note  ") && $0.hasSuffix("  2030-01-31") })
    #expect(lines[1].contains("nnnnnn…  ") && lines[2].contains("日…  ") || lines[2].contains("日…   "))
    #expect(lines[3].hasPrefix("short  "))
    for name in names { #expect(whole.text(most: nil).contains(name) || whole.count == 0) }
  }

  @Test("no table is wider than a narrow terminal", arguments: [24, 30, 40])
  func narrow(most: Int) {
    var items = Table("NAME", "KIND", "MODIFIED", "EXPIRES")
    items.add(.init("│   ├── a-long-name"), .init("password"), .init("2026-11-30"), .init("2030-03-17", isRed: true))
    var deposits = Table("NO", "NAME", "KIND", "SIZE", "SENT", "BY", "STATE")
    deposits.add(
      .init("271828"), .init("iot/日本語"), .init("device-token"), .init("17 bytes"), .init("2026-11-30 07:06:00+00:00"),
      .init("user:somebody"), .init("kept aside"))
    for text in [items.text(most: most), deposits.text(most: most)] {
      let lines = text.split(separator: "\n")
      #expect(lines.count == 2 && lines.allSatisfy { TextWidth.columns($0) <= most }, "\(lines)")
    }
  }

  @Test("nor is what a command prints there", arguments: [24, 40])
  func narrowTerminal(most: Int) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "git/a-long-name/of-an-item", "--expires", "2030-03-17"], stdin: "v")
    for command in ["list", "find kind=password", "history web", "audit"] {
      let terminal = try Terminal(
        sandbox, ["-c", "stty cols \(most); exec vault \(command)"], program: "/bin/sh", environment: ["NO_COLOR": "1"])
      #expect(try terminal.wait() == 0, "\(terminal.screen)")
      let lines = terminal.screen.split(separator: "\r\n")
      #expect(lines.count > 1 && lines.allSatisfy { TextWidth.columns($0) <= most }, "\(command): \(lines)")
    }
  }

  @Test("what stands below a row is whole, however narrow the terminal is", arguments: [60, 80])
  func below(most: Int) {
    let words = (1...20).map { "word\($0)" }.joined(separator: " ")
    let request = Wire.Request(
      number: 271_828, state: "pending", subject: "user:somebody-with-a-name", right: "get", name: "backup/deep/key",
      reason: words + " \u{1B}[2J", count: 2, last: 1_893_456_000)
    var table = RequestReport.table([request])
    let lines = table.text(most: most).split(separator: "\n")
    #expect(lines.count > 3 && lines.allSatisfy { TextWidth.columns($0) <= most }, "\(lines)")
    let below = lines.dropFirst(2).map { $0.drop { " …".contains($0) } }.joined(separator: " ")
    #expect(below == "“\(words) \\u{1b}[2J”" && lines.dropFirst(2).allSatisfy { $0.hasPrefix("    ") }, "\(lines)")
  }

  @Test("several long columns are shortened alike")
  func alike() {
    var table = Table("A", "B")
    table.add(.init(String(repeating: "a", count: 300)), .init(String(repeating: "b", count: 200)))
    let row = table.text(most: 40).split(separator: "\n")[1]
    #expect(TextWidth.columns(row) == 40)
    #expect(abs(row.filter { $0 == "a" }.count - row.filter { $0 == "b" }.count) <= 1, "\(row)")
    // A terminal that is too narrow for the table still shows its rows.
    #expect(table.count == 0)
    table.add(.init(String(repeating: "a", count: 300)), .init("b"))
    #expect(table.text(most: 1).contains("aaaaaaaaa…  b"))
  }

  @Test("a name of 512 bytes leaves a table in its columns on a terminal, and is whole in a pipe")
  func terminal() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let names = [String(repeating: "n", count: 512), String(repeating: "日", count: 170), "🙂"]
    for name in names { try sandbox.must(["set", name], stdin: "v") }
    for arguments in [["list"], ["list", "--flat"], ["find", "kind=password"]] {
      let terminal = try Terminal(sandbox, arguments, environment: ["NO_COLOR": "1"])
      #expect(try terminal.wait() == 0)
      let lines = terminal.screen.split(separator: "\r\n")
      #expect(lines.count == 5 && lines.allSatisfy { TextWidth.columns($0) <= 100 }, "\(arguments) \(lines)")
      #expect(lines.dropFirst().allSatisfy { $0.contains("password  2") }, "\(lines)")
    }
    #expect(Set(try sandbox.must(["list"]).split(separator: "\n").map(String.init)) == Set(names + ["web"]))
  }

  @Test("a batch that takes longer than a second says how far it is, and takes that away")
  func progress() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let pipe = sandbox.home + "/pipe"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let end = unsafe open(pipe, O_RDWR | O_CLOEXEC)
    #expect(end >= 0)
    func feed(_ range: Range<Int>) {
      let lines = Array(range.map { "{\"name\":\"many/\($0)\",\"value\":\"v\"}\n" }.joined().utf8)
      var sent = 0
      while sent < lines.count {
        let count = unsafe lines[sent...].withUnsafeBytes { unsafe write(end, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        sent += count
      }
    }
    let terminal = try Terminal(sandbox, ["set", "--batch"], stdin: pipe)
    feed(0..<400)
    // Progress is shown after a second, so the test really has to wait.
    Thread.sleep(forTimeInterval: 1.2)
    feed(400..<800)
    try terminal.expect("\r\u{1B}[Kchecked 768 items so far")
    close(end)
    try terminal.expect("\r\u{1B}[Kvault: stored 800 items\r\n")
    #expect(try terminal.wait() == 0)
  }
}
