import VaultCore
import VaultModel

/// Tags that are to be written, handed out in roughly the order of their table.
///
/// Tags are as good as random numbers. Written item by item, each would change another page of a table that is larger
/// than any cache; written many at a time, they change each page once.
struct TagBatch {
  struct Entry {
    var tag: Tag
    var row: Int64
    var accessible: AccessClass
  }

  /// The number of tags that are gathered, which take 8 MiB.
  private static let capacity = 1 << 18

  // Grouped by their first byte, so that no sorting takes long enough to be noticed.
  private var groups = [[Entry]](repeating: [], count: 256)
  private var group = 0
  private var isSorted = false
  private var count = 0

  /// True when it is time to write the tags.
  var isFull: Bool { count >= Self.capacity }

  /// Adds a tag.
  mutating func add(_ tag: Tag, _ row: Int64, _ accessible: AccessClass) {
    groups[Int(tag.order >> 56)].append(Entry(tag: tag, row: row, accessible: accessible))
    count += 1
  }

  /// Removes the next tag; nil when none is left, and others can be gathered.
  mutating func next() -> Entry? {
    while group < groups.count {
      if !isSorted {
        groups[group].sort { $0.tag.order > $1.tag.order }
        isSorted = true
      }
      if let entry = groups[group].popLast() {
        count -= 1
        return entry
      }
      group += 1
      isSorted = false
    }
    group = 0
    return nil
  }
}
