/// The parser that splits a query into words; `PredicateParser` interprets them.
struct QueryParser {
  /// A piece of the query and the byte offset at which it starts.
  struct Word {
    var text: String
    var position: Int
  }

  private let bytes: [UInt8]
  private var position = 0
  private let controlPosition: Int?

  private let names: Query.Names

  init(_ text: String, _ names: Query.Names = Query.Names()) {
    self.names = names
    // Only as many bytes are read as show that the query is too long.
    bytes = Array(text.utf8.prefix(Query.maximumBytes + 1))
    let isForbidden = { (scalar: Unicode.Scalar) in scalar.isControl && !Self.isSpace(UInt8(scalar.value)) }
    let isTooLong = bytes.count > Query.maximumBytes
    controlPosition =
      isTooLong
      ? nil
      : text.unicodeScalars.firstIndex(where: isForbidden).map {
        text.utf8.distance(from: text.startIndex, to: $0)
      }
  }

  mutating func parse() throws(QueryError) -> [Predicate] {
    if bytes.count > Query.maximumBytes {
      throw QueryError(position: Query.maximumBytes, reason: "the query is longer than \(Query.maximumBytes) bytes")
    }
    if let controlPosition { throw QueryError(position: controlPosition, reason: "there is a control character") }
    var predicates: [Predicate] = []
    while true {
      skipSpace()
      guard current != nil else { return predicates }
      if predicates.count == Query.maximumPredicates {
        throw QueryError(position: position, reason: "there are more than \(Query.maximumPredicates) predicates")
      }
      predicates.append(try predicate())
    }
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  private mutating func skipSpace() {
    while let byte = current, Self.isSpace(byte) { position += 1 }
  }

  private mutating func predicate() throws(QueryError) -> Predicate {
    let start = position
    while let byte = current, Attributes.isKeyByte(byte) { position += 1 }
    guard position > start, let symbol = current, "=!~<>".utf8.contains(symbol) else {
      position = start
      return .mentions(try Glob(Word(text: try bareWord(), position: start), isContained: true))
    }
    let key = Word(text: text(start..<position), position: start)
    let operation = try operation()
    let value = try value(after: operation)
    return try PredicateParser(key: key, operation: operation, value: value, names: names).parse()
  }

  private mutating func operation() throws(QueryError) -> Word {
    let start = position
    let symbol = bytes[position]
    position += 1
    if symbol == UInt8(ascii: "!") {
      guard current == UInt8(ascii: "=") else { throw QueryError(position: start, reason: "'!' needs a '=' after it") }
      position += 1
    }
    return Word(text: text(start..<position), position: start)
  }

  private mutating func value(after operation: Word) throws(QueryError) -> Word {
    let start = position
    if current == UInt8(ascii: "\"") { return Word(text: try quoted(), position: start) }
    if let byte = current, "=~<>".utf8.contains(byte) {
      let written = operation.text + text(position..<position + 1)
      throw QueryError(position: operation.position, reason: "there is no operator '\(written)'")
    }
    let value = try unquoted()
    if value.isEmpty { throw QueryError(position: start, reason: "a value is missing; an empty one is written \"\"") }
    return Word(text: value, position: start)
  }

  private mutating func bareWord() throws(QueryError) -> String {
    let start = position
    let word = current == UInt8(ascii: "\"") ? try quoted() : try unquoted()
    if word.isEmpty { throw QueryError(position: start, reason: "a search word is empty") }
    if bytes[start] != UInt8(ascii: "\""),
      let symbol = bytes[start..<position].firstIndex(where: { "=~<>".utf8.contains($0) })
    {
      let comparison = text(symbol..<symbol + 1)
      let reason =
        symbol == start
        ? "nothing stands right before '\(comparison)'; write a comparison without blanks around it, as in kind=note"
        : "the text before '\(comparison)' is not a property or an attribute's name"
      throw QueryError(position: start, reason: reason)
    }
    return word
  }

  /// Reads up to the next white space.
  private mutating func unquoted() throws(QueryError) -> String {
    let start = position
    while let byte = current, !Self.isSpace(byte) {
      if byte == UInt8(ascii: "\"") {
        throw QueryError(position: position, reason: "a quote must stand around the whole value")
      }
      position += 1
    }
    return text(start..<position)
  }

  private mutating func quoted() throws(QueryError) -> String {
    let start = position
    position += 1
    var content: [UInt8] = []
    while let byte = current, byte != UInt8(ascii: "\"") {
      if byte < 0x20 { throw QueryError(position: position, reason: "there is a control character") }
      if byte == UInt8(ascii: "\\") {
        position += 1
        guard let escaped = current, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
          throw QueryError(position: position - 1, reason: "'\\' stands before '\"' or '\\' only")
        }
      }
      content.append(bytes[position])
      position += 1
    }
    guard current != nil else { throw QueryError(position: start, reason: "the quote is not closed") }
    position += 1
    if let byte = current, !Self.isSpace(byte) {
      throw QueryError(position: position, reason: "a quote must stand around the whole value")
    }
    return String(decoding: content, as: UTF8.self)
  }

  /// The text in `range`. Cuts are made only at ASCII characters, so the text is valid UTF-8 like the whole.
  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension Glob {
  /// Makes the pattern that a word of a query spells or, with `isContained`, a pattern that finds that word anywhere in
  /// a text.
  init(_ word: QueryParser.Word, isContained: Bool = false) throws(QueryError) {
    guard word.text.utf8.count <= Glob.maximumBytes else {
      throw QueryError(position: word.position, reason: "the pattern is longer than \(Glob.maximumBytes) bytes")
    }
    self = isContained ? Glob(containing: word.text) : Glob(word.text)
  }
}
