/// A parser of one JSON text (RFC 8259) into records that are offsets into the text.
///
/// The parser copies nothing: strings stay in place, with their escapes, until a caller asks for them. It is stricter
/// than the RFC where that leaves a choice: UTF-8 must be well formed, a `\u` escape must not be half of a surrogate
/// pair, no object has a key twice, and nothing follows the value.
struct JSONParser {
  /// A value or a key. Records are in the order of the text, and the content of a container directly follows it.
  struct Record {
    var kind: JSONObject.Kind
    /// True if a string contains at least one backslash.
    var escaped: Bool
    /// The range of the text of a number, or of a string between its quotes.
    var start: UInt32
    var end: UInt32
    /// The number of UTF-8 bytes of a string with its escapes decoded.
    var meant: UInt32
    /// The index after this value and all its content.
    var next: UInt32
  }

  /// The number of records that messages rarely exceed.
  static let usualRecords = 256

  private(set) var records: [Record] = []
  private var at = 0
  private let limits: JSONLimits

  private init(_ limits: JSONLimits) { self.limits = limits }

  /// Parses all of `text`, which must be shorter than 2 GiB, into `records`, which must be empty. The first
  /// record is the value.
  static func parse(
    _ text: Span<UInt8>, within limits: JSONLimits, into records: inout [Record]
  ) throws(JSONFault) {
    var parser = JSONParser(limits)
    swap(&parser.records, &records)
    parser.records.reserveCapacity(min(16 + text.count / 16, usualRecords))
    try parser.parseValue(text, depth: 0)
    parser.skipSpace(text)
    if parser.at < text.count { throw parser.invalid(JSONFault.contentAfterEnd) }
    swap(&parser.records, &records)
  }

  private func invalid(_ reason: String) -> JSONFault { .invalidJSON(offset: at, reason: reason) }

  private mutating func skipSpace(_ text: Span<UInt8>) {
    while at < text.count {
      switch text[at] {
      case 0x20, 0x09, 0x0A, 0x0D: at += 1
      default: return
      }
    }
  }

  /// Adds a record without content that ends at the present position.
  ///
  /// - Parameter saved: The number of bytes by which the text of a string is longer than its decoded form.
  private mutating func add(
    _ kind: JSONObject.Kind, from start: Int, escaped: Bool = false, saved: Int = 0
  ) throws(JSONFault) {
    let index = records.count
    guard index < limits.values else { throw .tooManyValues(limit: limits.values) }
    records.append(
      Record(
        kind: kind, escaped: escaped, start: UInt32(start), end: UInt32(at), meant: UInt32(at - start - saved),
        next: UInt32(index + 1)))
  }

  /// Begins an object or an array, which ``close(_:)`` ends.
  private mutating func open(_ kind: JSONObject.Kind) throws(JSONFault) -> Int {
    let index = records.count
    try add(kind, from: at)
    return index
  }

  private mutating func close(_ index: Int) {
    records[index].end = UInt32(at)
    records[index].next = UInt32(records.count)
  }

