/// A reader of one JSON text in UTF-8 that rewrites the text as ``JSONObject`` describes.
///
/// It holds positions and the output; the input is passed to each call, because a span cannot be stored.
struct JSONCompactor {
  private(set) var text: [UInt8] = []
  private(set) var members: [JSONObject.Member] = []
  /// The names of all objects that are open, those of the innermost object last. A name has only one spelling in
  /// ``text``, so equal names have equal bytes.
  private var names: [Range<Int>] = []
  private var at = 0
  /// The highest number of members of one object.
  private let mostMembers: Int

  init(capacity: Int, mostMembers: Int) {
    self.mostMembers = mostMembers
    text.reserveCapacity(capacity)
  }

  /// Reads an object, which nothing but white space may follow.
  mutating func object(_ input: Span<UInt8>) throws(JSONFault) {
    skipSpace(input)
    guard at < input.count, input[at] == UInt8(ascii: "{") else { throw JSONFault("is not a JSON object") }
    try object(input, depth: 1)
    skipSpace(input)
    guard at == input.count else { throw JSONFault("is followed by something") }
  }

  private static var invalid: JSONFault { JSONFault("is not valid JSON") }

  private mutating func skipSpace(_ input: Span<UInt8>) {
    while at < input.count {
      switch input[at] {
      case 0x20, 0x09, 0x0A, 0x0D: at += 1
      default: return
      }
    }
  }

  /// Copies the next byte if it is `byte`.
  private mutating func take(_ byte: UInt8, _ input: Span<UInt8>) -> Bool {
    guard at < input.count, input[at] == byte else { return false }
    at += 1
    text.append(byte)
    return true
  }

  private mutating func value(_ input: Span<UInt8>, depth: Int) throws(JSONFault) {
    guard at < input.count else { throw Self.invalid }
    switch input[at] {
    case UInt8(ascii: "{"): try object(input, depth: depth + 1)
    case UInt8(ascii: "["): try array(input, depth: depth + 1)
    case UInt8(ascii: "\""): _ = try string(input)
    case UInt8(ascii: "t"): try word("true", input)
    case UInt8(ascii: "f"): try word("false", input)
    case UInt8(ascii: "n"): try word("null", input)
    default: try number(input)
    }
  }

  private mutating func object(_ input: Span<UInt8>, depth: Int) throws(JSONFault) {
    guard depth <= JSONObject.maximumDepth else { throw JSONFault("nests deeper than \(JSONObject.maximumDepth)") }
    let first = names.count
    _ = take(UInt8(ascii: "{"), input)
    skipSpace(input)
    if take(UInt8(ascii: "}"), input) { return }
    repeat {
      skipSpace(input)
      let name = try string(input)
      try add(name, after: first)
      skipSpace(input)
      guard take(UInt8(ascii: ":"), input) else { throw Self.invalid }
      skipSpace(input)
      let start = text.count
      try value(input, depth: depth)
      if depth == 1 { members.append(JSONObject.Member(name: name, value: start..<text.count)) }
      skipSpace(input)
    } while take(UInt8(ascii: ","), input)
    guard take(UInt8(ascii: "}"), input) else { throw Self.invalid }
    names.removeSubrange(first...)
  }

  /// Adds a name to the object whose names begin at `first`.
  private mutating func add(_ name: Range<Int>, after first: Int) throws(JSONFault) {
    guard names.count - first < mostMembers else {
      throw JSONFault("has an object with more than \(mostMembers) members")
    }
    for index in first..<names.count where text.hasSame(names[index], name) {
      throw JSONFault("has a name twice in an object")
    }
    names.append(name)
  }

  private mutating func array(_ input: Span<UInt8>, depth: Int) throws(JSONFault) {
    guard depth <= JSONObject.maximumDepth else { throw JSONFault("nests deeper than \(JSONObject.maximumDepth)") }
    _ = take(UInt8(ascii: "["), input)
    skipSpace(input)
    if take(UInt8(ascii: "]"), input) { return }
    repeat {
      skipSpace(input)
      try value(input, depth: depth)
      skipSpace(input)
    } while take(UInt8(ascii: ","), input)
    guard take(UInt8(ascii: "]"), input) else { throw Self.invalid }
  }

  private mutating func word(_ word: StaticString, _ input: Span<UInt8>) throws(JSONFault) {
    for index in 0..<word.utf8CodeUnitCount {
      // The index is below the count, and a literal lives as long as the program.
      guard unsafe take(word.utf8Start[index], input) else { throw Self.invalid }
    }
  }

  private mutating func number(_ input: Span<UInt8>) throws(JSONFault) {
    _ = take(UInt8(ascii: "-"), input)
    if !take(UInt8(ascii: "0"), input) { try digits(input) }
    if take(UInt8(ascii: "."), input) { try digits(input) }
    if take(UInt8(ascii: "e"), input) || take(UInt8(ascii: "E"), input) {
      if !take(UInt8(ascii: "+"), input) { _ = take(UInt8(ascii: "-"), input) }
      try digits(input)
    }
  }

  private mutating func digits(_ input: Span<UInt8>) throws(JSONFault) {
    let start = at
    while at < input.count, input[at] &- UInt8(ascii: "0") <= 9 {
      text.append(input[at])
      at += 1
    }
    if at == start { throw Self.invalid }
  }

  /// Reads a string, and returns the place where it was written, without its quotes.
  private mutating func string(_ input: Span<UInt8>) throws(JSONFault) -> Range<Int> {
    guard take(UInt8(ascii: "\""), input) else { throw Self.invalid }
    let start = text.count
    while at < input.count {
      switch input[at] {
      case UInt8(ascii: "\""):
        at += 1
        text.append(UInt8(ascii: "\""))
        return start..<text.count - 1
      case UInt8(ascii: "\\"):
        guard let (scalar, length) = JSONString.escape(input, at: at) else { throw Self.invalid }
        at += length
        JSONString.append(scalar, to: &text)
      case 0..<0x20: throw Self.invalid
      default: copyRun(input)
      }
    }
    throw Self.invalid
  }

  /// Copies characters that need no escape, up to the next byte that is something else.
  private mutating func copyRun(_ input: Span<UInt8>) {
    let start = at
    while at < input.count, input[at] >= 0x20, input[at] != UInt8(ascii: "\""), input[at] != UInt8(ascii: "\\") {
      at += 1
    }
    // The bytes are lent for the call, and the array copies them.
    unsafe input.extracting(start..<at).withUnsafeBufferPointer { unsafe text.append(contentsOf: $0) }
  }
}
