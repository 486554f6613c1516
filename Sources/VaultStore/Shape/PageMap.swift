/// Which pages of the file are used, so that no page is two things: one bit for each.
struct PageMap {
  /// The page at 1 GiB, which SQLite's locks lie on and nothing else does (sqlite.org/fileformat2.html §1.4).
  private static let lockPage = (1 << 30) / Page.size + 1

  /// How many pages the file has.
  let count: Int
  /// How many of them are used.
  private(set) var used = 0
  private var words: [UInt64]

  init(count: Int) {
    self.count = count
    words = [UInt64](repeating: 0, count: count / 64 + 1)
  }

  /// How many pages are for nothing.
  var unused: Int { count - used - (count >= Self.lockPage ? 1 : 0) }

  /// Takes a page for what leads to it.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there is no such page, or it is something else already.
  mutating func take(_ page: Int) throws(VaultError) {
    guard page > 0, page <= count, page != Self.lockPage else { throw .corrupt("page \(page) cannot be there") }
    let (word, bit) = (page >> 6, UInt64(1) << UInt64(page & 63))
    guard words[word] & bit == 0 else { throw .corrupt("page \(page) is used twice") }
    words[word] |= bit
    used += 1
  }
}
