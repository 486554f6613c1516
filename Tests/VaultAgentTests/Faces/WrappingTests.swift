import Testing
import VaultWire

@testable import VaultAgent

@Suite struct WrappingTests {
  @Test func `a text is cut at blanks, and what goes on is indented`() {
    #expect(Wrapping.lines("one two three four five", within: 16) == ["one two three", "    four five"])
    #expect(Wrapping.lines("short", within: 16, lead: "  ") == ["  short"])
    #expect(Wrapping.lines("", within: 16) == [""])
  }

  @Test func `a long word is cut anywhere`() {
    #expect(Wrapping.lines(String(repeating: "x", count: 30), within: 16).map(\.count) == [16, 16, 6])
    #expect(Wrapping.lines(String(repeating: "語", count: 10), within: 16).map(\.count) == [8, 6])
  }

  @Test func `blanks put nothing at the beginning of a line`() {
    let lines = Wrapping.lines("x" + String(repeating: " ", count: 99) + "asked by root", within: 20, lead: "  ")
    #expect(!lines.contains { $0.hasPrefix("asked") || $0.hasPrefix("  asked") })
    #expect(lines.allSatisfy { $0.count <= 20 })
  }

  @Test(arguments: [5, 14, 24, 60]) func `a description fits its window and a line of the protocol`(rows: Int) throws {
    for columns in [20, 80] {
      for letter in ["%", "語", "word "] {
        for count in [0, 1, 9] {
          let text = String(repeating: letter, count: 301)
          let question = Question(
            kind: .secret, title: text, facts: [], words: text, prompt: "", inquiry: Question.sample(.secret).inquiry,
            isSystem: false)
          let facts = Array(repeating: text, count: count)
          let shown = try #require(
            PinentryText.description("Vault", question, facts: facts, within: (rows, columns)))
          #expect(shown.split(separator: "\n").count <= max(rows - 7, 3))
          #expect(AssuanCommand.isWhole(shown) && shown.hasPrefix("Vault\n") && shown.hasSuffix("…”"))
        }
      }
    }
  }
  @Test func `an approval is shown with its whole title, or not at all`() {
    for (rows, columns) in [(5, 20), (14, 50), (24, 80), (40, 80)] {
      for count in [10, 100, 300, 520, 900] {
        let title = String(repeating: "n", count: count) + "1"
        let question = Question(
          kind: .approval(session: true), title: title, facts: [], words: "soon", prompt: "",
          inquiry: Question.sample(.approval(session: true)).inquiry, isSystem: false)
        let shown = PinentryText.description(
          "Vault", question, facts: Array(repeating: title, count: 3), within: (rows, columns))
        let letters = shown?.split(separator: "\n").dropFirst().joined().filter { $0 != " " }
        if rows == 40, count < 900 { #expect(letters != nil) }
        if let letters { #expect(letters.hasPrefix(title), "\(rows) \(count)") }
      }
    }
  }
}
