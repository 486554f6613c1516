internal import VaultBytes
package import VaultCore
package import VaultModel
internal import VaultSigning
internal import VaultStore

/// A token that was made, with facts about it.
package struct MadeToken: ~Copyable {
  /// The token in ASCII.
  package let text: SecureBytes
  package let accessible: AccessClass
  package let version: Int
  /// The `jti` of the token.
  package let id: String
  /// The first second in which the token is no longer valid, in Unix seconds.
  package let expires: Int64
}

/// The caller's wishes for a token, within the terms of the item.
package struct WantedToken: Sendable {
  package let subject: String?
  /// The lifetime of the token in seconds.
  package let lifetime: Int64?
  /// The claims: the text of an object, as in tokens.
  package let claims: String?

  package init(subject: String?, lifetime: Int64?, claims: String?) {
    (self.subject, self.lifetime, self.claims) = (subject, lifetime, claims)
  }
}

extension Items {
  /// Lends a new token (RFC 7519), signed with an item's key, to `answer`.
  ///
  /// - Parameter order: the work of this call with large RSA keys, the same object in each attempt; nil for a call with
  ///   one attempt.
  /// - Returns: nil if the token was lent; otherwise what the caller may wait for.
  /// - Throws: the reason why there is no token.
  package func issue(
    _ reading: Reading, _ wanted: WantedToken, _ order: RSAOrder? = nil, _ answer: (borrowing MadeToken) -> Void
  ) throws(Refusal) -> Wait? {
    let order = order ?? rsaOrder(for: reading.caller)
    let (id, now) = order.token ?? (Self.newTokenID(), vault.clock.wall())
    order.token = (id, now)
    // Becomes the item's own subject if the caller names none.
    var subject = wanted.subject
    return try use(
      reading, for: .jwt, subject.map { "token \(id) for \($0)" } ?? "token \(id)", order
    ) { (keychain, decide) throws(VaultError) in
      let made: Made<MadeToken> = try keychain.withValue(
        of: reading.name, now: now, evenExpired: reading.evenExpired, if: decide
      ) { item, version, value in
        do throws(Refusal) {
          let claims = try Self.claims(wanted, id, now, item)
          subject = claims.subject
          return .success(try Self.issue(claims, item, version, value, order))
        } catch {
          return .failure(error)
        }
      }
      switch consume made {
      case .failure(let refusal): return .failure(refusal)
      case .success(let token):
        if let refusal = prepare(token, subject, reading.name, madeAt: now, keychain) { return .failure(refusal) }
        return .success(token)
      }
    } _: { token in
      answer(token)
    }
  }

  private static func claims(
    _ wanted: WantedToken, _ id: String, _ now: Int64, _ item: ItemInfo
  ) throws(Refusal) -> TokenClaims {
    do throws(TokenProblem) {
      let request = TokenRequest(
        subject: wanted.subject, life: wanted.lifetime, claims: wanted.claims.map { Array($0.utf8) })
      return try TokenClaims(TokenTerms(attributes: item.attributes), request, now: now, identifier: id)
    } catch {
      throw .notOnTheseTerms(item.name.text, reason: error.reason)
    }
  }

  private static func issue(
    _ claims: TokenClaims, _ item: ItemInfo, _ version: Int, _ value: RawSpan, _ order: RSAOrder
  ) throws(Refusal) -> MadeToken {
    let key = try TokenKey(item, value)
    let algorithm = try key.algorithm()
    do throws(SigningError) {
      let text = try JSONWebToken.make(
        algorithm: algorithm, keyID: key.id(version: version), payload: claims.payload
      ) { (message) throws(SigningError) in
        try key.sign(message, order, of: item.policy.accessible)
      }
      return MadeToken(
        text: text, accessible: item.policy.accessible, version: version, id: claims.identifier,
        expires: claims.expiresAt)
    } catch {
      throw .misconfigured(error.reason)
    }
  }

  /// A new token id of 128 random bits, so that none is made twice and nobody can guess one.
  private static func newTokenID() -> String { RandomBytes.array(count: 16).hex }
}
