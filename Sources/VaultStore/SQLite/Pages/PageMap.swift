/// A map of the used pages of the file, with one bit for each page. It shows when a page would serve two purposes.
///
/// The bits are in blocks. A block without a used page takes no memory, and all blocks with used pages together cover 2
/// TiB at most. The bound is needed because a file with holes can claim any number of pages at no cost, and a list of
/// free pages can name pages anywhere.
struct PageMap {
  /// The number of pages that a block has bits for.
  private static let blockSize = 1 << 15
  /// The most blocks that may have used pages: their bits take 64 MiB.
  private static let mostBlocks = 1 << 14
  /// The page at 1 GiB, which holds SQLite's locks and nothing else (sqlite.org/fileformat2.html §1.4).
  private static let lockPage = (1 << 30) / Page.size + 1

  /// The number of pages in the file.
  let count: Int
  /// The number of used pages.
  private(set) var used = 0
  private var blocks: [[UInt64]]
  /// The number of blocks with used pages.
  private(set) var usedBlocks = 0

  init(count: Int) {
    self.count = count
    blocks = [[UInt64]](repeating: [], count: count / Self.blockSize + 1)
  }

  /// The number of pages that serve no purpose.
  var unused: Int { count - used - (count >= Self.lockPage ? 1 : 0) }

  /// Marks a page as used.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there is no such page, or the page is used already.
  mutating func take(_ page: Int) throws(VaultError) {
    guard page > 0, page <= count, page != Self.lockPage else { throw .corrupt("page \(page) cannot be there") }
    let (block, place) = (page / Self.blockSize, page % Self.blockSize)
    if blocks[block].isEmpty {
      usedBlocks += 1
      guard usedBlocks <= Self.mostBlocks else { throw .corrupt("there are pages farther apart than in any vault") }
      blocks[block] = [UInt64](repeating: 0, count: Self.blockSize / 64)
    }
    let (word, bit) = (place >> 6, UInt64(1) << UInt64(place & 63))
    guard blocks[block][word] & bit == 0 else { throw .corrupt("page \(page) is used twice") }
    blocks[block][word] |= bit
    used += 1
  }
}
