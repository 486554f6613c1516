internal import VaultBytes
internal import VaultModel

/// The text of a list: `{"revoked":[{"jti":"…","exp":…},{"sub":"…","before":…,"exp":…}]}`. `before` is the last second
/// of the revoked tokens (`iat` ≤ `before`), and `exp` the time from which the entry is no longer needed. An entry also
/// has an `age` once the vault has stored it, 0 or less (``RevocationList/grow(from:to:step:)``).
extension RevocationList {
  /// The highest number of members of an object in the text, so that the time for reading is proportional to the size.
  /// An entry has three.
  private static let mostMembers = 4

  /// Reads a list's text, whose entries may be in any order.
  ///
  /// - Throws: ``RevocationProblem`` for anything but such a list: another member, a duplicate member, times that are
  ///   not whole numbers of at most 15 digits, two entries for the same token or subject, or more than
  ///   ``maximumBytes``.
  public init(parsing text: RawSpan) throws(RevocationProblem) {
    guard text.byteCount <= Self.maximumBytes else { throw Self.tooLong }
    let object: JSONObject
    do throws(TokenTextFault) { object = try JSONObject.read(text, mostMembers: Self.mostMembers) } catch {
      throw RevocationProblem("the list of revoked tokens \(error.reason)")
    }
    guard object.memberCount(of: object.root) == 1, let entries = object.value("revoked"),
      object.kind(entries) == .array
    else { throw RevocationProblem("the list of revoked tokens must have one member, the array 'revoked'") }
    var tokens: [Token] = []
    var subjects: [Subject] = []
    for (index, entry) in object.elements(of: entries).enumerated() {
      guard object.kind(entry) == .object else { throw Self.entry(index, "is not an object") }
      // Lists that people write have no ages. A positive age comes from an earlier version of the program: it is an age
      // that an access class has to reach. The list does not say which class, so such an age counts as no age.
      let stated = object.whole("age", of: entry)
      let age = stated.flatMap { $0 > 0 ? nil : $0 }
      let count = object.memberCount(of: entry) - (stated == nil ? 0 : 1)
      switch (
        object.nonempty("jti", of: entry), object.nonempty("sub", of: entry), object.whole("before", of: entry),
        object.whole("exp", of: entry)
      ) {
      case (let identifier?, nil, nil, let end?) where count == 2:
        tokens.append(Token(identifier: identifier, expiresAt: end, age: age))
      case (nil, let name?, let time?, let end?) where count == 3:
        subjects.append(Subject(name: name, issuedUpTo: time, expiresAt: end, age: age))
      default: throw Self.entry(index, "must have a jti and an exp, or a sub, a before and an exp")
      }
    }
    try self.init(tokens, subjects)
  }

  /// Sorts the entries unless they are in order, and refuses duplicates, because their author can have meant only one
  /// of the two.
  private init(_ tokens: [Token], _ subjects: [Subject]) throws(RevocationProblem) {
    guard let tokens = tokens.distinct(by: \.identifier) else {
      throw RevocationProblem("the list of revoked tokens has a jti twice")
    }
    guard let subjects = subjects.distinct(by: \.name) else {
      throw RevocationProblem("the list of revoked tokens has a sub twice")
    }
    self.init(sorted: tokens, subjects)
  }

  private static func entry(_ index: Int, _ reason: String) -> RevocationProblem {
    RevocationProblem("entry \(index + 1) of the revoked tokens \(reason)")
  }

  private static var tooLong: RevocationProblem {
    RevocationProblem("the list of revoked tokens is longer than \(maximumBytes) bytes; drop those that have expired")
  }

  /// The list's text, one entry on each line, in an order that depends only on the entries.
  ///
  /// - Throws: ``RevocationProblem`` if the text would be longer than ``maximumBytes``.
  public func encoded() throws(RevocationProblem) -> [UInt8] {
    var text = SecretBuffer()
    text.append("{\"revoked\":[" as StaticString)
    for (index, token) in tokens.enumerated() {
      text = Self.line(index, text) {
        $0.field("jti", token.identifier)
        $0.field("exp", token.expiresAt)
        $0.field("age", token.age)
      }
    }
    for (index, subject) in subjects.enumerated() {
      text = Self.line(tokens.count + index, text) {
        $0.field("sub", subject.name)
        $0.field("before", subject.issuedUpTo)
        $0.field("exp", subject.expiresAt)
        $0.field("age", subject.age)
      }
    }
    if !isEmpty { text.append(UInt8(ascii: "\n")) }
    text.append("]}\n" as StaticString)
    guard text.count <= Self.maximumBytes else { throw Self.tooLong }
    return text.withBytes { $0.array }
  }

