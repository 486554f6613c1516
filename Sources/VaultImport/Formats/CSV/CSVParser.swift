internal import VaultBytes
internal import VaultWire

/// The rows of a text of comma-separated values (RFC 4180), one at a time.
///
/// Rows may end in CR LF, LF or CR. A quote within a value that does not begin with one is a character like others, as
/// other readers see it. What RFC 4180 forbids otherwise is an error that names the line.
struct CSVParser {
  let bytes: [UInt8]
  let separator: UInt8
  /// True if a backslash within quotes escapes the next character, as in the files of KeePass 1.
  var hasBackslashes = false
  /// The line of the next row, from 1.
  private(set) var line = 1
  private var at = 0

  /// The most values of a row.
  static let mostValues = 1024
  private static let quote = UInt8(ascii: "\"")

  init(_ bytes: [UInt8], separator: UInt8) {
    (self.bytes, self.separator) = (bytes, separator)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
  }

  /// Reads the next row; nil at the end.
  mutating func next() throws(ImportFailure) -> CSVRow? {
    if at >= bytes.count { return nil }
    var row = CSVRow(line: line)
    let start = at
    while true {
      row.values.append(try value())
      guard row.values.count <= Self.mostValues else {
        throw ImportFailure(.tooLarge, "line \(row.line) has more than \(Self.mostValues) values")
      }
      guard at < bytes.count else { break }
      if bytes[at] == separator {
        at += 1
      } else {
        endLine()
        row.isEnded = true
        break
      }
    }
    try checkText(start..<at, row.line)
    return row
  }

  private mutating func value() throws(ImportFailure) -> CSVValue {
    guard at < bytes.count, bytes[at] == Self.quote else {
      let start = at
      while at < bytes.count, bytes[at] != separator, !isLineEnd(bytes[at]) { at += 1 }
      return CSVValue(range: start..<at, count: at - start)
    }
    let (start, first) = (at + 1, line)
    var escapes = 0
    at = start
    while at < bytes.count {
      let isPair = at + 1 < bytes.count
      if bytes[at] == Self.quote {
        guard isPair, bytes[at + 1] == Self.quote else { return try quoted(start, escapes) }
        escapes += 1
        at += 2
      } else if hasBackslashes, bytes[at] == UInt8(ascii: "\\"), isPair, !isLineEnd(bytes[at + 1]) {
        escapes += 1
        at += 2
      } else if isLineEnd(bytes[at]) {
        endLine()
      } else {
        at += 1
      }
    }
    throw ImportFailure(.damaged, "the value in quotes that begins in line \(first) does not end")
  }

  /// The value in quotes that ends here.
  private mutating func quoted(_ start: Int, _ escapes: Int) throws(ImportFailure) -> CSVValue {
    let value = CSVValue(range: start..<at, count: at - start - escapes, isQuoted: true)
    at += 1
    guard at == bytes.count || bytes[at] == separator || isLineEnd(bytes[at]) else {
      throw ImportFailure(.damaged, "line \(line) has text after a value in quotes")
    }
    return value
  }

  private func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

  private mutating func endLine() {
    at += bytes[at] == 0x0D && at + 1 < bytes.count && bytes[at + 1] == 0x0A ? 2 : 1
    line += 1
  }

  /// Checks that the bytes of a row, which begins in line `line`, are UTF-8 without NUL characters.
  private func checkText(_ range: Range<Int>, _ line: Int) throws(ImportFailure) {
    let span = bytes.span
    var (place, line) = (range.lowerBound, line)
    while place < range.upperBound {
      switch span[place] {
      case 0: throw ImportFailure(.damaged, "line \(line) contains a NUL character")
      case 0x0A: (place, line) = (place + 1, line + 1)
      case 1..<0x80: place += 1
      default:
        guard let length = span.scalarLength(at: place) else {
          throw ImportFailure(.damaged, "line \(line) is not UTF-8")
        }
        place += length
      }
    }
  }
}

/// A row of values.
struct CSVRow {
  /// The line in which the row begins.
  let line: Int
  var values: [CSVValue] = []
  /// True if a line break follows the row.
  var isEnded = false

  init(line: Int) { self.line = line }

  /// True if the row is an empty line.
  var isBlank: Bool { values.count == 1 && values[0].count == 0 && !values[0].isQuoted }
}

/// The place of a value in the text.
struct CSVValue {
  /// The bytes between the quotes, or all of them.
  var range: Range<Int>
  /// The number of bytes of the value itself.
  var count: Int
  var isQuoted = false
}

extension CSVParser {
  /// The bytes of a value.
  func content(_ value: CSVValue) -> [UInt8] {
    let raw = bytes[value.range]
    guard value.count < raw.count else { return Array(raw) }
    var content: [UInt8] = []
    content.reserveCapacity(value.count)
    var isEscaped = false
    for byte in raw {
      // The first of two quotes, or a backslash, stands for the next character.
      isEscaped = !isEscaped && (byte == Self.quote || (hasBackslashes && byte == UInt8(ascii: "\\")))
      if !isEscaped { content.append(byte) }
    }
    return content
  }
}
