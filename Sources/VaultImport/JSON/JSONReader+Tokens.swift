internal import VaultBytes
internal import VaultWire

// The grammar (RFC 8259, sections 2 to 7), without recursion: the containers are a list.
extension JSONReader {
  /// Reads the next token.
  mutating func next() throws(ImportFailure) -> Token {
    if case .value = expected { return try valueToken() }
    guard let container = containers.last else {
      skipSpace()
      guard at == bytes.count else { throw damaged("content after the end") }
      return .end
    }
    guard try continues() else { return container.isObject ? .endObject : .endArray }
    return container.isObject ? try keyToken() : try valueToken()
  }

  /// Passes the comma before the next member or element; false if the container ends instead, and is left.
  mutating func continues() throws(ImportFailure) -> Bool {
    guard let container = containers.last else { return false }
    skipSpace()
    guard at < bytes.count else { throw damaged("the text ends too early") }
    if bytes[at] == container.bracket {
      containers.removeLast()
      at += 1
      expected = .separatorOrEnd
      guard keys.areDistinct(from: container.firstKey, in: bytes) else { throw damaged("a key twice in an object") }
      keys.removeAll(from: container.firstKey)
      return false
    }
    if case .separatorOrEnd = expected {
      guard bytes[at] == UInt8(ascii: ",") else { throw damaged("no comma") }
      at += 1
    }
    expected = .value
    return true
  }

  func damaged(_ reason: String) -> ImportFailure {
    ImportFailure(.damaged, "it is not JSON as it should be: \(reason) at byte \(at)")
  }

  private mutating func skipSpace() {
    while at < bytes.count {
      switch bytes[at] {
      case 0x20, 0x09, 0x0A, 0x0D: at += 1
      default: return
      }
    }
  }

  private mutating func keyToken() throws(ImportFailure) -> Token {
    skipSpace()
    guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { throw damaged("no key") }
    let key = try scanText()
    guard key.range.count <= Self.mostKeys.bytes, keys.count < Self.mostKeys.count else {
      throw ImportFailure(.tooLarge, "the JSON has too many keys, or too long ones, at byte \(at)")
    }
    keys.append(key, in: bytes)
    skipSpace()
    guard at < bytes.count, bytes[at] == UInt8(ascii: ":") else { throw damaged("no colon") }
    at += 1
    return .key(key)
  }

  private mutating func valueToken() throws(ImportFailure) -> Token {
    skipSpace()
    guard at < bytes.count else { throw damaged("the text ends too early") }
    expected = .separatorOrEnd
    switch bytes[at] {
    case UInt8(ascii: "{"): return try open(isObject: true)
    case UInt8(ascii: "["): return try open(isObject: false)
    case UInt8(ascii: "\""): return .string(try scanText())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try scanNumber())
    default: throw damaged("no value")
    }
  }

  private mutating func open(isObject: Bool) throws(ImportFailure) -> Token {
    guard containers.count < Self.maximumDepth else {
      throw ImportFailure(.tooLarge, "the JSON nests deeper than \(Self.maximumDepth) levels at byte \(at)")
    }
    containers.append(Container(isObject: isObject, firstKey: keys.count))
    at += 1
    expected = .firstOrEnd
    return isObject ? .beginObject : .beginArray
  }

  private mutating func word(_ word: StaticString, _ token: Token) throws(ImportFailure) -> Token {
    guard bytes.withSpan({ $0.hasBytes(word, at: at) }) else { throw damaged("no value") }
    at += word.utf8CodeUnitCount
    return token
  }

  private mutating func scanText() throws(ImportFailure) -> Text {
    at += 1
    let start = at
    var saved = 0
    while true {
      at = bytes.span.endOfPlainRun(from: at)
      guard at < bytes.count else { throw damaged("the text ends inside a string") }
      switch bytes[at] {
      case UInt8(ascii: "\""):
        at += 1
        return Text(range: start..<at - 1, count: at - 1 - start - saved)
      case UInt8(ascii: "\\"):
        guard let escape = bytes.span.escapeLength(at: at) else { throw damaged("a bad escape") }
        at += escape.length
        saved += escape.length - escape.meant
      case 0..<0x20: throw damaged("a bare control character")
      // DEL needs no escape (RFC 8259, section 7).
      case 0x7F: at += 1
      default:
        guard let length = bytes.span.scalarLength(at: at) else { throw damaged("no UTF-8") }
        at += length
      }
    }
  }

  private mutating func scanNumber() throws(ImportFailure) -> Range<Int> {
    let start = at
    if bytes[at] == UInt8(ascii: "-") { at += 1 }
    if at < bytes.count, bytes[at] == UInt8(ascii: "0") { at += 1 } else { try skipDigits() }
    if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
      at += 1
      try skipDigits()
    }
    if at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") {
      at += 1
      if at < bytes.count, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") { at += 1 }
      try skipDigits()
    }
    return start..<at
  }

  private mutating func skipDigits() throws(ImportFailure) {
    let start = at
    while at < bytes.count, bytes[at] &- UInt8(ascii: "0") <= 9 { at += 1 }
    if at == start { throw damaged("no digit") }
  }
}