  /// Appends a line with the entry of that number, whose members `write` writes.
  private static func line(
    _ number: Int, _ text: consuming SecretBuffer, _ write: (inout JSONWriter) -> Void
  ) -> SecretBuffer {
    if number > 0 { text.append(UInt8(ascii: ",")) }
    text.append(UInt8(ascii: "\n"))
    var writer = JSONWriter(appendingTo: text)
    writer.beginObject()
    write(&writer)
    writer.endObject()
    return writer.take()
  }
}

extension Array {
  /// The elements sorted by the bytes of a text that each of them has; nil if two have the same text.
  fileprivate func distinct(by text: (Element) -> String) -> [Element]? {
    func isInOrder(_ all: [Element]) -> Bool { zip(all, all.dropFirst()).allSatisfy { text($0).isBefore(text($1)) } }
    if isInOrder(self) { return self }
    var places = indices.map { (part: TextPart(), place: $0) }
    // Numbers are compared and moved faster than texts. Texts with the same first bytes are sorted by their next bytes.
    var runs = [(range: indices, byte: 0)]
    while let (range, byte) = runs.popLast() {
      for index in range { places[index].part = TextPart(of: text(self[places[index].place]), from: byte) }
      places[range].sort { $0.part < $1.part }
      var first = range.lowerBound
      for index in range where index + 1 == range.upperBound || places[index].part != places[index + 1].part {
        if index > first, !places[first].part.isEnd { runs.append((first..<index + 1, byte + TextPart.size)) }
        first = index + 1
      }
    }
    let sorted = places.map { self[$0.place] }
    return isInOrder(sorted) ? sorted : nil
  }
}

/// Up to 32 bytes of a text, as many as a token's number has digits, in a form that is compared fast.
private struct TextPart: Comparable {
  static let size = 32

  /// The bytes as big-endian numbers, which compare as the bytes do; missing bytes count as zero.
  private var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
  /// The number of bytes; more than ``size`` if further ones follow.
  private var count = 0

  init() {}

  init(of text: String, from first: Int) {
    let all = text.utf8Span.span
    func number(_ first: Int) -> UInt64 {
      (first..<first + 8).reduce(0) { $0 << 8 | ($1 < all.count ? UInt64(all[$1]) : 0) }
    }
    bytes = (number(first), number(first + 8), number(first + 16), number(first + 24))
    count = Swift.min(Swift.max(0, all.count - first), Self.size + 1)
  }

  /// True if the text has no further bytes.
  var isEnd: Bool { count <= Self.size }

  static func < (a: Self, b: Self) -> Bool { a.bytes == b.bytes ? a.count < b.count : a.bytes < b.bytes }
  static func == (a: Self, b: Self) -> Bool { a.bytes == b.bytes && a.count == b.count }
}

extension String {
  /// True if this text is before another in the order of bytes.
  func isBefore(_ other: String) -> Bool {
    let (own, others) = (utf8Span.span, other.utf8Span.span)
    for place in 0..<Swift.min(own.count, others.count) where own[place] != others[place] {
      return own[place] < others[place]
    }
    return own.count < others.count
  }
}

extension JSONObject {
  /// The member `name` of `entry` if it is a text that is not empty.
  fileprivate borrowing func nonempty(_ name: StaticString, of entry: Node) -> String? {
    guard let text = string(of: name, in: entry), !text.isEmpty else { return nil }
    return text
  }

  /// The member `name` of `entry` if it is a whole number of at most 15 digits, in that notation.
  fileprivate borrowing func whole(_ name: StaticString, of entry: Node) -> Int64? {
    guard let node = value(name, of: entry), kind(node) == .number else { return nil }
    return withWord(node) { word in
      let text = Span<UInt8>(_bytes: word)
      let isNegative = text[0] == UInt8(ascii: "-")
      let digits = text.extracting(droppingFirst: isNegative ? 1 : 0)
      guard digits.count <= 15 else { return nil }
      var whole: Int64 = 0
      for place in digits.indices {
        let digit = digits[place] &- UInt8(ascii: "0")
        guard digit <= 9 else { return nil }
        whole = whole * 10 + Int64(digit)
      }
      return isNegative ? -whole : whole
    }
  }
}
