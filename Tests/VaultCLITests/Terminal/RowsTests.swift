import Testing
import VaultTesting

@testable import VaultCLI

/// Questions on a terminal. No row of a question may read as another program's question.
@Suite("Rows of a question") struct RowsTests {
  static let forged = "[sudo] password for root:"

  /// The rows that a terminal with this many columns makes of the text; every character from U+1100 on counts as wide.
  private static func rows(_ text: String, _ columns: Int) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
      var rows = [""]
      var used = 0
      for scalar in line.unicodeScalars where scalar != "\r" {
        let width = scalar.value < 0x1100 ? 1 : 2
        if used + width > columns {
          rows.append("")
          used = 0
        }
        rows[rows.count - 1].unicodeScalars.append(scalar)
        used += width
      }
      return rows
    }
  }

  @Test("a short text stays as it is")
  func short() {
    for text in ["", "Again: ", "Vault password: ", "Recovery code:\n\n    ", "  a/b\n", "\n"] {
      #expect(Rows.lay(text, columns: 80) == text)
    }
  }

  @Test(
    "every row begins with our own words, whatever fills the ones before",
    arguments: [" ", "\u{A0}", "\u{3000}", "\u{2800}", "\u{2003}", "x", ". ", "鍵", "é "])
  func wraps(filler: String) {
    for columns in [20, 40, 79, 80, 81, 132] {
      for count in 0...(2 * columns) {
        let text = "vault: \(String(repeating: filler, count: count))\(Self.forged) "
        let laid = Rows.lay(text, columns: columns)
        let rows = Self.rows(laid, columns)
        #expect(rows[0].hasPrefix("vault:"), "\(columns) \(count)")
        #expect(rows.dropFirst().allSatisfy { $0.hasPrefix("…") }, "\(columns) \(count)")
        #expect(rows.count == laid.split(separator: "\n").count, "the terminal wraps nothing")
      }
    }
  }

  @Test("of a run of blanks one stays, and an indent of up to four")
  func blanks() {
    #expect(Rows.lay("a \u{A0}\u{3000}\u{2800} b", columns: 80) == "a b")
    #expect(Rows.lay("      \u{3000}a", columns: 80) == "    a")
    #expect(Rows.lay("a:  ", columns: 80) == "a: ")
  }

  @Test("a terminal that is too narrow for anything is no fault")
  func narrow() { #expect(Rows.lay("vault: abcdef", columns: 1) == "vault:\n… abcdef") }

  @Test("a question of several rows is one question, and says once whose it is", arguments: [40, 60, 80])
  func whole(columns: Int) {
    let question =
      "Vault password to change grants (asked by: vault grant unit:some-longer-name.service 'iothome/**'): "
    let rows = Rows.lay(question, columns: columns).split(separator: "\n")
    #expect(rows.count > 1 && rows.allSatisfy { TextWidth.columns($0) < columns })
    #expect(!rows.contains { $0.contains("vault:") })
    #expect(rows.map { $0.hasPrefix("… ") ? $0.dropFirst(2) : $0 }.joined(separator: " ") == question)
    let below = Rows.lay("    “\(question)”", columns: columns, indent: "    ").split(separator: "\n")
    #expect(below[0].hasPrefix("    “") && below.dropFirst().allSatisfy { $0.hasPrefix("    … ") })
  }

  @Test("no row of a daemon's question reads as another program's", arguments: [" ", "\u{A0}", "\u{3000}", "\u{2800}"])
  func question(blank: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let text = "Touch the sensor" + String(repeating: blank, count: 240 - 7 - 16) + "[sudo] password for root"
    let prompt =
      #"{"parameters":{"conversation":"c0ffee","prompt":{"style":"secret","method":"pam","text":"\#(text)"}},"#
      + #""continues":true}"#
    let daemon = try ScriptedDaemon(sandbox, ["Unlock": [prompt]])
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, ["unlock", "--socket", daemon.socket])
    try terminal.expect("root: ")
    let rows = Self.rows(terminal.screen, 80)
    #expect(rows.last == "vault: Touch the sensor [sudo] password for root: ", "\(rows)")
    terminal.control("d")
    try terminal.wait()
  }
}
