internal import VaultBytes
internal import VaultModel

/// The claims of a token that is about to be made (RFC 7519 section 4), from an item's terms and a caller's request.
public struct TokenClaims: Hashable, Sendable {
  /// The longest JSON text of private claims in bytes.
  public static let maximumClaimsBytes = 4 << 10
  /// The longest subject in bytes.
  public static let maximumSubjectBytes = 1024
  /// The longest identifier in bytes.
  public static let maximumIdentifierBytes = 128
  /// The number of hexadecimal digits in the identifiers that the vault gives to its tokens.
  public static let numberDigits = 32

  /// The JSON object to sign, in UTF-8: iss, sub, aud, iat, nbf, exp, jti, and then the private claims
  /// in the caller's order.
  public let payload: [UInt8]
  /// The subject, if the token has one.
  public let subject: String?
  /// The `jti`, by which the token can be revoked.
  public let identifier: String
  /// The time at which the token is made and begins to be valid, in Unix seconds.
  public let issuedAt: Int64
  /// The first second in which the token is no longer valid.
  public let expiresAt: Int64

  /// Combines the terms and the request.
  ///
  /// - Parameters:
  ///   - now: Unix seconds of the wall clock, which verifiers elsewhere compare with their clocks.
  ///   - identifier: 16 random bytes in base64url or hexadecimal, never used before: letters, digits, `-` and `_`.
  /// - Throws: ``TokenProblem`` if the request goes beyond the terms. Nothing is cut to fit.
  public init(
    _ terms: TokenTerms, _ request: TokenRequest, now: Int64, identifier: String
  ) throws(TokenProblem) {
    guard (1...Self.maximumIdentifierBytes).contains(identifier.utf8.count),
      identifier.utf8.allSatisfy(Self.isIdentifierByte)
    else { throw TokenProblem(.identifier, "a token's identifier must be base64url or hexadecimal") }
    let claims = try Self.privateClaims(request.claims, terms)
    subject = try Self.subject(request.subject, terms)
    self.identifier = identifier
    issuedAt = now
    expiresAt = Seconds.after(try Self.life(request.life, terms), now)

    var writer = JSONWriter()
    writer.beginObject()
    writer.field("iss", terms.issuer)
    writer.field("sub", subject)
    if terms.audiences.count == 1 { writer.field("aud", terms.audiences[0]) }
    if terms.audiences.count > 1 { writer.field("aud", terms.audiences) }
    writer.field("iat", issuedAt)
    writer.field("nbf", issuedAt)
    writer.field("exp", expiresAt)
    writer.field("jti", identifier)
    if let claims {
      for (name, value) in claims.members(of: claims.root) {
        writer.key(name)
        writer.value(value, of: claims)
      }
    }
    writer.endObject()
    payload = writer.take().withBytes { $0.array }
  }

  private static func subject(_ wish: String?, _ terms: TokenTerms) throws(TokenProblem) -> String? {
    guard let wish else {
      guard let subjects = terms.subjects else { return nil }
      if let literal = subjects.literal { return literal }
      throw TokenProblem(
        .subject, "a subject must be given: one that fits \(Printable.quoted(terms.subjectPattern ?? ""))")
    }
    guard isSubject(wish) else { throw TokenProblem(.subject, noSubject) }
    try terms.check(subject: wish)
    // Every token that is made can be revoked by its subject.
    do throws(RevocationProblem) {
      try RevocationList.check(subject: wish)
      try RevocationList.check(subject: wish, on: terms)
    } catch { throw TokenProblem(.subject, error.reason) }
    return wish
  }

  /// True if the text can be a token's subject.
  static func isSubject(_ text: String) -> Bool {
    (1...maximumSubjectBytes).contains(text.utf8.count) && Printable.isPlain(text)
  }

  /// The reason that a text cannot be a subject.
  static var noSubject: String { "a subject is 1 to \(maximumSubjectBytes) bytes of printable text" }

  private static func life(_ wish: Int64?, _ terms: TokenTerms) throws(TokenProblem) -> Int64 {
    guard let wish else { return terms.longestLife }
    guard wish >= 1 else { throw TokenProblem(.life, "a token's life is at least 1 second") }
    guard wish <= terms.longestLife else {
      throw TokenProblem(
        .life, "a life of \(Seconds.format(wish)) is more than the item's max-ttl, \(Seconds.format(terms.longestLife))"
      )
    }
    return wish
  }

  /// The private claims, if all of them are allowed.
  private static func privateClaims(_ text: [UInt8]?, _ terms: TokenTerms) throws(TokenProblem) -> JSONObject? {
    guard let text else { return nil }
    guard text.count <= maximumClaimsBytes else {
      throw TokenProblem(.claims, "the claims have \(text.count) bytes, more than \(maximumClaimsBytes)")
    }
    let object: JSONObject
    // Bytes have no padding: all are initialized.
    do throws(TokenTextFault) { object = try JSONObject.read(unsafe text.span.bytes) } catch {
      throw TokenProblem(.claims, "the text of the claims \(error.reason)")
    }
    for (name, _) in object.members(of: object.root) {
      if TokenTerms.registeredClaims.contains(where: { $0.isSame(as: name) }) {
        throw TokenProblem(.claims, "only the vault sets the claim '\(name)'")
      }
      guard terms.allows(name) else {
        throw TokenProblem(.claims, "the claim \(Printable.quoted(name)) is not in the item's attribute 'claims'")
      }
    }
    return object
  }

  private static func isIdentifierByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
