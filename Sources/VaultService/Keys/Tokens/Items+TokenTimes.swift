internal import VaultCore
internal import VaultModel
internal import VaultSigning
internal import VaultStore

// The times of tokens. A token's time of issue is the clock's, which verifiers elsewhere compare with theirs. Expiry
// and revocation are decided by the later of the clock and the newest time that the class of the item knows.
extension Items {
  /// Prepares for handing out a token. The token must be valid. Its time is stored, or kept in ``issuedUnnoted`` if it
  /// cannot be stored, so that a later revocation of all tokens made so far covers the token, whatever the clock says
  /// then.
  ///
  /// - Parameter now: the `iat` of the token, in Unix seconds: the time of the first attempt of a call that waited for
  ///   its signature.
  /// - Returns: the refusal of a token that would not be valid; nil if the token may be handed out.
  func prepare(
    _ token: borrowing MadeToken, _ subject: String?, _ name: ItemName, madeAt now: Int64, _ keychain: Keychain
  ) -> Refusal? {
    let clock = vault.clock.wall()
    if token.expires <= clock { return .interrupted("the token has expired meanwhile") }
    let newest = keychain.newestTime(of: token.accessible, at: clock)
    guard token.expires > newest else {
      return .misconfigured(
        "the store has seen a time \(Self.span(from: clock, to: newest)) ahead of the clock, at which the "
          + "token would have expired: set the clock, or if it is right, run `vault clock repair`")
    }
    if let subject, let refusal = revoked(subject, name, madeAt: now, clock, keychain) { return refusal }
    guard keychain.newestTime(of: token.accessible, at: now) == now, now > issuedUnnoted else { return nil }
    // At most one write in a second.
    do throws(VaultError) { try keychain.learn(now, token.accessible) } catch { issuedUnnoted = now }
    return nil
  }

  /// The refusal of a token whose subject has had its tokens revoked up to a time ahead of the clock, or while the
  /// token waited for its signature. A list that cannot be read now is ignored here: the check of the token reads it.
  /// So is a revocation in the second in which the token is handed out.
  private func revoked(
    _ subject: String, _ name: ItemName, madeAt now: Int64, _ clock: Int64, _ keychain: Keychain
  ) -> Refusal? {
    guard let list = try? revocations(of: name, keychain, clock), list.latest >= now, let read = try? list.read.get(),
      let end = read.revokedUpTo(subject: subject), end >= now
    else { return nil }
    if end <= clock { return now < clock ? .interrupted("the tokens of that subject were revoked meanwhile") : nil }
    return .misconfigured(
      "the tokens of that subject are revoked up to a time that is \(Self.span(from: clock, to: end)) ahead of the "
        + "clock: set the clock, or if it is right, remove the entry from the item's list with `vault edit`")
  }

  private static func span(from now: Int64, to time: Int64) -> String { Seconds.format(Seconds.from(now, to: time)) }

  /// The last second in which tokens of an item can have been made so far; no token has a later `iat`.
  ///
  /// The item may have had another class when the tokens were made, so the times of the other classes count, too. They
  /// count only up to a day ahead of the clock, because whoever has the key of a weaker class can set its time to any
  /// value.
  func lastIssue(of item: ItemInfo, _ keychain: Keychain, at now: Int64) -> Int64 {
    let others = AccessClass.allCases.map { keychain.newestTime(of: $0, at: now) }.max() ?? now
    let own = max(keychain.newestTime(of: item.policy.accessible, at: now), issuedUnnoted)
    return max(own, min(others, Seconds.after(ClassRecord.Facts.longestStep, now)))
  }
}
