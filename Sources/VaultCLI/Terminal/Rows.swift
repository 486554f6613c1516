internal import VaultModel

/// Text in rows that this program lays out, not the terminal.
///
/// If a terminal wraps a long line, the next row begins with foreign text: three hundred characters with blanks in the
/// right places could end in a row that reads like another program's question for a password. So this program makes
/// each row: the row begins with this program's text, and blanks shift nothing to the right.
enum Rows {
  /// The beginning of a row that continues the one before. No program's question begins with it, and a reader
  /// recognizes it.
  private static let mark = "…"
  /// The least width of a row, however narrow the terminal is: the mark and some text after it.
  private static let least = 10

  /// Lays out text in rows that leave one column free, so that the next typed text stands where the last row ends.
  ///
  /// One blank of each run of blanks stays; at the beginning of a line up to four stay.
  ///
  /// - Parameter indent: the blanks before the mark of each continued row.
  static func lay(_ text: String, columns: Int, indent: String = "") -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      rows(collapse(line), most: max(least, columns - 1), indent + mark).joined(separator: "\n")
    }.joined(separator: "\n")
  }

  private static func rows(_ line: String, most: Int, _ mark: String) -> [String] {
    var rows = [""]
    var used = 0
    func begin(_ text: String) {
      rows.append(text)
      used = width(text[...])
    }
    for (index, word) in line.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
      let width = width(word)
      if index > 0, used + 1 + width > most, self.width(mark[...]) + 1 + width <= most { begin(mark) }
      for scalar in ((index > 0 ? " " : "") + word).unicodeScalars {
        if used + columns(scalar) > most { begin(mark + " ") }
        rows[rows.count - 1].unicodeScalars.append(scalar)
        used += columns(scalar)
      }
    }
    return rows
  }

  private static func collapse(_ line: Substring) -> String {
    var result = String(repeating: " ", count: min(4, line.unicodeScalars.prefix(while: \.isBlank).count))
    var isBehindBlank = true
    for scalar in line.unicodeScalars.drop(while: \.isBlank) {
      if !scalar.isBlank { result.unicodeScalars.append(scalar) } else if !isBehindBlank { result += " " }
      isBehindBlank = scalar.isBlank
    }
    return result
  }

  private static func width(_ text: Substring) -> Int { text.unicodeScalars.reduce(0) { $0 + columns($1) } }

  /// Returns the most columns that a terminal gives a character. The characters with two columns, of Unicode's East
  /// Asian Width W and F, begin at U+1100.
  private static func columns(_ scalar: Unicode.Scalar) -> Int { scalar.value < 0x1100 ? 1 : 2 }
}
