internal import VaultModel

/// The list of names to pick from: the typed text, the matching names, and the chosen one.
struct PickList {
  private let rank: FuzzyRank
  private(set) var typed = ""
  private(set) var matches: [String]
  /// True until a search for the present text was made.
  private(set) var isStale = false
  private(set) var chosen = 0
  /// The index of the first name that is shown.
  private var top = 0

  init(_ names: [String]) {
    rank = FuzzyRank(names)
    matches = rank.matches("") { false } ?? []
  }

  /// Searches for the names that match the typed text: once for all keys that arrived together, since a paste is many
  /// keys.
  ///
  /// - Parameter isStopped: called from time to time. Once it returns true, the earlier names stay.
  mutating func search(unless isStopped: () -> Bool = { false }) {
    guard isStale, let found = rank.matches(typed, unless: isStopped) else { return }
    (matches, isStale) = (found, false)
  }

  /// The chosen name; nil if no name matches.
  var choice: String? { matches.indices.contains(chosen) ? matches[chosen] : nil }

  /// Performs a key, except the keys that end the choice. A key that only types leaves the search to
  /// ``search(unless:)``; the other keys need a finished search.
  ///
  /// - Parameter height: the number of names that are shown.
  mutating func take(_ key: PickKeys.Key, height: Int) {
    switch key {
    case .text(let text): type(typed + text)
    case .backspace: type(String(typed.dropLast()))
    case .line: type("")
    case .word: type(Self.withoutLastWord(typed))
    case .up: choose(chosen - 1)
    case .down: choose(chosen + 1)
    case .pageUp: choose(chosen - height)
    case .pageDown: choose(chosen + height)
    case .first: choose(0)
    case .last: choose(matches.count - 1)
    case .enter, .leave, .redraw: break
    }
  }

  private mutating func type(_ text: String) {
    // No name has more than 512 bytes.
    guard text.utf8.count <= 512, text != typed else { return }
    typed = text
    isStale = true
    (chosen, top) = (0, 0)
  }

  private mutating func choose(_ place: Int) { chosen = max(0, min(place, matches.count - 1)) }

  private static func withoutLastWord(_ text: String) -> String {
    var rest = text[...]
    while rest.last == " " { rest.removeLast() }
    while let last = rest.last, last != " " { rest.removeLast() }
    return String(rest)
  }

  // MARK: Drawing

  /// Returns the number of names that fit on a terminal with that many rows.
  static func height(rows: Int) -> Int { max(1, min(12, rows - 3)) }

  /// Returns the lines to show: the typed text, the number of matches, and names with a mark at the chosen one. Each
  /// line is at least one column shorter than the terminal, so that none wraps.
  mutating func lines(columns: Int, rows: Int) -> [String] {
    let height = Self.height(rows: rows)
    let most = max(4, columns - 1)
    top = max(min(top, chosen), chosen - height + 1)
    let shown = matches.indices.dropFirst(top).prefix(height).map { place in
      (place == chosen ? "> " : "  ") + TextWidth.cut(Printable.whole(matches[place]), to: most - 2)
    }
    let count = TextWidth.cut("  \(matches.count) of \(rank.count)", to: most)
    return ["> " + TextWidth.end(of: Printable.line(typed), most - 2), count] + shown
  }
}
