internal import VaultModel

// Who left what, and what that process may do when it is taken in.
extension Access {
  /// A caller as it is remembered with what it leaves.
  func depositor(_ caller: Caller) -> Depositor {
    var depositor = Depositor(
      uid: caller.uid, groups: Array(caller.groups.prefix(Depositor.mostGroups)),
      unit: caller.grantedUnit(isSystem: terms.isSystem), isAdministrator: isAdministrator(caller),
      author: caller.author(isSystem: terms.isSystem))
    guard !terms.isSystem else { return depositor }
    depositor.executable = caller.memory.formerExecutable()
    // The file is read where a grant of the caller asks for it, and not otherwise.
    let grants = standing(of: caller).grants.values.flatMap { $0?.entries ?? [] }
    let asksForDigest = grants.contains { $0.grant.subject.parts.contains { $0.kind == "sha256" } }
    if asksForDigest { depositor.digest = caller.memory.digest() }
    return depositor
  }

  /// What whoever left something may do now to the item of that name, also where there is none.
  func permit(_ depositor: Depositor, on name: ItemName) -> Permit {
    let parts = CallerParts(depositor)
    if depositor.isAdministrator, isBornAdministrator(depositor.uid, depositor.groups),
      terms.isSystem || !book.confines(parts)
    {
      return .administrator
    }
    return permit(parts, on: name)
  }

  /// Decides whether a deposit may be taken in: nil, or the reason why it may not.
  ///
  /// - Parameter old: the item that is there; nil for none.
  func decide(deposit item: DepositedItem, by depositor: Depositor, _ old: ItemInfo?) -> DepositObstacle? {
    let permit = permit(depositor, on: item.name)
    guard permit.has(.deposit, item.accessible) else { return .denied }
    guard let old else { return nil }
    guard permit.has(.set, old.policy.accessible) else { return .exists }
    // A new value takes a passed expiry away.
    if let expires = old.expires, expires <= vault.newestTime, !permit.has(.admin, old.policy.accessible) {
      return .itemExpired
    }
    return nil
  }

  /// - Throws: the refusal of a caller that may leave nothing here, as far as can be told now.
  func checkDepositor(_ caller: Caller) throws(Refusal) {
    let standing = standing(of: caller)
    if standing.has(.deposit, now: vault.newestTime) { return }
    throw standing.isUndecided ? vault.locked : .denied("you may not do this")
  }
}
