import VaultCore
import VaultModel

/// The heads that were opened last, each for as long as its sealed record in the store stays what it was.
///
/// Making three tags, opening the head and reading it is half the work of a request for a small value. A head that is
/// remembered saves that, and nothing else: its row is read from the store each time and must be the same to the byte,
/// and the value is opened anew. Keys decide which heads may be known, so all are forgotten when the keys change.
struct RecentHeads {
  /// One head, and where it was found.
  final class Entry {
    let head: HeadRecord
    /// The name's tag in the item's class.
    let tags: ClassTags
    private let columns: HeadColumns
    private let sealed: [UInt8]

    init(_ head: HeadRecord, _ tags: ClassTags, _ columns: HeadColumns, _ sealed: [UInt8]) {
      self.head = head
      self.tags = tags
      self.columns = columns
      self.sealed = sealed
    }

    /// Whether the store still has the same record.
    func isStill(_ row: Row) throws(VaultError) -> Bool {
      guard row.columns == columns else { return false }
      return try row.withSealedHead { (bytes: RawSpan) throws(VaultError) in sealed.isEqual(to: bytes) }
    }
  }

  private static let places = 256
  /// A longer one is not worth the memory, in bytes.
  private static let longestHead = 2048
  private var entries = [Entry?](repeating: nil, count: places)

  /// The head that was last found under that name.
  subscript(name: ItemName) -> Entry? {
    guard let entry = entries[Self.place(name)], entry.head.item.name.text.hasSameBytes(as: name.text) else {
      return nil
    }
    return entry
  }

  /// Remembers the head of a row that was checked, in place of another one.
  mutating func remember(_ row: Row, _ head: HeadRecord) throws(VaultError) {
    let sealed = try row.withSealedHead { (bytes: RawSpan) throws(VaultError) -> [UInt8]? in
      bytes.byteCount <= Self.longestHead ? [UInt8](copying: bytes) : nil
    }
    guard let sealed else { return }
    let tags = ClassTags(try row.tag(), row.columns.accessible)
    entries[Self.place(head.item.name)] = Entry(head, tags, row.columns, sealed)
  }

  /// Forgets all.
  mutating func forget() {
    for place in entries.indices { entries[place] = nil }
  }

  /// FNV-1a: a bad spread costs time and nothing else.
  private static func place(_ name: ItemName) -> Int {
    var hash: UInt32 = 2_166_136_261
    for byte in name.text.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Int(hash % UInt32(places))
  }
}
