internal import VaultModel

/// The text of a list: `{"revoked":[{"jti":"…","exp":…},{"sub":"…","before":…,"exp":…}]}`. `before` is the last second
/// of the revoked tokens (`iat` ≤ `before`), and `exp` the time from which the entry is no longer needed.
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
    do { object = try JSONObject(parsing: text, mostMembers: Self.mostMembers) } catch {
      throw RevocationProblem("the list of revoked tokens \(error.reason)")
    }
    guard object.members.count == 1, let entries = object.value("revoked").flatMap(object.elements) else {
      throw RevocationProblem("the list of revoked tokens must have one member, the array 'revoked'")
    }
    var tokens: [Token] = []
    var subjects: [Subject] = []
    for (index, place) in entries.enumerated() {
      guard let entry = object.object(place) else { throw Self.entry(index, "is no object") }
      // Lists of earlier programs, and lists that people write, have no ages.
      let age = entry.whole("age")
      let count = entry.members.count - (age == nil ? 0 : 1)
      switch (entry.nonempty("jti"), entry.nonempty("sub"), entry.whole("before"), entry.whole("exp")) {
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
    var text = Array(#"{"revoked":["#.utf8)
    for token in tokens {
      text.beginEntry()
      text.member(#""jti":"#, token.identifier)
      text.member(#""exp":"#, token.expiresAt)
      if let age = token.age { text.member(#""age":"#, age) }
      text.append(UInt8(ascii: "}"))
    }
    for subject in subjects {
      text.beginEntry()
      text.member(#""sub":"#, subject.name)
      text.member(#""before":"#, subject.issuedUpTo)
      text.member(#""exp":"#, subject.expiresAt)
      if let age = subject.age { text.member(#""age":"#, age) }
      text.append(UInt8(ascii: "}"))
    }
    if !isEmpty { text.append(UInt8(ascii: "\n")) }
    text.append(contentsOf: "]}\n".utf8)
    guard text.count <= Self.maximumBytes else { throw Self.tooLong }
    return text
  }
}

extension Array {
  /// The elements sorted by the bytes of a text that each of them has; nil if two have the same text.
  fileprivate func distinct(by text: (Element) -> String) -> [Element]? {
    func precedes(_ one: Element, _ other: Element) -> Bool {
      text(one).utf8.lexicographicallyPrecedes(text(other).utf8)
    }
    func isInOrder(_ all: [Element]) -> Bool { zip(all, all.dropFirst()).allSatisfy(precedes) }
    if isInOrder(self) { return self }
    let sorted = sorted(by: precedes)
    return isInOrder(sorted) ? sorted : nil
  }
}

extension [UInt8] {
  fileprivate mutating func beginEntry() {
    if last == UInt8(ascii: "}") { append(UInt8(ascii: ",")) }
    append(contentsOf: "\n{".utf8)
  }
}

extension JSONObject {
  /// The member `name` if it is a text that is not empty.
  fileprivate func nonempty(_ name: StaticString) -> String? {
    guard let text = value(name).flatMap(string), !text.isEmpty else { return nil }
    return text
  }

  /// The member `name` if it is a whole number of at most 15 digits, in that notation.
  fileprivate func whole(_ name: StaticString) -> Int64? {
    guard let place = value(name) else { return nil }
    let isNegative = text[place.lowerBound] == UInt8(ascii: "-")
    let digits = place.dropFirst(isNegative ? 1 : 0)
    guard digits.count <= 15 else { return nil }
    var number: Int64 = 0
    for index in digits {
      let digit = text[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      number = number * 10 + Int64(digit)
    }
    return isNegative ? -number : number
  }
}
