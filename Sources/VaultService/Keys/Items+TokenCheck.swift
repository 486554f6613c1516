package import VaultCore
package import VaultModel
internal import VaultSigning
internal import VaultStore

/// What came of the check of a token.
package enum CheckedToken: Sendable {
  /// A token that counts.
  package struct Valid: Sendable {
    /// The version of the key that made it.
    package let version: Int
    package let id: String
    package let subject: String?
    /// The second in which it was made, Unix seconds.
    package let issued: Int64
    /// The first second in which it is no longer valid, Unix seconds.
    package let expires: Int64
    /// The text of an object, as tokens have it.
    package let claims: String

    /// Its number and subject, for the audit log. They can be another maker's, and are any text then.
    fileprivate var text: String {
      let id = Printable.line(id)
      return subject.map { "token \(id) for \(Printable.line($0))" } ?? "token \(id)"
    }
  }

  case valid(Valid)
  /// One that does not, for that reason.
  case fault(String)
}

extension Items {
  /// Checks a token against an item's key, terms and list of revoked ones, and tells `answer` what came of it.
  ///
  /// A key that was replaced counts for as long as its tokens can be good (``replacedVersions(of:_:)``).
  /// - Returns: nil when it was told; while the vault is locked, what the caller may wait for.
  /// - Throws: why it cannot be checked, also where the list cannot be read: nothing is taken as not revoked then.
  package func verify(
    _ token: borrowing SecureBytes, of name: ItemName, for caller: Caller, _ said: Said = Said(),
    _ answer: (CheckedToken) -> Void
  ) throws(Refusal) -> Wait? {
    let now = vault.clock.wall()
    var found: CheckedToken.Valid?
    return try token.withBytes { (text: RawSpan) throws(Refusal) in
      try use(
        name, for: .jwt, "check of \(found?.text ?? "a token")", for: caller, said
      ) { (keychain, decide) throws(VaultError) -> Made<CheckedToken> in
        let token: CheckedToken.Valid
        switch try check(text, of: name, keychain, now, decide) {
        case .failure(let refusal): return .refused(refusal)
        case .success(.fault(let reason)): return .made(.fault(reason))
        case .success(.valid(let good)): token = good
        }
        // Looked at for a token that is good otherwise, and for no other: a list can be long.
        let list: RevocationList
        switch try revocations(of: name, keychain, now).read {
        case .success(let read): list = read
        case .failure(let problem): return .refused(.invalidValue(kind: "", reason: problem.reason))
        }
        guard !list.isRevoked(identifier: token.id, subject: token.subject, issuedAt: token.issued) else {
          return .made(.fault(TokenFault.revoked.reason))
        }
        found = token
        return .made(.valid(token))
      } _: { checked in
        answer(checked)
      }
    }
  }

  /// Checks a token by the keys of an item, the current one first. It may have been revoked.
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
    return .success(.fault("the token was made with no key of this item's"))
  }

  /// The key that is a version of an item's value: the current one, or the one whose record has that digest, and whose
  /// public half is computed once.
  private func tokenKey(_ item: ItemInfo, _ value: RawSpan, replaced digest: Digest?) throws(Refusal) -> TokenKey {
    guard let digest else { return try TokenKey(item, value) }
    let before = known.key(digest)
    let key = try TokenKey(replaced: value, item, before)
    if before == nil, let made = key.publicKey { known.computed(made, of: digest) }
    return key
  }

  /// Checks a token by one version of the key; nil where it names another one.
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
      // The list is looked at afterwards.
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
      // Without a name, each key is tried.
      if id == nil, !isLast, [.signature, .algorithm].contains(error.code) { return nil }
      return .fault(error.reason)
    }
  }

  /// The versions of a key that were replaced and whose tokens can still be good, newest first: those made with it before are, for
  /// as long as the item's `max-ttl` says.
  ///
  /// One that was replaced by a clock that was ahead counts no more once that was repaired: nothing tells when it was.
  /// - Parameter newest: the newest time that the item's class knows, Unix seconds.
  static func replacedVersions(of item: ItemInfo, _ newest: Int64) -> [Int] {
    guard item.use == .jwt, let terms = try? TokenTerms(attributes: item.attributes) else { return [] }
    return zip(item.versions, item.versions.dropFirst()).reversed().compactMap { version, next in
      next.created <= newest && Seconds.after(terms.longestLife, next.created) > newest ? version.number : nil
    }
  }

  /// The public halves of the keys of ``replacedVersions(of:_:)``.
  func replacedKeys(of item: ItemInfo) throws(Refusal) -> [PublicKey] {
    var keys: [PublicKey] = []
    let newest = try vault.keychain().newestTime(of: item.policy.accessible, at: vault.clock.wall())
    for version in Self.replacedVersions(of: item, newest) {
      if let key = try publicKey(ofVersion: version, of: item) { keys.append(key) }
    }
    return keys
  }
}
