/// Which pages of the file are used, so that no page is two things: one bit for each.
///
/// The bits are in blocks, of which those without a used page take no memory, and there are no more than for two TiB: a
/// file with holes can be said to have any number of pages at no cost, and a list of free ones can name pages anywhere.
struct PageMap {
  /// How many pages a block has bits for.
  private static let blockSize = 1 << 15
  /// How many blocks may have used pages: they take 64 MiB.
  private static let mostBlocks = 1 << 14
  /// The page at 1 GiB, which SQLite's locks lie on and nothing else does (sqlite.org/fileformat2.html §1.4).
  private static let lockPage = (1 << 30) / Page.size + 1

  /// How many pages the file has.
  let count: Int
  /// How many of them are used.
  private(set) var used = 0
  private var blocks: [[UInt64]]
  /// How many blocks have used pages.
  private(set) var usedBlocks = 0

  init(count: Int) {
    self.count = count
    blocks = [[UInt64]](repeating: [], count: count / Self.blockSize + 1)
  }

  /// How many pages are for nothing.
  var unused: Int { count - used - (count >= Self.lockPage ? 1 : 0) }

  /// Takes a page for what leads to it.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there is no such page, or it is something else already.
  mutating func take(_ page: Int) throws(VaultError) {
    guard page > 0, page <= count, page != Self.lockPage else { throw .corrupt("page \(page) cannot be there") }
    let (block, place) = (page / Self.blockSize, page % Self.blockSize)
    if blocks[block].isEmpty {
      usedBlocks += 1
      guard usedBlocks <= Self.mostBlocks else { throw .corrupt("there are pages further apart than in any vault") }
      blocks[block] = [UInt64](repeating: 0, count: Self.blockSize / 64)
    }
    let (word, bit) = (place >> 6, UInt64(1) << UInt64(place & 63))
    guard blocks[block][word] & bit == 0 else { throw .corrupt("page \(page) is used twice") }
    blocks[block][word] |= bit
    used += 1
  }
}
