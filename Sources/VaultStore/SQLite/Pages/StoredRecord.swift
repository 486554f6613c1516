/// The columns of a row as they are encoded in the file (sqlite.org/fileformat2.html §2.1).
struct StoredRecord {
  /// The kinds of content that a column of our tables can have.
  enum Column { case null, integer, blob, text, textOrNull }

  private struct Place {
    var type: UInt64
    var range: Range<Int>
  }

  private var page = Page(number: 0, bytes: [])
  private var local = 0..<0
  private var places: [Place] = []

  /// Reads the record of a cell, which must have exactly these columns.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` unless the record consists of these columns, to the last byte.
  mutating func read(_ cell: Cell, _ page: Page, _ columns: [Column]) throws(VaultError) {
    self.page = page
    local = cell.local
    places.removeAll(keepingCapacity: true)
    let header = try page.varint(at: local.lowerBound, before: local.upperBound)
    guard header.value <= local.count else { throw page.damaged("a row whose columns are elsewhere") }
    let end = local.lowerBound + Int(header.value)
    var (place, content) = (header.end, end)
    for column in columns {
      let type = try page.varint(at: place, before: end)
      guard type.value <= Int32.max, let count = Self.count(of: type.value, column) else {
        throw page.damaged("a column of another type")
      }
      places.append(Place(type: type.value, range: content..<content + count))
      (place, content) = (type.end, content + count)
    }
    guard place == end, content == local.lowerBound + cell.size else { throw page.damaged("a row of another length") }
  }

  /// The number of bytes that a value of serial type `type` takes; nil when `column` cannot have that type.
  private static func count(of type: UInt64, _ column: Column) -> Int? {
    switch column {
    case .null: type == 0 ? 0 : nil
    case .integer: type < 10 ? integerSizes[Int(type)] : nil
    case .blob: type >= 12 && type % 2 == 0 ? Int(type - 12) / 2 : nil
    case .text: type >= 13 && type % 2 == 1 ? Int(type - 13) / 2 : nil
    case .textOrNull: type == 0 ? 0 : count(of: type, .text)
    }
  }

  /// The number of bytes that an integer of each serial type takes. Type 0 is NULL, type 7 is a floating-point number,
  /// and types 8 and 9 are the constants 0 and 1.
  private static let integerSizes = [nil, 1, 2, 3, 4, 6, 8, nil, 0, 0]

  /// True when a column is NULL.
  func isNull(_ column: Int) -> Bool { places[column].type == 0 }

  /// The place in the record at which the content of a column begins.
  func start(of column: Int) -> Int { places[column].range.lowerBound - local.lowerBound }

  /// The bytes of a blob or a text.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the bytes do not all lie in the page.
  func bytes(_ column: Int) throws(VaultError) -> ArraySlice<UInt8> {
    let range = places[column].range
    guard range.upperBound <= local.upperBound else { throw page.damaged("a key that is too long") }
    return page.bytes[range]
  }

  /// The value of an integer column.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the bytes of the integer do not all lie in the page.
  func integer(_ column: Int) throws(VaultError) -> Int64 {
    let type = places[column].type
    if type >= 8 { return Int64(type) - 8 }
    let bytes = try bytes(column)
    var value: Int64 = bytes.first.map { $0 >= 0x80 ? -1 : 0 } ?? 0
    for byte in bytes { value = value << 8 | Int64(byte) }
    return value
  }
}
