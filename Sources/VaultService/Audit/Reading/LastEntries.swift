/// The place in the log at which the last entries of a search begin. A reader marks a few of the entries that it finds,
/// and finds the last ones again from such a mark, instead of keeping them.
struct LastEntries {
  private struct Mark {
    /// The number of entries that were found before this one.
    let index: Int
    /// The entry's number in the log.
    let entry: Int64
  }

  /// The number of marks within as many entries as are asked for.
  private static let marks = 64

  private let most: Int
  private var found = 0
  private var marks: [Mark] = []

  /// - Parameter most: the most entries that are asked for, at least 1.
  init(_ most: Int) { self.most = most }

  /// Notes an entry that was found.
  mutating func add(_ entry: Int64) {
    if found.isMultiple(of: max(1, most / Self.marks)) {
      marks.append(Mark(index: found, entry: entry))
      // The first mark that remains is before the entries that are asked for, or is the first of all.
      if marks.count > 4 * Self.marks { drop(upTo: found + 1 - most) }
    }
    found += 1
  }

  private mutating func drop(upTo index: Int) {
    let first = marks.lastIndex { $0.index <= index } ?? 0
    marks.removeFirst(first)
  }

  /// The entry at which to begin, and how many of the entries found from there on to skip; nil if none was found.
  var start: (entry: Int64, skip: Int)? {
    let index = max(0, found - most)
    guard index < found, let mark = marks.last(where: { $0.index <= index }) else { return nil }
    return (mark.entry, index - mark.index)
  }

  /// True if more entries were found than are asked for.
  var hasOlder: Bool { found > most }
}
