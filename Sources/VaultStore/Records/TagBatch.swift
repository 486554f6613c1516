import VaultCore
import VaultModel

/// A batch of tags to be written, which are handed out in roughly the order of their table.
///
/// Tags are like random numbers. Written item by item, each tag would change another page of a table that is larger
/// than any cache. Written many at a time, they change each page once.
struct TagBatch {
  struct Entry {
    var tag: Tag
    var row: Int64
    var accessible: AccessClass
  }

  /// The number of tags that fill a batch. They take 8 MiB.
  private static let capacity = 1 << 18

  // The entries are grouped by the first byte of the tag, so that sorting one group takes no noticeable time.
  private var groups = [[Entry]](repeating: [], count: 256)
  private var group = 0
  private var isSorted = false
  private var count = 0

  /// True when the batch is full and should be written.
  var isFull: Bool { count >= Self.capacity }

  /// Adds a tag.
  mutating func add(_ tag: Tag, _ row: Int64, _ accessible: AccessClass) {
    groups[Int(tag.order >> 56)].append(Entry(tag: tag, row: row, accessible: accessible))
    count += 1
  }

  /// Removes the next tag; nil when none is left. The batch can then be filled again.
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
