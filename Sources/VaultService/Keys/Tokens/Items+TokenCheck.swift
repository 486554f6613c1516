package import VaultCore
internal import VaultModel
internal import VaultSigning
internal import VaultStore

/// The result of the check of a token.
package enum CheckedToken: Sendable {
  /// A valid token.
  package struct Valid: Sendable {
    /// The version of the key that signed the token.
    package let version: Int
    package let id: String
    package let subject: String?
    /// The second in which the token was made, in Unix seconds.
    package let issued: Int64
    /// The first second in which the token is no longer valid, in Unix seconds.
    package let expires: Int64
    /// The claims: the text of an object, as in tokens.
    package let claims: String

    /// The token's id and subject for the audit log. Another issuer may have chosen them, so they may be any text.
    fileprivate var text: String {
      let id = Printable.line(id)
      return subject.map { "token \(id) for \(Printable.line($0))" } ?? "token \(id)"
    }
  }

  case valid(Valid)
  /// A token that is not valid, for this reason.
  case fault(String)
}

extension Items {
  /// Checks a token against an item's key, terms and list of revoked tokens, and passes the result to `answer`.
  ///
  /// A key that was replaced counts for as long as its tokens can be valid (``replacedVersions(of:_:)``).
  ///
  /// - Returns: nil if the result was passed; otherwise what the caller may wait for.
  /// - Throws: the reason why the token cannot be checked. While the list cannot be read, no token is found valid.
  package func verify(
    _ token: borrowing SecureBytes, _ reading: Reading, _ answer: (CheckedToken) -> Void
  ) throws(Refusal) -> Wait? {
    let (name, now) = (reading.name, vault.clock.wall())
    var found: CheckedToken.Valid?
    return try token.withBytes { (text: RawSpan) throws(Refusal) in
      try use(
        reading, for: .jwt, "check of \(found?.text ?? "a token")"
      ) { (keychain, decide) throws(VaultError) -> Made<CheckedToken> in
        let token: CheckedToken.Valid
        switch try check(text, of: name, keychain, now, decide) {
        case .failure(let refusal): return .failure(refusal)
        case .success(.fault(let reason)): return .success(.fault(reason))
        case .success(.valid(let good)): token = good
        }
        // The list is read only for a token that is valid otherwise, because a list can be long.
        let list: RevocationList
        switch try revocations(of: name, keychain, now).read {
        case .success(let read): list = read
        case .failure(let problem):
          let list = try? Self.revocationList(of: name)
          return .failure(.invalidValue(kind: "", reason: TokenListCheck.sentence(stored: problem, list ?? name)))
        }
        guard !list.isRevoked(identifier: token.id, subject: token.subject, issuedAt: token.issued) else {
          return .success(.fault(TokenFault.revoked.reason))
        }
        found = token
        return .success(.valid(token))
      } _: { checked in
        answer(checked)
      }
    }
  }

  /// Checks a token with the keys of an item, the current key first. The list of revoked tokens is not consulted here.
  private func check(
    _ text: RawSpan, of name: ItemName, _ keychain: Keychain, _ now: Int64, _ decide: (ItemInfo) -> Decision
  ) throws(VaultError) -> Result<CheckedToken, Refusal> {
    var versions = [Int?.none]
    while !versions.isEmpty {
      let version = versions.removeFirst()
      let replaced = try version.map { (number) throws(VaultError) in
        try keychain.digest(ofValue: name, version: number)
      }
      let checked: Result<CheckedToken?, Refusal> = try keychain.withValue(
        of: name, version: version, now: now, if: decide
      ) { item, number, value in
        let newest = keychain.newestTime(of: item.policy.accessible, at: now)
        if version == nil { versions = Self.replacedVersions(of: item, newest) }
        do throws(Refusal) {
          let key = try tokenKey(item, value, replaced: replaced)
          return .success(try Self.check(text, now, newest, item, number, key, isLast: versions.isEmpty))
        } catch { return .failure(error) }
      }
      switch checked {
      case .success(nil): continue
      case .success(let checked?): return .success(checked)
      case .failure(let refusal): return .failure(refusal)
      }
    }
    return .success(.fault("the token was not made with a key of this item"))
  }

  /// The key that is a version of an item's value: the current version or, with a digest, the version whose record has
  /// that digest. The public half of such a version is computed once.
  private func tokenKey(_ item: ItemInfo, _ value: RawSpan, replaced digest: Digest?) throws(Refusal) -> TokenKey {
    guard let digest else { return try TokenKey(item, value) }
    let before = known.key(digest)
    let key = try TokenKey(replaced: value, item, before)
    if before == nil, let made = key.publicKey { known.computed(made, of: digest) }
    return key
  }

  /// Checks a token with one version of the key; nil if the token names another version.
  private static func check(
    _ text: RawSpan, _ now: Int64, _ newest: Int64, _ item: ItemInfo, _ version: Int, _ key: borrowing TokenKey,
    isLast: Bool
  ) throws(Refusal) -> CheckedToken? {
    let algorithm = try key.algorithm()
    let terms: TokenTerms
    do throws(TokenProblem) { terms = try TokenTerms(attributes: item.attributes) } catch {
      throw .notOnTheseTerms(item.name.text, reason: error.reason)
    }
    var id: String?
    do throws(TokenFault) {
      let token = try JSONWebToken(parsing: text)
      id = token.keyID
      if let id, id != key.id(version: version) { return nil }
      // The list of revoked tokens is consulted afterwards.
      let found = try token.verify(algorithm: algorithm, terms: terms, now: now, newest: newest) { _, _, _ in
        false
      } verifies: { signature, message in
        key.verifies(signature, message)
      }
      return .valid(
        CheckedToken.Valid(
          version: version, id: found.identifier, subject: found.subject, issued: found.issuedAt,
          expires: found.expiresAt, claims: found.claims))
    } catch {
      // A token without a key id is checked with each key.
      if id == nil, !isLast, [.signature, .algorithm].contains(error.code) { return nil }
      return .fault(error.reason)
    }
  }

  /// The replaced versions of a key whose tokens can still be valid, newest first. Tokens that were signed before a key
  /// was replaced stay valid for as long as the item's `max-ttl` says.
  ///
  /// A version that was replaced while the clock was ahead does not count after the clock was repaired, because nothing
  /// tells when it was replaced. Once the key is replaced again while the clock is right, the time of that replacement
  /// counts for the version, too, because the version was replaced before it.
  ///
  /// - Parameter newest: the newest time that the item's class knows, in Unix seconds.
  static func replacedVersions(of item: ItemInfo, _ newest: Int64) -> [Int] {
    guard item.use == .jwt, let terms = try? TokenTerms(attributes: item.attributes) else { return [] }
    // The earliest time at which a later version was made.
    var replaced = Int64.max
    return zip(item.versions, item.versions.dropFirst()).reversed().compactMap { version, next in
      replaced = min(replaced, next.created)
      return replaced <= newest && Seconds.after(terms.longestLife, replaced) > newest ? version.number : nil
    }
  }

  /// The public halves of the replaced keys in ``replacedVersions(of:_:)``.
  func replacedKeys(of item: ItemInfo) throws(Refusal) -> [PublicKey] {
    var keys: [PublicKey] = []
    let newest = try vault.keychain().newestTime(of: item.policy.accessible, at: vault.clock.wall())
    for version in Self.replacedVersions(of: item, newest) {
      if let key = try publicKey(ofVersion: version, of: item) { keys.append(key) }
    }
    return keys
  }
}
