/// Text cut into the lines of a terminal or a window.
///
/// A caller chooses words, paths and names, and could fill a line with blanks so that the rest of its text begins the next
/// one and looks like the agent's own. So every line but the first one of a text is indented.
enum Wrapping {
  /// The blanks before a line that goes on.
  private static let indent = "    "
  /// The fewest columns that are taken for a width.
  private static let narrowest = 16

  /// The lines of a text, none wider than `width` columns.
  ///
  /// - Parameter lead: what begins each of them.
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
      // The blank at which it was cut.
      if rest.first == " " { rest = rest.dropFirst() }
    } while !rest.isEmpty
    return lines
  }

  /// The number of characters that make the next line: up to a blank, unless that leaves more than half of it empty.
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
