internal import VaultModel

/// Tokens that are no longer accepted although they have not expired: single tokens by their identifier, and all tokens
/// of a subject up to a certain time.
///
/// The list is stored as a value of its own, in JSON that verifiers in other languages can also read (``encoded()``).
/// An entry is needed until its tokens have expired.
public struct RevocationList: Sendable {
  /// The highest number in a list: 15 digits, which every reader can represent exactly.
  private static let greatest: Int64 = 999_999_999_999_999
  /// The longest text of a list in bytes.
  public static let maximumBytes = 1 << 20

  /// The revocation of a single token.
  struct Token: Hashable {
    let identifier: String
    /// The time at which the token expires.
    var expiresAt: Int64
    /// The age of the entry in seconds, which grows up to 0 (``RevocationList/grow(from:to:step:)``): from then on the
    /// entry can be removed. Nil if it is not set yet.
    var age: Int64? = nil
  }

  /// The revocation of a subject's tokens.
  struct Subject: Hashable {
    let name: String
    /// The last second in which a revoked token was issued.
    var issuedUpTo: Int64
    /// The time at which the last of the revoked tokens expires.
    var expiresAt: Int64
    /// The age of the entry, as in ``Token/age``.
    var age: Int64? = nil
  }

  /// The single tokens, sorted by the bytes of their identifiers.
  private(set) var tokens: [Token]
  /// The subjects, sorted by the bytes of their names.
  private(set) var subjects: [Subject]

  /// Makes an empty list.
  public init() { self.init(sorted: [], []) }

  /// Makes a list from sorted entries without duplicates.
  init(sorted tokens: [Token], _ subjects: [Subject]) {
    self.tokens = tokens
    self.subjects = subjects
  }

  /// True if the list has no entry.
  public var isEmpty: Bool { tokens.isEmpty && subjects.isEmpty }

  /// Revokes the token with this identifier, which expires at `expiresAt`, Unix seconds. If it is revoked already, the
  /// later time counts.
  ///
  /// - Throws: ``RevocationProblem`` for anything with which a list could not be read again: an empty text, a time of
  ///   more than 15 digits.
  public mutating func revoke(identifier: String, expiresAt: Int64) throws(RevocationProblem) {
    try Self.check(identifier, expiresAt, expiresAt)
    let place = tokens.place(of: identifier, by: \.identifier)
    if place < tokens.count, tokens[place].identifier.isSame(as: identifier) {
      tokens[place].expiresAt = max(tokens[place].expiresAt, expiresAt)
      tokens[place].age = nil
    } else {
      tokens.insert(Token(identifier: identifier, expiresAt: expiresAt), at: place)
    }
  }

  /// Revokes all tokens of a subject that were issued at or before `time`, including a token issued in the same second
  /// after the revocation. A new valid token for the subject must wait for the next second.
  ///
  /// - Parameters:
  ///   - time: Unix seconds. If the subject is revoked already, the later time counts.
  ///   - longestLife: The longest possible life of such a token in seconds. If this is too short,
  ///     ``drop(expiredBy:)`` forgets the revocation while tokens are still valid.
  /// - Throws: ``RevocationProblem``, as for an identifier.
  public mutating func revoke(
    subject: String, issuedUpTo time: Int64, longestLife: Int64
  ) throws(RevocationProblem) {
    let end = Seconds.after(longestLife, time)
    try Self.check(subject, time, end)
    let place = subjects.place(of: subject, by: \.name)
    if place < subjects.count, subjects[place].name.isSame(as: subject) {
      subjects[place].issuedUpTo = max(subjects[place].issuedUpTo, time)
      subjects[place].expiresAt = max(subjects[place].expiresAt, end)
      subjects[place].age = nil
    } else {
      subjects.insert(Subject(name: subject, issuedUpTo: time, expiresAt: end), at: place)
    }
  }