  private mutating func parseValue(_ text: Span<UInt8>, depth: Int) throws(JSONFault) {
    skipSpace(text)
    guard at < text.count else { throw invalid("ends too early") }
    switch text[at] {
    case UInt8(ascii: "{"): try parseObject(text, depth: depth + 1)
    case UInt8(ascii: "["): try parseArray(text, depth: depth + 1)
    case UInt8(ascii: "\""): try parseString(text)
    case UInt8(ascii: "t"): try parseWord(text, "true", .bool)
    case UInt8(ascii: "f"): try parseWord(text, "false", .bool)
    case UInt8(ascii: "n"): try parseWord(text, "null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try parseNumber(text)
    default: throw invalid("no value")
    }
  }

  private mutating func parseObject(_ text: Span<UInt8>, depth: Int) throws(JSONFault) {
    guard depth <= limits.depth else { throw .tooDeep }
    let object = try open(.object)
    at += 1
    skipSpace(text)
    if at < text.count, text[at] == UInt8(ascii: "}") {
      at += 1
      return close(object)
    }
    var members = 0
    while true {
      skipSpace(text)
      guard at < text.count, text[at] == UInt8(ascii: "\"") else { throw invalid("no key") }
      try parseString(text)
      skipSpace(text)
      guard at < text.count, text[at] == UInt8(ascii: ":") else { throw invalid("no colon") }
      at += 1
      try parseValue(text, depth: depth)
      members += 1
      guard members <= limits.members else { throw .tooManyMembers(limit: limits.members) }
      if try endsContainer(text, with: UInt8(ascii: "}")) { break }
    }
    close(object)
    if hasDuplicateKey(object, members: members, in: text) { throw .duplicateKey }
  }

  private mutating func parseArray(_ text: Span<UInt8>, depth: Int) throws(JSONFault) {
    guard depth <= limits.depth else { throw .tooDeep }
    let array = try open(.array)
    at += 1
    skipSpace(text)
    if at < text.count, text[at] == UInt8(ascii: "]") {
      at += 1
      return close(array)
    }
    repeat { try parseValue(text, depth: depth) } while try !endsContainer(text, with: UInt8(ascii: "]"))
    close(array)
  }

  /// Skips a comma (returns false) or the closing bracket (returns true).
  private mutating func endsContainer(_ text: Span<UInt8>, with bracket: UInt8) throws(JSONFault) -> Bool {
    skipSpace(text)
    guard at < text.count else { throw invalid("ends too early") }
    let byte = text[at]
    guard byte == bracket || byte == UInt8(ascii: ",") else { throw invalid("no comma") }
    at += 1
    return byte == bracket
  }

  private mutating func parseWord(
    _ text: Span<UInt8>, _ word: StaticString, _ kind: JSONObject.Kind
  ) throws(JSONFault) {
    guard text.holds(word, at: at) else { throw invalid("no value") }
    let start = at
    at += word.utf8CodeUnitCount
    try add(kind, from: start)
  }

  private mutating func parseString(_ text: Span<UInt8>) throws(JSONFault) {
    at += 1
    let start = at
    var escaped = false
    var saved = 0
    while true {
      at = text.endOfPlainRun(from: at)
      guard at < text.count else { throw invalid("ends inside a string") }
      switch text[at] {
      case UInt8(ascii: "\""):
        try add(.string, from: start, escaped: escaped, saved: saved)
        at += 1
        return
      case UInt8(ascii: "\\"):
        escaped = true
        // Another escape often follows, so the code looks for one at once; it does the same
        // for non-ASCII characters below.
        repeat {
          guard let escape = text.escapeLength(at: at) else { throw invalid("bad escape") }
          at += escape.length
          saved += escape.length - escape.meant
        } while at < text.count && text[at] == UInt8(ascii: "\\")
      case 0..<0x20: throw invalid("bare control character")
      // DEL needs no escape (RFC 8259, section 7).
      case 0x7F: at += 1
      default:
        repeat {
          guard let length = text.scalarLength(at: at) else { throw invalid("not UTF-8") }
          at += length
        } while at < text.count && text[at] >= 0x80
      }
    }
  }

  private mutating func parseNumber(_ text: Span<UInt8>) throws(JSONFault) {
    let start = at
    if text[at] == UInt8(ascii: "-") { at += 1 }
    if at < text.count, text[at] == UInt8(ascii: "0") { at += 1 } else { try skipDigits(text) }
    if at < text.count, text[at] == UInt8(ascii: ".") {
      at += 1
      try skipDigits(text)
    }
    if at < text.count, text[at] | 0x20 == UInt8(ascii: "e") {
      at += 1
      if at < text.count, text[at] == UInt8(ascii: "+") || text[at] == UInt8(ascii: "-") { at += 1 }
      try skipDigits(text)
    }
    try add(.number, from: start)
  }

  private mutating func skipDigits(_ text: Span<UInt8>) throws(JSONFault) {
    let start = at
    while at < text.count, text[at] &- UInt8(ascii: "0") <= 9 { at += 1 }
    if at == start { throw invalid("no digit") }
  }
}
