internal import VaultBytes
internal import VaultCore
internal import VaultModel

extension JSONWebToken {
  /// The allowed difference between two clocks, in seconds.
  public static let leeways: ClosedRange<Int64> = 0...60

  /// Verifies the token against an item's key and terms (RFC 7519 section 7.2, RFC 8725 section 3): first the
  /// algorithm, then the signature, and only then the claims.
  ///
  /// - Parameters:
  ///   - algorithm: The algorithm of the item's key. The header must name the same, and has no further influence.
  ///   - now: Unix seconds, at which the token must have begun to be valid. A token that expires in
  ///     this second has expired.
  ///   - newest: The newest time that is known to have passed, so that a clock that was turned back does not make a
  ///     token valid again; Unix seconds.
  ///   - leeway: The seconds by which the clock of the token's maker may differ.
  ///   - isRevoked: As ``RevocationList/isRevoked(identifier:subject:issuedAt:)``; called last, for a token
  ///     that is valid otherwise.
  ///   - verifies: Returns true if the signature of the message is by the item's key; for HMAC,
  ///     compared in constant time.
  /// - Precondition: `leeway` is within ``leeways``.
  /// - Throws: ``TokenFault``.
  public borrowing func verify(
    algorithm: Algorithm, terms: TokenTerms, now: Int64, newest: Int64 = .min, leeway: Int64 = 0,
    isRevoked: (_ identifier: String, _ subject: String?, _ issuedAt: Int64) -> Bool,
    verifies: (_ signature: RawSpan, _ message: RawSpan) -> Bool
  ) throws(TokenFault) -> VerifiedToken {
    precondition(Self.leeways.contains(leeway), "clocks are granted a minute")
    guard algorithmName.isSame(as: algorithm.name) else {
      throw TokenFault(
        .algorithm,
        "the token says that its algorithm is \(Printable.quoted(algorithmName)), and the item's is "
          + algorithm.name)
    }
    let isSigned = memory.withBytes { bytes in
      let signature = bytes.extracting(signedCount..<bytes.byteCount)
      return algorithm.signatureCounts.contains(signature.byteCount)
        && verifies(signature, bytes.extracting(0..<signedCount))
    }
    guard isSigned else {
      throw TokenFault(.signature, "the token was not signed by this item's key, or was changed since")
    }

    let claims: JSONObject
    // Bytes have no padding: all are initialized.
    do { claims = try JSONObject.read(unsafe payload.span.bytes) } catch {
      throw .claims("what the token claims \(error.reason)")
    }
    let (issued, expires) = try claims.checkTimes(terms, now: now, newest: max(now, newest), leeway: leeway)
    try claims.checkIssuer(terms)
    try claims.checkAudience(terms)
    let subject = try claims.checkSubject(terms)
    guard let identifier = try claims.text("jti"), !identifier.isEmpty else {
      throw .claims("the token has no identifier (jti), so it could not be revoked")
    }
    guard !isRevoked(identifier, subject, issued) else { throw TokenFault.revoked }
    let names = claims.members(of: claims.root).map(\.key)
    return VerifiedToken(
      claims: String(decoding: claims.spelled, as: UTF8.self), subject: subject, identifier: identifier,
      expiresAt: expires, issuedAt: issued, keyID: keyID,
      unexpectedClaims: names.filter { name in
        !terms.allows(name) && !TokenTerms.registeredClaims.contains { $0.isSame(as: name) }
      })
  }
}

/// The checks of the claims of a signed token.
extension JSONObject {
  /// Checks that the token is valid now and lives no longer than the terms allow.
  fileprivate func checkTimes(
    _ terms: TokenTerms, now: Int64, newest: Int64, leeway: Int64
  ) throws(TokenFault) -> (issued: Int64, expires: Int64) {
    guard let expires = try time("exp") else { throw .claims("the token has no end (exp)") }
    guard Seconds.after(-leeway, newest) < expires else {
      throw TokenFault(.expired, "the token expired \(Seconds.format(Seconds.from(expires, to: newest))) ago")
    }
    guard let issued = try time("iat") else { throw .claims("the token does not say when it was made (iat)") }
    for start in [issued, try time("nbf") ?? issued] where start > Seconds.after(leeway, now) {
      throw TokenFault(
        .notYetValid,
        "the token is not valid for another \(Seconds.format(Seconds.from(now, to: start))); is a clock wrong?")
    }
    let life = Seconds.from(issued, to: expires)
    guard life > 0 else { throw .claims("the token ends before it was made") }
    guard life <= terms.longestLife else {
      throw .claims(
        "the token lives for \(Seconds.format(life)), more than the item's max-ttl, "
          + "\(Seconds.format(terms.longestLife))"
      )
    }
    return (issued, expires)
  }

  fileprivate func checkIssuer(_ terms: TokenTerms) throws(TokenFault) {
    let issuer = try text("iss")
    guard let expected = terms.issuer else { return }
    guard let issuer else {
      throw .claims("the token has no issuer (iss), and the item's is \(Printable.quoted(expected))")
    }
    guard issuer.isSame(as: expected) else {
      throw .claims("the token's issuer is \(Printable.quoted(issuer)), and the item's \(Printable.quoted(expected))")
    }
  }

  /// Checks that the token is for an audience of the item. A token for an audience is not for an item that has none
  /// (RFC 7519 section 4.1.3).
  fileprivate func checkAudience(_ terms: TokenTerms) throws(TokenFault) {
    guard let value = value("aud") else {
      if terms.audiences.isEmpty { return }
      throw .claims("the token has no audience (aud), and the item has one")
    }
    let elements = kind(value) == .array ? elements(of: value) : [value]
    let audiences = elements.compactMap { string($0) }
    guard audiences.count == elements.count else {
      throw .claims("the token's audience (aud) is not a text or several")
    }
    guard audiences.contains(where: { one in terms.audiences.contains { $0.isSame(as: one) } }) else {
      let first = audiences.first.map { Printable.quoted($0) } ?? "nobody"
      throw .claims("the token is for \(first), which is not in the item's attribute 'aud'")
    }
  }

  fileprivate func checkSubject(_ terms: TokenTerms) throws(TokenFault) -> String? {
    let subject = try text("sub")
    guard let subjects = terms.subjects else { return subject }
    guard let subject else { throw .claims("the token has no subject (sub)") }
    guard subjects.matches(subject) else {
      throw .claims(
        "the token's subject \(Printable.quoted(subject)) does not fit the item's "
          + Printable.quoted(terms.subjectPattern ?? ""))
    }
    return subject
  }

  /// The claim `name`, which must be a text if it exists.
  fileprivate func text(_ name: StaticString) throws(TokenFault) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = string(value) else { throw .claims("the token's claim '\(name)' is not a text") }
    return text
  }

  /// The claim `name`, which must be a time if it exists.
  fileprivate func time(_ name: StaticString) throws(TokenFault) -> Int64? {
    guard let value = value(name) else { return nil }
    guard let time = number(value).flatMap({ NumericDate.read($0) }) else {
      throw .claims("the token's claim '\(name)' is not a time")
    }
    return time
  }
}
