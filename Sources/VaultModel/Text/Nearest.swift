/// The known names that a mistyped one may stand for.
public enum Nearest {
  /// The nearest of `known`, in order: those that differ by the fewest slips, in any case of the letters, if these are few.
  /// With `beginnings`, those that begin with what was typed are nearer than all others.
  ///
  /// - Parameter most: the most names.
  public static func names(
    to typed: String, among known: some Sequence<String>, beginnings: Bool = false, most: Int = 3
  ) -> [String] {
    var search = NearestSearch(typed, beginnings: beginnings, most: most)
    for name in known { search.look(at: name) }
    return search.names
  }

  /// The slips that lead from one text to the other: a character that is missing, too many or another one, or two
  /// neighbours that changed places. Nil when they are more than `limit`.
  ///
  /// It is the optimal string alignment distance: see L. Boytsov, Indexing methods for approximate dictionary searching,
  /// ACM Journal of Experimental Algorithmics 16 (2011), section 2.1. Three rows of its table are kept.
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
      // Two neighbours that change places reach back two rows.
      guard min(next.min() ?? 0, last.min() ?? 0) <= limit else { return nil }
      (before, last) = (last, next)
    }
    return last[right.count] <= limit ? last[right.count] : nil
  }
}

/// The search for the names nearest to one, for those that come a few at a time.
public struct NearestSearch: ~Copyable {
  private let typed: [Unicode.Scalar]
  private let limit: Int
  private let takesBeginnings: Bool
  private let most: Int
  private var least = Int.max
  /// The names that differ by the least number of slips, in order.
  public private(set) var names: [String] = []

  public init(_ typed: String, beginnings: Bool = false, most: Int = 3) {
    self.typed = Array(typed.lowercased().unicodeScalars)
    // One slip in a short name, three in a long one; of a single letter nothing would be left.
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
    // Many names differ in length alone, which is told without a look at each character.
    let bytes = name.utf8.count
    guard bytes >= typed.count - limit, takesBeginnings || bytes <= 4 * (typed.count + limit) else { return nil }
    let scalars = Array(name.lowercased().unicodeScalars)
    if takesBeginnings, scalars.starts(with: typed) { return 0 }
    return Nearest.distance(typed, scalars, atMost: limit)
  }
}
