internal import VaultModel

/// The description that a pinentry shows, cut to fit.
///
/// All of the description is one line of the protocol. pinentry-curses does not ask at all when the text is too high
/// for its terminal.
enum PinentryText {
  /// The rows that pinentry-curses needs for its frame, the field and the buttons.
  private static let otherRows = 7
  /// The columns that pinentry-curses needs for its frame.
  private static let otherColumns = 4
  /// The most columns of the text, although a window has room for more.
  private static let widest = 72

  /// - Parameters:
  ///   - heading: the first line. It is the agent's own text, because some windows decide by the first line whether the
  ///     text is markup.
  ///   - facts: the lines below the title. When there is no room, lines before the last one are left out.
  /// - Returns: the description; nil if there is no room for the whole title of a question that gives a right. Any part
  ///   of it may be what tells one item from another.
  static func description(
    _ heading: String, _ question: Question, facts: [String], within size: (rows: Int, columns: Int)
  ) -> String? {
    let rows = max(size.rows - otherRows, 3)
    let width = min(size.columns - otherColumns, widest)
    var facts = facts
    while true {
      for (most, part) in [(6, 1), (4, 1), (3, 1), (2, 1), (1, 1), (1, 2)] {
        let lines = lines(heading, question, facts, within: width / part, most: most)
        let text = lines.joined(separator: "\n")
        if lines.count <= rows, AssuanCommand.isWhole(text) { return text }
        if facts.isEmpty, part > 1 { return question.givesRight ? nil : text }
      }
      facts.remove(at: max(0, facts.count - 2))
    }
  }

  private static func lines(
    _ heading: String, _ question: Question, _ facts: [String], within width: Int, most: Int
  ) -> [String] {
    let said = question.words.map { "In its own words: \(Printable.said($0))" }
    let words = said.map { cut($0, within: width, most: most, end: "…”") } ?? []
    let title = cut(question.title, within: width, most: question.givesRight ? .max : most, end: "…")
    return [heading] + title + facts.flatMap { cut($0, within: width, most: most, end: "…") } + words
  }

  /// The first `most` lines of a text.
  private static func cut(_ text: String, within width: Int, most: Int, end: String) -> [String] {
    var lines = Wrapping.lines(Printable.line(text), within: width)
    guard lines.count > most else { return lines }
    lines.removeSubrange(most...)
    // Each character of `end` replaces two characters, because a character may take two columns.
    lines[most - 1] = String(lines[most - 1].dropLast(2 * end.count)) + end
    return lines
  }
}

extension Question {
  /// True if the answer may give a caller a right.
  fileprivate var givesRight: Bool { if case .approval = kind { true } else { false } }
}
