internal import VaultModel

/// The names to pick from: what is typed, what fits it, and which one is chosen.
struct PickList {
  private let rank: FuzzyRank
  private(set) var typed = ""
  private(set) var matches: [String]
  /// True until the names that fit what is typed now were looked for.
  private(set) var isStale = false
  private(set) var chosen = 0
  /// The first of the names that are shown.
  private var top = 0

  init(_ names: [String]) {
    rank = FuzzyRank(names)
    matches = rank.matches("") { false } ?? []
  }

  /// Looks for what fits what is typed: once for all keys that came together, since a paste is many of them.
  ///
  /// - Parameter isStopped: asked now and then; once it is true, the names stay those from before.
  mutating func search(unless isStopped: () -> Bool = { false }) {
    guard isStale, let found = rank.matches(typed, unless: isStopped) else { return }
    (matches, isStale) = (found, false)
  }

  /// The chosen name; nil where nothing fits.
  var choice: String? { matches.indices.contains(chosen) ? matches[chosen] : nil }

  /// Does what a key stands for, but for those that end the choice. What only types leaves the search to ``search(unless:)``;
  /// the others want it done.
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
    // No name has more.
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

  /// The number of names that fit on a terminal of so many rows.
  static func height(rows: Int) -> Int { max(1, min(12, rows - 3)) }

  /// The lines that are shown: what is typed, how much fits, and names, of which the chosen one is marked. None has more
  /// columns than the terminal less one, so that it wraps none.
  mutating func lines(columns: Int, rows: Int) -> [String] {
    let height = Self.height(rows: rows)
    let most = max(4, columns - 1)
    top = max(min(top, chosen), chosen - height + 1)
    let shown = matches.indices.dropFirst(top).prefix(height).map { place in
      (place == chosen ? "> " : "  ") + TextWidth.cut(Printable.line(matches[place]), to: most - 2)
    }
    let count = TextWidth.cut("  \(matches.count) of \(rank.count)", to: most)
    return ["> " + TextWidth.end(of: Printable.line(typed), most - 2), count] + shown
  }
}
