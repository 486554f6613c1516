/// The known names that a mistyped name may stand for.
public enum Nearest {
  /// The names in `known` nearest to `typed`, in order: those that differ by the fewest slips, ignoring letter case, if
  /// the slips are few. With `beginnings`, names that begin with `typed` are nearer than all others.
  ///
  /// - Parameter most: The highest number of names to return.
  public static func names(
    to typed: String, among known: some Sequence<String>, beginnings: Bool = false, most: Int = 3
  ) -> [String] {
    var search = NearestSearch(typed, beginnings: beginnings, most: most)
    for name in known { search.look(at: name) }
    return search.names
  }

  /// The number of slips that lead from one text to the other: a character that is missing, superfluous or different,
  /// or two neighbors that changed places. Nil if there are more than `limit`.
  ///
  /// This is the optimal string alignment distance: see L. Boytsov, Indexing methods for approximate dictionary
  /// searching, ACM Journal of Experimental Algorithmics 16 (2011), section 2.1. Three rows of its table are kept.
  public static func distance(
    _ left: some Collection<Unicode.Scalar>, _ right: some Collection<Unicode.Scalar>, atMost limit: Int
  ) -> Int? {
    let (left, right) = (Array(left), Array(right))
    guard abs(left.count - right.count) <= limit else { return nil }
    var before: [Int] = []
    var last = Array(0...right.count)
    for (row, character) in left.enumerated() {
      var next = [row + 1]
      for (column, other) in right.enumerated() {
        var best = min(last[column] + (character == other ? 0 : 1), last[column + 1] + 1, next[column] + 1)
        if row > 0, column > 0, character == right[column - 1], left[row - 1] == other {
          best = min(best, before[column - 1] + 1)
        }
        next.append(best)
      }
      // Two neighbors that change places reach back two rows.
      guard min(next.min() ?? 0, last.min() ?? 0) <= limit else { return nil }
      (before, last) = (last, next)
    }
    return last[right.count] <= limit ? last[right.count] : nil
  }
}

/// A search for the nearest names, for names that arrive a few at a time.
public struct NearestSearch: ~Copyable {
  private let typed: [Unicode.Scalar]
  private let limit: Int
  private let takesBeginnings: Bool
  private let most: Int
  private var least = Int.max
  /// The names that differ by the lowest number of slips, in order.
  public private(set) var names: [String] = []

  public init(_ typed: String, beginnings: Bool = false, most: Int = 3) {
    self.typed = Array(typed.lowercased().unicodeScalars)
    // A short name may have one slip, a long one three. In a single letter no slip is allowed, because nothing would be
    // left of it.
    limit = self.typed.count < 2 ? 0 : max(1, min(3, (self.typed.count + 1) / 3))
    takesBeginnings = beginnings && self.typed.count > 1
    self.most = most
  }

  public mutating func look(at name: String) {
    guard let slips = slips(name), slips <= least else { return }
    if slips < least { names = [] }
    least = slips
    let place = names.firstIndex { name <= $0 } ?? names.count
    if place < names.count, names[place] == name { return }
    names.insert(name, at: place)
    if names.count > most { names.removeLast() }
  }

  private func slips(_ name: String) -> Int? {
    // For many names the length alone suffices to exclude them, without a look at each character.
    let bytes = name.utf8.count
    guard bytes >= typed.count - limit, takesBeginnings || bytes <= 4 * (typed.count + limit) else { return nil }
    let scalars = Array(name.lowercased().unicodeScalars)
    if takesBeginnings, scalars.starts(with: typed) { return 0 }
    return Nearest.distance(typed, scalars, atMost: limit)
  }
}
