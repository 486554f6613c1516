/// A cell of a tree's page: a row, an entry of an index, or a pointer to a child (sqlite.org/fileformat2.html §1.6).
struct Cell {
  /// The size of the smallest cell and of the smallest free block, in bytes.
  static let smallest = 4
  /// The most bytes of a record that a leaf of a table holds, and that a page of an index holds. A longer record is
  /// split; at least `shortest` bytes of it stay in the page.
  private static let (longestInTable, longestInIndex) = (Page.size - 35, (Page.size - 12) * 64 / 255 - 23)
  private static let shortest = (Page.size - 12) * 32 / 255 - 23
  /// The bytes of a record that one overflow page holds.
  private static let inPage = Page.size - 4

  let start: Int
  /// The end of the cell in the page.
  let end: Int
  /// A table's row number; 0 in an index.
  let row: Int64
  /// The part of the record that lies in the page; empty in a table's pointer to a child.
  let local: Range<Int>
  /// The length of the whole record in bytes.
  let size: Int
  /// The first overflow page and the number of overflow pages; nil when the whole record lies in the page.
  let rest: (page: Int, count: Int)?

  init(_ page: Page, at start: Int, isLeaf: Bool, ofTable isTable: Bool) throws(VaultError) {
    self.start = start
    var place = isLeaf ? start : start + 4
    if isTable, !isLeaf {
      let key = try page.varint(at: place, before: Page.size)
      (row, end) = (Int64(bitPattern: key.value), key.end)
      (local, size, rest) = (end..<end, 0, nil)
      return
    }
    let length = try page.varint(at: place, before: Page.size)
    guard length.value <= Int32.max else { throw page.damaged("a row of impossible length") }
    size = Int(length.value)
    place = length.end
    if isTable {
      let key = try page.varint(at: place, before: Page.size)
      (row, place) = (Int64(bitPattern: key.value), key.end)
    } else {
      row = 0
    }
    let count = Self.local(size, isTable ? Self.longestInTable : Self.longestInIndex)
    local = place..<place + count
    let last = count == size ? local.upperBound : local.upperBound + 4
    guard last <= Page.size else { throw page.damaged("a cell that leaves it") }
    rest =
      count == size ? nil : (page.number32(at: local.upperBound), (size - count + Self.inPage - 1) / Self.inPage)
    end = max(last, start + Self.smallest)
    guard end <= Page.size else { throw page.damaged("a cell that leaves it") }
  }

  /// The number of bytes, of a record of `size` bytes, that lie in the page.
  private static func local(_ size: Int, _ longest: Int) -> Int {
    if size <= longest { return size }
    let count = shortest + (size - shortest) % inPage
    return count <= longest ? count : shortest
  }
}
