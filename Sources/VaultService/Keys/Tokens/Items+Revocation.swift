internal import VaultBytes
internal import VaultCore
package import VaultModel
internal import VaultSigning
internal import VaultStore

extension Items {
  /// The tokens that are to be revoked.
  package enum RevokedTokens: Sendable {
    /// The token with this `jti`.
    case one(String)
    /// All tokens that were made for a subject so far.
    case all(of: String)

    fileprivate var text: String {
      switch self {
      case .one(let id): "token \(id)"
      case .all(let subject): "tokens for \(subject)"
      }
    }

    /// The same tokens, with the id in the spelling of tokens, after a check that a token can have this id or subject.
    ///
    /// - Throws: the problem with a text that no token can have.
    fileprivate func checked() throws(RevocationProblem) -> Self {
      switch self {
      case .one(let id): return .one(try RevocationList.number(id))
      case .all(let subject):
        try RevocationList.check(subject: subject)
        return self
      }
    }
  }

  /// The name of the item that is the list of the revoked tokens of an item.
  package static func revocationList(of name: ItemName) throws(Refusal) -> ItemName {
    let text = name.text + TokenListCheck.ending
    do throws(NameError) { return try ItemName(text) } catch { throw .invalidName(text, reason: error.reason) }
  }

  /// Revokes tokens of an item by adding them to its list, an item of its own, which the caller must have the right to
  /// set.
  ///
  /// On the item of the tokens, the caller must have some right besides `deposit`. Any other caller gets the same
  /// refusal whether or not the item exists.
  ///
  /// A subject that the item's terms exclude is refused: it is mistyped, and its tokens do not count anyway.
  ///
  /// - Returns: the name of the list, and the version of the list that was made.
  package func revoke(
    _ given: RevokedTokens, of name: ItemName, for caller: Caller
  ) throws(Refusal) -> (list: ItemName, version: Int) {
    // The text may be a whole token by mistake, which must not be readable in the log.
    let tokens: RevokedTokens
    do throws(RevocationProblem) { tokens = try given.checked() } catch {
      throw .invalidValue(kind: "", reason: error.reason)
    }
    let listName = try Self.revocationList(of: name)
    let detail = "revokes \(tokens.text)"
    return try vault.audit.recording(.use, caller, name.text, detail: detail) { entry throws(Refusal) in
      let permit = access.permit(caller, on: name)
      guard permit.tellsOfAny else { throw permit.isUndecided ? vault.locked : denied }
      _ = try self.permit(.set, on: listName, for: caller)
      let item = try item(name)
      entry.item = item.id
      guard permit.tells(item.policy.accessible) else { throw permit.isUndecided ? vault.locked : denied }
      guard item.use == .jwt else { throw .wrongUse(name.text, use: item.use) }
      let (list, text) = try listed(tokens, item)
      let keychain = try vault.keychain()
      // An existing list is given only a new value, because a caller with the right `set` may change nothing else.
      var change = ItemChange(name: listName, update: true)
      if !isThere(listName) {
        change.kind = .note
        change.accessible = item.policy.accessible
      }
      let stored = try set(change, .bytes(count: text.count), for: caller, within: entry, isList: true) { bytes in
        bytes.copy(unsafe text.span.bytes)  // Bytes have no padding.
        return true
      }
      known.stored(list, bytes: text.count, as: listName, keychain)
      return (listName, stored.number)
    }
  }

  /// The list with these tokens added and without the tokens that have expired by themselves, and the text of the list.
  private func listed(
    _ tokens: RevokedTokens, _ item: ItemInfo
  ) throws(Refusal) -> (list: RevocationList, text: [UInt8]) {
    let keychain = try vault.keychain()
    let now = vault.clock.wall()
    let known: KnownValues.List
    do throws(VaultError) { known = try revocations(of: item.name, keychain, now) } catch {
      throw error == .locked ? vault.locked : vault.refusal(error, item.name.text)
    }
    var list: RevocationList
    do throws(RevocationProblem) { list = try known.read.get() } catch {
      let list = try Self.revocationList(of: item.name)
      throw .invalidValue(kind: "", reason: TokenListCheck.sentence(stored: error, list))
    }
    let newest = max(keychain.newestTime(of: item.policy.accessible, at: now), issuedUnnoted)
    let issued = lastIssue(of: item, keychain, at: now)
    let step = ClassRecord.Facts.longestStep
    if let stored = try? self.item(Self.revocationList(of: item.name)) {
      // The list may have another class than the item, and its last write is dated by the time of its own class.
      let last = keychain.newestTime(of: stored.policy.accessible, at: now)
      list.grow(from: stored.current.created, to: last, step: step)
    }
    list.drop(expiredBy: newest)
    let terms: TokenTerms
    do throws(TokenProblem) {
      terms = try TokenTerms(attributes: item.attributes)
      if case .all(let subject) = tokens { try terms.check(subject: subject) }
    } catch {
      throw .notOnTheseTerms(item.name.text, reason: error.reason)
    }
    let life = terms.longestLife
    do throws(RevocationProblem) {
      switch tokens {
      case .one(let id): try list.revoke(identifier: id, expiresAt: Seconds.after(life, issued))
      case .all(let subject):
        try RevocationList.check(subject: subject, on: terms)
        try list.revoke(subject: subject, issuedUpTo: issued, longestLife: life)
      }
      list.setAges(at: newest, step: step)
      return (list, try list.encoded())
    } catch {
      throw .invalidValue(kind: "", reason: error.reason)
    }
  }

  private func isThere(_ name: ItemName) -> Bool { (try? item(name)) != nil }

  /// The list of the revoked tokens of an item; empty if there is none.
  func revocations(of name: ItemName, _ keychain: Keychain, _ now: Int64) throws(VaultError) -> KnownValues.List {
    let none = KnownValues.List(.success(RevocationList()), bytes: 0)
    let list: ItemName
    do throws(Refusal) { list = try Self.revocationList(of: name) } catch { return none }
    return try known.list(list, keychain, now) ?? none
  }
}
