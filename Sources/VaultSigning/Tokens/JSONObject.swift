internal import VaultModel

/// One JSON object (RFC 8259), read strictly and rewritten in one form: without white space, with only the necessary
/// escapes in strings, and with each number as it was given.
///
/// The rules are stricter than the RFC where that leaves a choice: UTF-8 is well formed, a `\u` escape is no half of a
/// surrogate pair, no object has a name twice, and nothing follows the object.
struct JSONObject {
  /// A member of the object itself, as places in ``text``.
  struct Member {
    /// The name between its quotes.
    let name: Range<Int>
    /// The whole value, with the quotes of a string.
    let value: Range<Int>
  }

  /// The maximum depth to which objects and arrays may nest, including this object.
  static let maximumDepth = 8
  /// The default limit for the members of one object, because each name is compared with the others.
  static let maximumMembers = 256

  /// The rewritten object.
  let text: [UInt8]
  /// The members, in the order in which they were given.
  let members: [Member]

  /// Reads the whole of `text`.
  ///
  /// - Parameter mostMembers: The highest number of members of one object in it.
  init(parsing text: RawSpan, mostMembers: Int = JSONObject.maximumMembers) throws(JSONFault) {
    let bytes = Span<UInt8>(_bytes: text)
    guard let validated = try? UTF8Span(validating: bytes) else { throw JSONFault("is not UTF-8") }
    var compactor = JSONCompactor(capacity: bytes.count, mostMembers: mostMembers)
    try compactor.object(validated.span)
    self.text = compactor.text
    members = compactor.members
  }

  /// The value of the member `name`, which must need no escape.
  func value(_ name: StaticString) -> Range<Int>? {
    members.first { text.holds(name, in: $0.name) }?.value
  }

  /// The text of a value that is a string; nil for any other value.
  func string(_ value: Range<Int>) -> String? {
    guard text[value.lowerBound] == UInt8(ascii: "\"") else { return nil }
    return JSONString.read(text, value.lowerBound + 1..<value.upperBound - 1)
  }

  /// The text of a member's name.
  func name(_ member: Member) -> String { JSONString.read(text, member.name) }

  /// The elements of a value that is an array; nil for any other value.
  func elements(_ value: Range<Int>) -> [Range<Int>]? {
    guard text[value.lowerBound] == UInt8(ascii: "[") else { return nil }
    var elements: [Range<Int>] = []
    var at = value.lowerBound + 1
    while at < value.upperBound - 1 {
      let end = self.end(ofElementAt: at)
      elements.append(at..<end)
      at = end + 1
    }
    return elements
  }

  /// A value that is an object, within the same text; nil for any other value.
  func object(_ value: Range<Int>) -> JSONObject? {
    guard text[value.lowerBound] == UInt8(ascii: "{") else { return nil }
    var members: [Member] = []
    members.reserveCapacity(4)
    var at = value.lowerBound + 1
    while at < value.upperBound - 1 {
      let name = at + 1..<end(ofStringAt: at) - 1
      let end = self.end(ofElementAt: name.upperBound + 2)
      members.append(Member(name: name, value: name.upperBound + 2..<end))
      at = end + 1
    }
    return JSONObject(text: text, members: members)
  }

  private init(text: [UInt8], members: [Member]) { (self.text, self.members) = (text, members) }

  /// The place after the string whose opening quote is at `start`. The text is well formed.
  private func end(ofStringAt start: Int) -> Int {
    var at = start + 1
    while text[at] != UInt8(ascii: "\"") { at += text[at] == UInt8(ascii: "\\") ? 2 : 1 }
    return at + 1
  }

  /// The place of the comma or bracket that ends the array element or member value at `start`. The text is well formed.
  private func end(ofElementAt start: Int) -> Int {
    var depth = 0
    var at = start
    while true {
      switch text[at] {
      case UInt8(ascii: "\""):
        at = end(ofStringAt: at)
        continue
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: ",") where depth == 0: return at
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        if depth == 0 { return at }
        depth -= 1
      default: break
      }
      at += 1
    }
  }
}

extension [UInt8] {
  /// True if both ranges hold the same bytes.
  func hasSame(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
    guard one.count == other.count else { return false }
    for index in 0..<one.count where self[one.lowerBound + index] != self[other.lowerBound + index] { return false }
    return true
  }

  /// True if the bytes of `range` are those of `literal`.
  func holds(_ literal: StaticString, in range: Range<Int>) -> Bool {
    guard range.count == literal.utf8CodeUnitCount else { return false }
    for index in 0..<range.count {
      // The literal's bytes live as long as the program, and there are `range.count` of them.
      guard unsafe self[range.lowerBound + index] == literal.utf8Start[index] else { return false }
    }
    return true
  }
}
