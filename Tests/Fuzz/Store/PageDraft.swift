/// A page of a tree while an adversary changes it (sqlite.org/fileformat2.html §1.6).
struct PageDraft {
  var bytes: [UInt8]
  /// True if the file's header comes before that of the page.
  let isFirst: Bool

  var header: Int { isFirst ? 100 : 0 }
  var kind: UInt8 { bytes[header] }
  private var isTree: Bool { [2, 5, 10, 13].contains(kind) }
  private var isLeaf: Bool { kind >= 10 }
  private var pointers: Int { header + (isLeaf ? 8 : 12) }
  /// The number of cells, limited to what a page can hold.
  var count: Int { isTree ? min(number16(header + 3), (bytes.count - pointers) / 2) : 0 }

  func number16(_ place: Int) -> Int { Int(bytes[place]) << 8 | Int(bytes[place + 1]) }

  mutating func put(_ value: UInt32, at place: Int, size: Int) {
    guard place >= 0, place + size <= bytes.count else { return }
    for index in 0..<size { bytes[place + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * (size - 1 - index))) }
  }

  /// The place of the address of a cell; nil if there is no cell.
  func pointer(_ index: Int) -> Int? { count > 0 ? pointers + 2 * (index % count) : nil }

  /// The place of a cell; nil if there is none.
  func cell(_ index: Int) -> Int? {
    guard let pointer = pointer(index) else { return nil }
    let place = number16(pointer)
    return place < bytes.count - 4 ? place : nil
  }

  /// The place at which a cell names its child page, or at which this page names its last child.
  func child(_ index: Int) -> Int? {
    guard isTree, !isLeaf else { return nil }
    return index % (count + 1) == count ? header + 8 : cell(index)
  }

  /// The bytes of all cells in order; nil if they do not lie within the page.
  func cells() -> [[UInt8]]? {
    guard isTree else { return nil }
    var found: [[UInt8]] = []
    for index in 0..<count {
      guard let start = cell(index), let end = end(start) else { return nil }
      found.append(Array(bytes[start..<end]))
    }
    return found
  }

  /// Replaces the cells with these, laid out as SQLite would, as many as there is room for.
  mutating func lay(_ cells: [[UInt8]]) {
    guard isTree else { return }
    let kept = Array(bytes[..<pointers])
    var end = bytes.count
    var laid = kept + [UInt8](repeating: 0, count: bytes.count - kept.count)
    var number = 0
    for cell in cells {
      let start = end - max(4, cell.count)
      guard start >= pointers + 2 * (number + 1) else { break }
      laid.replaceSubrange(start..<start + cell.count, with: cell)
      laid[pointers + 2 * number] = UInt8(start >> 8)
      laid[pointers + 2 * number + 1] = UInt8(start & 255)
      (end, number) = (start, number + 1)
    }
    bytes = laid
    put(0, at: header + 1, size: 2)
    put(UInt32(number), at: header + 3, size: 2)
    put(UInt32(end), at: header + 5, size: 2)
    put(0, at: header + 7, size: 1)
  }

  /// A leaf's cell that claims this size for its row, with as much of the row as there is; nil if the page
  /// is not a leaf.
  func claim(_ cell: [UInt8], size: Int, rest: UInt32) -> [UInt8]? {
    guard isLeaf, size > bytes.count else { return nil }
    var place = 0
    func skip() {
      while place < cell.count - 1, cell[place] >= 0x80 { place += 1 }
      place += 1
    }
    skip()
    let behindSize = place
    if kind == 13 { skip() }
    let local = local(size)
    var payload = Array(cell[min(place, cell.count)...].prefix(local))
    payload += [UInt8](repeating: 0, count: local - payload.count)
    return Self.varint(size) + cell[min(behindSize, cell.count)..<min(place, cell.count)] + payload
      + LogFile.bytes(rest)
  }

  private static func varint(_ value: Int) -> [UInt8] {
    var (bytes, rest) = ([UInt8(value & 0x7F)], value >> 7)
    while rest > 0 {
      bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
      rest >>= 7
    }
    return bytes
  }

  /// The number of bytes of a row of that size that lie within the page.
  private func local(_ size: Int) -> Int {
    let longest = kind == 13 ? bytes.count - 35 : (bytes.count - 12) * 64 / 255 - 23
    let shortest = (bytes.count - 12) * 32 / 255 - 23
    if size <= longest { return size }
    let local = shortest + (size - shortest) % (bytes.count - 4)
    return local > longest ? shortest : local
  }

  /// The end of a cell; nil if the cell does not lie within the page.
  private func end(_ start: Int) -> Int? {
    var place = isLeaf ? start : start + 4
    if kind == 5 { return varint(&place).flatMap { _ in place <= bytes.count ? place : nil } }
    guard let size = varint(&place), size < 1 << 24 else { return nil }
    if kind == 13, varint(&place) == nil { return nil }
    let local = local(size)
    let end = place + local + (local < size ? 4 : 0)
    return end <= bytes.count ? end : nil
  }

  private func varint(_ place: inout Int) -> Int? {
    var value = 0
    for _ in 0..<8 {
      guard place < bytes.count else { return nil }
      value = value << 7 | Int(bytes[place] & 0x7F)
      place += 1
      if bytes[place - 1] < 0x80 { return value }
    }
    return nil
  }

  /// The place at which a long row names the page of its rest, at the end of its cell.
  func rest(_ index: Int) -> Int? {
    guard kind != 5, let start = cell(index), let end = end(start), end - start > 500 else { return nil }
    return end - 4
  }
}
