internal import VaultWire

/// A text of comma-separated values whose columns are known.
struct CSVTable {
  struct Column {
    let name: String
    let meaning: CSVMeaning
  }

  /// The longest header in bytes.
  static let longestHeader = 64 << 10
  private static let unknown = "another program"

  /// The program that wrote the file.
  private(set) var program = Self.unknown
  private(set) var form = CSVDialect.Form.plain
  private(set) var columns: [Column] = []
  private var parser: CSVParser

  /// Reads the header.
  ///
  /// - Parameter header: The start of the text that contains the header if there is one.
  init(_ bytes: [UInt8], header: ArraySlice<UInt8>) throws(ImportFailure) {
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      throw ImportFailure(.unsupported, "the text is UTF-16; save it as UTF-8")
    }
    for separator in [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09] {
      var header = CSVParser(Array(header), separator: separator)
      guard let row = try? header.next() else { continue }
      parser = CSVParser(bytes, separator: separator)
      if setColumns(row.values.map { String(decoding: header.content($0), as: UTF8.self) }) {
        parser.hasBackslashes = form == .backslashes
        _ = try parser.next()
        return
      }
    }
    throw ImportFailure(.unknown, "the first line does not name the columns, one of them for the passwords")
  }

  /// Recognizes the columns by their names; false if they are not those of entries.
  private mutating func setColumns(_ names: [String]) -> Bool {
    guard names.allSatisfy({ $0.utf8.count <= ImportedField.longestName / 4 }) else { return false }
    var meanings = names.map { CSVMeaning(of: $0) }
    for dialect in CSVDialect.all {
      guard let found = dialect.meanings(names) else { continue }
      (meanings, program, form) = (found, dialect.name, dialect.form)
      break
    }
    guard program != Self.unknown || Self.isHeader(names, meanings) else { return false }
    var seen: Set<CSVMeaning> = []
    columns = zip(names, meanings).enumerated().map { index, column in
      let isNew = seen.insert(column.1).inserted
      let name = column.0.isEmpty ? "column \(index + 1)" : column.0
      return Column(name: name, meaning: isNew ? column.1 : column.1.repeated)
    }
    return true
  }

  /// Decides whether names that belong to no dialect are those of columns, and not the values of an entry: a column is
  /// for passwords, another one tells what they are for, and no name is there twice or looks like a URL or an address.
  private static func isHeader(_ names: [String], _ meanings: [CSVMeaning]) -> Bool {
    let others: [CSVMeaning] = [.title, .identifier, .username, .email, .url, .urls]
    guard meanings.contains(.password), meanings.contains(where: others.contains), Set(names).count == names.count
    else { return false }
    return names.allSatisfy { $0.utf8.count <= 64 && !$0.contains("://") && !$0.contains("@") }
  }

  /// Reads the next row that is not empty, with as many values as there are columns; nil at the end.
  mutating func next() throws(ImportFailure) -> CSVRow? {
    while var row = try parser.next() {
      if row.isBlank || row.values.allSatisfy({ $0.count == 0 }) { continue }
      if form == .lastPass { try complete(&row) }
      try check(row)
      return row
    }
    return nil
  }

  /// Adds the following rows until the row has a value for each column: LastPass writes some values with line breaks in
  /// them without quotes.
  private mutating func complete(_ row: inout CSVRow) throws(ImportFailure) {
    while row.values.count < columns.count, let next = try parser.next() {
      guard let last = row.values.last, let first = next.values.first, !last.isQuoted, !first.isQuoted else { return }
      let range = last.range.lowerBound..<first.range.upperBound
      row.values[row.values.count - 1] = CSVValue(range: range, count: range.count)
      row.values += next.values.dropFirst()
      row.isEnded = next.isEnded
    }
  }

  private func check(_ row: CSVRow) throws(ImportFailure) {
    let (count, most) = (row.values.count, columns.count)
    // Spreadsheets leave out the last values of a row if they are empty, but never the line break.
    if count < most, !row.isEnded || form == .lastPass {
      throw ImportFailure(.damaged, "line \(row.line) is cut off: it has \(count) of \(most) values")
    }
    if form != .open, row.values.dropFirst(most).contains(where: { $0.count > 0 }) {
      throw ImportFailure(.damaged, "line \(row.line) has \(count) values, and there are \(most) columns")
    }
  }

  /// The bytes of a value.
  func content(_ value: CSVValue) -> [UInt8] { parser.content(value) }
}

extension CSVMeaning {
  /// The meaning of a further column for which one meaning is enough.
  fileprivate var repeated: CSVMeaning {
    switch self {
    case .title, .identifier, .folder, .type, .created, .modified: .text
    case .password: .secret
    case .username, .email, .url, .urls, .oneTime, .note, .text, .secret, .setting, .flag, .tags, .fieldLines,
      .fieldObjects, .member:
      self
    }
  }
}
