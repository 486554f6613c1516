internal import VaultModel

// The senders of deposits, and their rights when a deposit is taken in.
extension Access {
  /// The caller, as recorded with the deposit that it leaves.
  func depositor(_ caller: Caller) -> Depositor {
    var depositor = Depositor(
      uid: caller.uid, groups: Array(caller.groups.prefix(Depositor.mostGroups)),
      unit: caller.grantedUnit(isSystem: terms.isSystem), isAdministrator: isAdministrator(caller),
      author: caller.author(isSystem: terms.isSystem))
    guard !terms.isSystem else { return depositor }
    depositor.executable = caller.memory.formerExecutable()
    let grants = standing(of: caller).grants.values.flatMap { $0?.entries ?? [] }
    if grants.contains(where: { $0.grant.subject.namesDigest }), case .known(let digest) = caller.memory.digest {
      depositor.digest = digest
    }
    return depositor
  }

  /// The rights that the sender of a deposit has now on the item of that name, even if there is no such item.
  func permit(_ depositor: Depositor, on name: ItemName) -> Permit {
    let parts = CallerParts(depositor)
    if depositor.isAdministrator, isBornAdministrator(depositor.uid, depositor.groups),
      terms.isSystem || !book.confines(parts)
    {
      return .administrator
    }
    return permit(parts, on: name)
  }

  /// Decides whether a deposit may be taken in.
  ///
  /// - Parameter old: the item that has the name now; nil for none.
  /// - Returns: nil if the deposit may be taken in, or the reason why it may not.
  func decide(deposit item: DepositedItem, by depositor: Depositor, _ old: ItemInfo?) -> DepositObstacle? {
    let permit = permit(depositor, on: item.name)
    guard permit.has(.deposit, item.accessible) else { return .denied }
    guard let old else { return nil }
    guard permit.has(.set, old.policy.accessible) else { return .exists }
    // A new value removes an expiry that has passed.
    let accessible = old.policy.accessible
    if let expires = old.expires, expires <= vault.newestTime(of: accessible), !permit.has(.admin, accessible) {
      return .itemExpired
    }
    return nil
  }

  /// Checks that a caller may leave deposits in this vault, as far as that can be determined now.
  ///
  /// - Throws: the refusal for a caller who may leave none.
  func checkDepositor(_ caller: Caller) throws(Refusal) {
    let standing = standing(of: caller)
    if standing.has(.deposit, now: vault.newestTime) { return }
    throw standing.isUndecided ? vault.locked : .denied("you may not do this")
  }
}
