/// Wraps text into the lines of a terminal or a window.
///
/// A caller chooses words, paths and names. It could fill a line with blanks so that the rest of its text begins the
/// next line and looks like the agent's own. So every line of a text except the first is indented.
enum Wrapping {
  /// The blanks at the beginning of a continued line.
  private static let indent = "    "
  /// The smallest width that is used, in columns.
  private static let narrowest = 16

  /// Returns the lines of a text, none wider than `width` columns.
  ///
  /// - Parameter lead: the text at the beginning of each line.
  static func lines(_ text: String, within width: Int, lead: String = "") -> [String] {
    var lines: [String] = []
    var rest = Array(text.unicodeScalars)[...]
    repeat {
      let begin = lead + (lines.isEmpty ? "" : indent)
      let count = length(of: rest, within: max(width, narrowest) - begin.count)
      var line = begin
      line.unicodeScalars.append(contentsOf: rest.prefix(count))
      lines.append(line)
      rest = rest.dropFirst(count)
      // Drops the blank at which the line was cut.
      if rest.first == " " { rest = rest.dropFirst() }
    } while !rest.isEmpty
    return lines
  }

  /// The number of characters in the next line. The line ends at a blank, unless that leaves more than half of it
  /// empty.
  private static func length(of rest: ArraySlice<Unicode.Scalar>, within width: Int) -> Int {
    var (count, used) = (0, 0)
    for scalar in rest {
      used += columns(scalar)
      if used > width { break }
      count += 1
    }
    guard count < rest.count, let blank = rest.prefix(count + 1).lastIndex(of: " ") else { return count }
    let words = blank - rest.startIndex
    return words > count / 2 ? words : count
  }

  /// The most columns that a terminal takes for a character.
  private static func columns(_ scalar: Unicode.Scalar) -> Int { scalar.value < 0x1100 ? 1 : 2 }
}
