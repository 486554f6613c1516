/// The place in the log at which the last entries of a search begin. A reader notes a few of the entries that it finds,
/// and finds the last ones again from there on, instead of keeping them.
struct LastEntries {
  private struct Mark {
    /// The number of those that were found before it.
    let index: Int
    /// Its number in the log.
    let entry: Int64
  }

  /// The marks within as many entries as are asked for.
  private static let marks = 64

  private let most: Int
  private var found = 0
  private var marks: [Mark] = []

  /// - Parameter most: the most that are asked for, at least 1.
  init(_ most: Int) { self.most = most }

  /// Takes note of one that was found.
  mutating func add(_ entry: Int64) {
    if found.isMultiple(of: max(1, most / Self.marks)) {
      marks.append(Mark(index: found, entry: entry))
      // The first one of those that remain is before what is asked for, or is all there is.
      if marks.count > 4 * Self.marks { drop(upTo: found + 1 - most) }
    }
    found += 1
  }

  private mutating func drop(upTo index: Int) {
    let first = marks.lastIndex { $0.index <= index } ?? 0
    marks.removeFirst(first)
  }

  /// The entry to begin at, and how many of those found from there on to pass over; nil where none was found.
  ///
  /// - Parameter later: how many of what is asked for come behind all of them.
  func start(before later: Int) -> (entry: Int64, skip: Int)? {
    let index = max(0, found - max(0, most - later))
    guard index < found, let mark = marks.last(where: { $0.index <= index }) else { return nil }
    return (mark.entry, index - mark.index)
  }
}
