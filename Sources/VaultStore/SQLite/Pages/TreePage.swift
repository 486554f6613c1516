/// A page of a tree with its cells (sqlite.org/fileformat2.html §1.6).
struct TreePage {
  private enum Kind: UInt8 {
    case interiorIndex = 2
    case interiorTable = 5
    case leafIndex = 10
    case leafTable = 13
  }

  let page: Page
  let isLeaf: Bool
  /// The number of cells.
  let count: Int
  private let isTable: Bool
  /// The offset of the page's header. On page 1, the header of the file comes before it.
  private let header: Int

  /// Reads a page of a table's tree or of an index.
  init(_ page: Page, ofTable isTable: Bool) throws(VaultError) {
    header = page.number == 1 ? DatabaseHeader.length : 0
    let kind = Kind(rawValue: page.bytes[header])
    guard let kind, isTable == (kind == .interiorTable || kind == .leafTable) else {
      throw page.damaged("a different type than its tree")
    }
    self.page = page
    self.isTable = isTable
    isLeaf = kind == .leafTable || kind == .leafIndex
    count = page.number16(at: header + 3)
    guard pointers + 2 * count <= Page.size else { throw page.damaged("too many cells") }
  }

  /// The offset at which the addresses of the cells begin.
  private var pointers: Int { header + (isLeaf ? 8 : 12) }

  /// The number of the child page at `index`: there is one child for each cell, and one more after these.
  func child(_ index: Int) throws(VaultError) -> Int {
    try index == count ? page.number32(at: header + 8) : page.number32(at: address(index))
  }

  /// The cell at `index`.
  func cell(_ index: Int) throws(VaultError) -> Cell {
    try Cell(page, at: address(index), isLeaf: isLeaf, ofTable: isTable)
  }

  private func address(_ index: Int) throws(VaultError) -> Int {
    let address = page.number16(at: pointers + 2 * index)
    guard address >= pointers + 2 * count, address <= Page.size - Cell.smallest else {
      throw page.damaged("a cell outside its bounds")
    }
    return address
  }

  /// Checks that each byte after the addresses of the cells has one use. First comes a free area, then cells and free
  /// blocks, the blocks in ascending order, with as many unused single bytes between them as the header says. Whatever
  /// is written into such a page later then overwrites nothing and exposes nothing.
  func checkSpace(_ space: inout PageSpace) throws(VaultError) {
    space.clear()
    let content = page.number16(at: header + 5)
    guard content >= pointers + 2 * count, content <= Page.size else { throw page.damaged("no place for its cells") }
    for index in 0..<count {
      let cell = try cell(index)
      guard cell.start >= content, space.take(cell.start..<cell.end) else { throw page.damaged("a cell that overlaps") }
    }
    var block = page.number16(at: header + 1)
    var last = content - Cell.smallest
    while block != 0 {
      // SQLite merges free blocks that lie closer together.
      guard block >= last + Cell.smallest, block <= Page.size - Cell.smallest else {
        throw page.damaged("free blocks out of order")
      }
      let end = block + page.number16(at: block + 2)
      guard end >= block + Cell.smallest, end <= Page.size, space.take(block..<end) else {
        throw page.damaged("a free block that overlaps")
      }
      (block, last) = (page.number16(at: block), end)
    }
    guard Page.size - content - space.taken == Int(page.bytes[header + 7]) else {
      throw page.damaged("bytes that nothing uses")
    }
  }
}