  /// Reads the number of a token that the vault made. The text is checked before anything stores it, because it may be
  /// a whole token by mistake, and a number with a missing digit would revoke nothing.
  ///
  /// - Returns: The number as it stands in the token. Capital letters are accepted.
  /// - Throws: ``RevocationProblem`` for anything but 32 hexadecimal digits.
  public static func number(_ text: String) throws(RevocationProblem) -> String {
    guard !text.utf8.contains(UInt8(ascii: ".")) else {
      throw RevocationProblem("this is a token and not its number; give the number, its claim jti")
    }
    let digits = text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) ? $0 | 0x20 : $0 }
    let isNumber = digits.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
    }
    guard digits.count == TokenClaims.numberDigits, isNumber else {
      throw RevocationProblem("a token's number, its claim jti, is \(TokenClaims.numberDigits) hexadecimal digits")
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Checks a text given as a subject by the rules of ``TokenClaims``. A star is refused, too, because it looks like a
  /// pattern, and the list has no patterns. No token is made for such a subject either.
  public static func check(subject: String) throws(RevocationProblem) {
    guard TokenClaims.isSubject(subject) else { throw RevocationProblem(TokenClaims.noSubject) }
    guard !subject.utf8.contains(UInt8(ascii: "*")) else {
      throw RevocationProblem("tokens are revoked for one subject at a time, and a star stands for many")
    }
  }

  /// Checks a text given as a subject of tokens on these terms. A question mark is refused if the item's `sub` is a
  /// pattern, in which a question mark stands for any character but `/`: the text may be a part of that pattern. On
  /// other terms, a question mark stands for itself.
  public static func check(subject: String, on terms: TokenTerms) throws(RevocationProblem) {
    guard !terms.hasSubjectPattern || !subject.utf8.contains(UInt8(ascii: "?")) else {
      throw RevocationProblem(
        "tokens are revoked for one subject at a time, and a question mark stands for many in the item's sub "
          + "(a token of just this subject is revoked by its number, its claim jti)")
    }
  }

  private static func check(_ name: String, _ time: Int64, _ end: Int64) throws(RevocationProblem) {
    guard !name.isEmpty else { throw RevocationProblem("what is to be revoked has no name") }
    guard time.magnitude <= greatest, end.magnitude <= greatest else {
      throw RevocationProblem("the time of a revocation is out of range")
    }
  }

  /// Removes the entries whose age is 0 and whose tokens have all expired, even for verifiers that allow a difference
  /// between clocks (``JSONWebToken/leeways``). Because of the age, a clock that jumps ahead removes nothing.
  ///
  /// - Parameter now: Unix seconds.
  public mutating func drop(expiredBy now: Int64) {
    let end = Seconds.after(-JSONWebToken.leeways.upperBound, now)
    tokens.removeAll { $0.expiresAt <= end && $0.age == 0 }
    subjects.removeAll { $0.expiresAt <= end && $0.age == 0 }
  }

  /// Makes the entries older by the time that has passed since the list was last written.
  ///
  /// The ages depend on nothing but the list: the list may come from another item, access class or vault, whose age
  /// says nothing about the entries. If the time of the last write is still to come, the list was written by a clock
  /// that ran ahead, so no entry may be older than a new one would be.
  ///
  /// - Parameters:
  ///   - last: The time of the last write, Unix seconds.
  ///   - now: Unix seconds.
  ///   - step: The most seconds that count, so that a jump of a clock counts for no more.
  public mutating func grow(from last: Int64, to now: Int64, step: Int64) {
    let passed = min(Seconds.from(last, to: now), step)
    func grown(_ age: Int64, _ expiresAt: Int64) -> Int64 {
      passed < 0 ? min(age, Self.newAge(expiresAt, at: now, step: step)) : min(0, age + passed)
    }
    for place in tokens.indices { tokens[place].age = tokens[place].age.map { grown($0, tokens[place].expiresAt) } }
    for place in subjects.indices {
      subjects[place].age = subjects[place].age.map { grown($0, subjects[place].expiresAt) }
    }
  }

  /// Sets the ages of entries that are new or come from an earlier program.
  ///
  /// - Parameters:
  ///   - now: Unix seconds.
  ///   - step: As for ``grow(from:to:step:)``.
  public mutating func setAges(at now: Int64, step: Int64) {
    for place in tokens.indices where tokens[place].age == nil {
      tokens[place].age = Self.newAge(tokens[place].expiresAt, at: now, step: step)
    }
    for place in subjects.indices where subjects[place].age == nil {
      subjects[place].age = Self.newAge(subjects[place].expiresAt, at: now, step: step)
    }
  }

  /// The age of a new entry: it reaches 0 one step after the end of the tokens.
  private static func newAge(_ expiresAt: Int64, at now: Int64, step: Int64) -> Int64 {
    -min(greatest, Seconds.after(step, max(0, Seconds.from(now, to: expiresAt))))
  }

  /// The latest time up to which all tokens of some subject are revoked, Unix seconds.
  public var latestRevocation: Int64 { subjects.reduce(.min) { max($0, $1.issuedUpTo) } }

  /// The last second whose tokens of the subject are revoked; nil if none are.
  public func revokedUpTo(subject: String) -> Int64? {
    let place = subjects.place(of: subject, by: \.name)
    guard place < subjects.count, subjects[place].name.isSame(as: subject) else { return nil }
    return subjects[place].issuedUpTo
  }

  /// True if a token with these claims is revoked, by its identifier or through its subject.
  public func isRevoked(identifier: String, subject: String?, issuedAt: Int64) -> Bool {
    let place = tokens.place(of: identifier, by: \.identifier)
    if place < tokens.count, tokens[place].identifier.isSame(as: identifier) { return true }
    guard let subject else { return false }
    return revokedUpTo(subject: subject).map { issuedAt <= $0 } ?? false
  }
}

extension Array {
  /// The place of the first element in a sorted array whose text is not before `text`, in the order of bytes.
  fileprivate func place(of text: String, by key: KeyPath<Element, String>) -> Int {
    var range = 0..<count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      let isBefore = self[middle][keyPath: key].isBefore(text)
      range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
