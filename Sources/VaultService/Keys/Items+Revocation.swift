internal import VaultCore
package import VaultModel
internal import VaultSigning
internal import VaultStore

extension Items {
  /// What is taken back.
  package enum RevokedTokens: Sendable {
    /// The token with that `jti`.
    case one(String)
    /// All that were made for a subject so far.
    case all(of: String)

    fileprivate var text: String {
      switch self {
      case .one(let id): "token \(id)"
      case .all(let subject): "tokens for \(subject)"
      }
    }

    /// Throws for what can be neither a number nor a subject.
    fileprivate func check() throws(RevocationProblem) {
      switch self {
      case .one(let id): try RevocationList.check(identifier: id)
      case .all(let subject): try RevocationList.check(subject: subject)
      }
    }
  }

  /// The name of the item that is the list of what was taken back of an item's tokens.
  package static func revocationList(of name: ItemName) throws(Refusal) -> ItemName {
    let text = name.text + ".revoked"
    do throws(NameError) { return try ItemName(text) } catch { throw .invalidName(text, reason: error.reason) }
  }

  /// Takes tokens of an item back: puts them on its list, an item by itself, which the caller must have the right to set.
  ///
  /// Of the item it must have some right. To whoever has none, all items are alike, and so is one that is not there.
  ///
  /// - Returns: the name of the list, and the version that it made.
  package func revoke(
    _ tokens: RevokedTokens, of name: ItemName, for caller: Caller
  ) throws(Refusal) -> (list: ItemName, version: Int) {
    // It may be a whole token by mistake, which is not to be read in the log.
    do throws(RevocationProblem) { try tokens.check() } catch { throw .invalidValue(kind: "", reason: error.reason) }
    let listName = try Self.revocationList(of: name)
    return try vault.audit.recording(.use, caller, name, detail: "revokes \(tokens.text)") { id throws(Refusal) in
      let permit = access.permit(caller, on: name)
      guard !permit.anywhere.isEmpty else { throw permit.isUndecided ? vault.locked : denied }
      _ = try self.permit(.set, on: listName, for: caller)
      let item = try item(name)
      id = item.id
      guard !permit[item.policy.accessible].isEmpty else { throw permit.isUndecided ? vault.locked : denied }
      guard item.use == .jwt else { throw .wrongUse(name.text, use: item.use) }
      let (list, text) = try listed(tokens, item)
      // One that is there gets a value and nothing else, which is all that who may set it may change.
      var change = ItemChange(name: listName, update: true)
      if !isThere(listName) {
        change.kind = .note
        change.accessible = item.policy.accessible
      }
      let stored = try set(change, .bytes(count: text.count), for: caller) { bytes in
        bytes.copy(unsafe text.span.bytes)  // Bytes have no padding.
        return true
      }
      known.stored(list, bytes: text.count, as: listName, try vault.keychain())
      return (listName, stored.number)
    }
  }

  /// The list with these on it, and without what has expired by itself, and its text.
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
      throw .invalidValue(kind: "", reason: error.reason)
    }
    // The class of the list is that of the item, unless somebody has changed one of them.
    let newest = max(keychain.newestTime(of: item.policy.accessible, at: now), issuedUnnoted)
    let issued = lastIssue(of: item, keychain, at: now)
    let age = keychain.age(of: item.policy.accessible, at: now)
    list.drop(expiredBy: newest, age: age)
    let life: Int64
    do throws(TokenProblem) { life = try TokenTerms(attributes: item.attributes).longestLife } catch {
      throw .notOnTheseTerms(item.name.text, reason: error.reason)
    }
    do throws(RevocationProblem) {
      switch tokens {
      case .one(let id): try list.revoke(identifier: id, expiresAt: Seconds.after(life, issued))
      case .all(let subject): try list.revoke(subject: subject, issuedUpTo: issued, longestLife: life)
      }
      list.setAges(at: newest, age: age, step: ClassRecord.Facts.longestStep)
      return (list, try list.encoded())
    } catch {
      throw .invalidValue(kind: "", reason: error.reason)
    }
  }

  private func isThere(_ name: ItemName) -> Bool { (try? item(name)) != nil }

  /// The list of what was taken back of an item's tokens; empty where there is none.
  func revocations(of name: ItemName, _ keychain: Keychain, _ now: Int64) throws(VaultError) -> KnownValues.List {
    let none = KnownValues.List(.success(RevocationList()), bytes: 0)
    let list: ItemName
    do throws(Refusal) { list = try Self.revocationList(of: name) } catch { return none }
    return try known.list(list, keychain, now) ?? none
  }
}
