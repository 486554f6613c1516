internal import VaultModel

/// Tokens that are no longer accepted although their time has not come: single ones by their identifier, and all of a
/// subject's up to some time.
///
/// It is kept as a value of its own, in JSON that verifiers in other languages can read as well (``encoded()``). An entry
/// is needed until the tokens that it is about have expired.
public struct RevocationList: Sendable {
  /// The longest text of a list, in bytes.
  public static let maximumBytes = 1 << 20

  /// A single token.
  struct Token: Hashable {
    let identifier: String
    /// The time at which it expires by itself.
    var expiresAt: Int64
  }

  /// A subject's tokens.
  struct Subject: Hashable {
    let name: String
    /// The last second of those that are revoked.
    var issuedUpTo: Int64
    /// The time at which the last one of them expires by itself.
    var expiresAt: Int64
  }

  /// In the order of the bytes of their identifiers.
  private(set) var tokens: [Token]
  /// In the order of the bytes of their names.
  private(set) var subjects: [Subject]

  /// Makes an empty list.
  public init() { self.init(sorted: [], []) }

  /// Makes a list of entries that are in order, each about something else.
  init(sorted tokens: [Token], _ subjects: [Subject]) {
    self.tokens = tokens
    self.subjects = subjects
  }

  /// True when nothing is revoked.
  public var isEmpty: Bool { tokens.isEmpty && subjects.isEmpty }

  /// Revokes the token with this identifier, which expires at `expiresAt`, in Unix seconds. Of two times the later counts.
  ///
  /// - Throws: ``RevocationProblem`` for what a list could not be read with again: an empty text, a time of more than 15
  ///   digits.
  public mutating func revoke(identifier: String, expiresAt: Int64) throws(RevocationProblem) {
    try Self.check(identifier, expiresAt, expiresAt)
    let place = tokens.place(of: identifier, by: \.identifier)
    if place < tokens.count, tokens[place].identifier.isSame(as: identifier) {
      tokens[place].expiresAt = max(tokens[place].expiresAt, expiresAt)
    } else {
      tokens.insert(Token(identifier: identifier, expiresAt: expiresAt), at: place)
    }
  }

  /// Revokes all tokens of a subject that were issued at or before `time`: also one issued in the same second, even if
  /// that was after the revocation. A token for the subject that is to be valid must wait for the next second.
  ///
  /// - Parameters:
  ///   - time: Unix seconds. Of two times the later counts.
  ///   - longestLife: the longest life that such a token can have, in seconds. With one too short ``drop(expiredBy:)``
  ///     forgets the revocation while tokens are still valid.
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
    } else {
      subjects.insert(Subject(name: subject, issuedUpTo: time, expiresAt: end), at: place)
    }
  }

  /// Checks what somebody gives for a token's identifier, before it is kept anywhere: it may be a whole token by mistake.
  ///
  /// - Throws: ``RevocationProblem`` for anything but 1 to 128 bytes of printable ASCII without spaces and dots.
  public static func check(identifier: String) throws(RevocationProblem) {
    guard !identifier.utf8.contains(UInt8(ascii: ".")) else {
      throw RevocationProblem("this is a token and not its number; give the number, its claim jti")
    }
    guard (1...TokenClaims.maximumIdentifierBytes).contains(identifier.utf8.count),
      identifier.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw RevocationProblem(
        "a token's number is 1 to \(TokenClaims.maximumIdentifierBytes) printable ASCII characters without spaces")
    }
  }

  /// The same of a subject, which is such as ``TokenClaims`` takes.
  public static func check(subject: String) throws(RevocationProblem) {
    guard TokenClaims.isSubject(subject) else { throw RevocationProblem(TokenClaims.noSubject) }
  }

  private static func check(_ name: String, _ time: Int64, _ end: Int64) throws(RevocationProblem) {
    guard !name.isEmpty else { throw RevocationProblem("what is to be revoked has no name") }
    let limit: UInt64 = 1_000_000_000_000_000
    guard time.magnitude < limit, end.magnitude < limit else {
      throw RevocationProblem("the time of a revocation is out of range")
    }
  }

  /// Forgets what is about tokens that have all expired, also for verifiers that grant the clocks a difference
  /// (``JSONWebToken/leeways``).
  ///
  /// - Parameter now: Unix seconds.
  public mutating func drop(expiredBy now: Int64) {
    let end = Seconds.after(-JSONWebToken.leeways.upperBound, now)
    tokens.removeAll { $0.expiresAt <= end }
    subjects.removeAll { $0.expiresAt <= end }
  }

  /// True when a token with these claims is revoked, by its identifier or as one of its subject's.
  public func isRevoked(identifier: String, subject: String?, issuedAt: Int64) -> Bool {
    let place = tokens.place(of: identifier, by: \.identifier)
    if place < tokens.count, tokens[place].identifier.isSame(as: identifier) { return true }
    guard let subject else { return false }
    let entry = subjects.place(of: subject, by: \.name)
    return entry < subjects.count && subjects[entry].name.isSame(as: subject) && issuedAt <= subjects[entry].issuedUpTo
  }
}

extension Array {
  /// The place of the first element, of those in order, whose text is not before `text`, in the order of their bytes.
  fileprivate func place(of text: String, by key: KeyPath<Element, String>) -> Int {
    var range = 0..<count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      let isBefore = self[middle][keyPath: key].utf8.lexicographicallyPrecedes(text.utf8)
      range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
