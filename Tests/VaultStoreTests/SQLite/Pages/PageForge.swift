import CSQLite
import Foundation
import Glibc
import Testing

/// An adversary's tools for the pages of a closed store (sqlite.org/fileformat2.html §1.6): trees are laid out anew
/// from the cells of two states of the store. No key is needed for this.
struct PageForge {
  static let size = 4096
  /// The store's main file.
  private let path: String
  private(set) var data: [UInt8]

  /// A cell of a tree's leaf: the number of its row (0 in an index) and its bytes.
  struct Cell {
    var row: Int64 = 0
    var bytes: [UInt8]
  }

  /// Reads the closed store, with all of it in the main file.
  init(_ fixture: Fixture) throws { try self.init(fixture.directory) }

  /// Reads the closed store in a folder.
  init(_ directory: String) throws {
    path = directory + "/vault.db"
    _ = try Fixture.run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Writes the file with a matching header, and with a hole behind it if it must have more pages.
  mutating func write(pages: Int = 0) throws {
    let pages = max(pages, data.count / Self.size)
    put(pages, at: 28, bytes: 4)
    let counter = number(at: 24, bytes: 4) + 1
    put(counter, at: 24, bytes: 4)
    put(counter, at: 92, bytes: 4)
    try Data(data).write(to: URL(fileURLWithPath: path))
    let result = unsafe truncate(path, off_t(pages * Self.size))
    try #require(result == 0)
    try setMode(path, 0o600)
  }

  /// Leaves the file as it was, and puts the first page and these pages into a log beside it
  /// (sqlite.org/walformat.html).
  ///
  /// - Parameters:
  ///   - endingEach: true if each page is a transaction of its own; otherwise all are one. A page 0 has the content of
  ///     page 1.
  ///   - count: the number of pages that the database has according to the log.
  mutating func writeLog(_ pages: [Int], endingEach: Bool = false, count: Int? = nil) throws {
    let count = count ?? data.count / Self.size
    put(count, at: 28, bytes: 4)
    var log: [UInt8] = [0x37, 0x7F, 0x06, 0x83, 0, 45, 226, 24, 0, 0, 16, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    var sums: (UInt32, UInt32) = (0, 0)
    func add(_ bytes: ArraySlice<UInt8>) {
      var words = stride(from: bytes.startIndex, to: bytes.endIndex, by: 4).map { offset in
        bytes[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      }[...]
      while let first = words.popFirst(), let second = words.popFirst() {
        sums.0 = sums.0 &+ first &+ sums.1
        sums.1 = sums.1 &+ second &+ sums.0
      }
    }
    func big(_ number: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
    add(log[...])
    log += big(sums.0) + big(sums.1)
    for (index, page) in ([1] + pages).enumerated() {
      let frame = big(UInt32(page)) + big(endingEach || index == pages.count ? UInt32(count) : 0)
      let content = data[Self.offset(max(1, page))..<Self.offset(max(1, page)) + Self.size]
      add(frame[...])
      add(content)
      log += frame + [1, 2, 3, 4, 5, 6, 7, 8] + big(sums.0) + big(sums.1) + content
    }
    try Data(log).write(to: URL(fileURLWithPath: path + "-wal"))
    try setMode(path + "-wal", 0o600)
  }

  // MARK: Numbers

  func number(at offset: Int, bytes: Int) -> Int { data[offset..<offset + bytes].reduce(0) { $0 << 8 | Int($1) } }

  mutating func put(_ number: Int, at offset: Int, bytes: Int) {
    for index in 0..<bytes { data[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * (bytes - 1 - index))) }
  }

  mutating func data(_ offset: Int, _ byte: UInt8) { data[offset] = byte }

  static func varint(_ value: Int64) -> [UInt8] {
    var bytes = [UInt8(value & 0x7F)]
    var rest = value >> 7
    while rest > 0 {
      bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
      rest >>= 7
    }
    return bytes
  }

  private func varint(at offset: Int) -> (value: Int64, end: Int) {
    var (value, end) = (Int64(0), offset)
    repeat {
      value = value << 7 | Int64(data[end] & 0x7F)
      end += 1
    } while data[end - 1] >= 0x80
    return (value, end)
  }

  static func offset(_ page: Int) -> Int { (page - 1) * size }

  // MARK: Reading

  func root(_ name: String) throws -> Int {
    try Fixture.run(path, "SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")
  }

  /// Returns the cells of a tree in order: those of the leaves, and in an index also those between them.
  func cells(_ page: Int) -> [Cell] {
    // Page 1 has the file's header before its own.
    let (start, header) = (Self.offset(page), Self.offset(page) + (page == 1 ? 100 : 0))
    let (kind, count) = (data[header], number(at: header + 3, bytes: 2))
    let pointers = header + (kind >= 10 ? 8 : 12)
    var found: [Cell] = []
    for index in 0..<count {
      let cell = start + number(at: pointers + 2 * index, bytes: 2)
      if kind < 10 { found += cells(number(at: cell, bytes: 4)) }
      if kind != 5 { found.append(self.cell(kind < 10 ? cell + 4 : cell, isTable: kind == 13)) }
    }
    if kind < 10 { found += cells(number(at: header + 8, bytes: 4)) }
    return found
  }

  private func cell(_ start: Int, isTable: Bool) -> Cell {
    let (size, afterSize) = varint(at: start)
    let (row, content) = isTable ? varint(at: afterSize) : (0, afterSize)
    let (longest, shortest) = (isTable ? 4061 : 1002, 489)
    if size <= longest { return Cell(row: row, bytes: Array(data[start..<content + Int(size)])) }
    let local = shortest + (Int(size) - shortest) % 4092
    return Cell(row: row, bytes: Array(data[start..<content + (local <= longest ? local : shortest) + 4]))
  }

  // MARK: Writing pages

  /// Lays a leaf with these cells on a new page, or on an existing page, and returns its number.
  @discardableResult
  mutating func leaf(_ cells: [Cell], isTable: Bool = true, on page: Int? = nil) -> Int {
    lay(cells.map(\.bytes), kind: isTable ? 13 : 10, header: 8, on: page)
  }

  /// Lays an interior page: each child with the key that ends it, and the last child. Returns the page's number.
  @discardableResult
  mutating func interior(
    _ children: [(page: Int, key: [UInt8])], last: Int, isTable: Bool = true, on page: Int? = nil
  ) -> Int {
    let cells = children.map { child in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: child.page >> $0) } + child.key
    }
    let number = lay(cells, kind: isTable ? 5 : 2, header: 12, on: page)
    put(last, at: Self.offset(number) + 8, bytes: 4)
    return number
  }

  private mutating func lay(_ cells: [[UInt8]], kind: UInt8, header: Int, on page: Int?) -> Int {
    let number = page ?? data.count / Self.size + 1
    if page == nil { data += [UInt8](repeating: 0, count: Self.size) }
    let start = Self.offset(number)
    for index in 0..<Self.size { data[start + index] = 0 }
    data[start] = kind
    put(cells.count, at: start + 3, bytes: 2)
    var end = Self.size
    for (index, cell) in cells.enumerated() {
      end -= max(4, cell.count)
      data.replaceSubrange(start + end..<start + end + cell.count, with: cell)
      put(end, at: start + header + 2 * index, bytes: 2)
    }
    put(end, at: start + 5, bytes: 2)
    return number
  }

  /// Lays page 1 with these cells.
  mutating func schema(_ cells: [Cell]) {
    let header = Array(data[..<100])
    leaf(cells, on: 1)
    let page = Array(data[..<(8 + 2 * cells.count)])
    data.replaceSubrange(100..<100 + page.count, with: page)
    data.replaceSubrange(..<100, with: header)
  }

  /// Adds an empty page and returns its number.
  mutating func emptyPage() -> Int {
    data += [UInt8](repeating: 0, count: Self.size)
    return data.count / Self.size
  }
}
