internal import VaultCore
internal import VaultModel
internal import VaultStore

// The needs of programs.
extension Keyring {
  /// True if a caller lacks nothing for a target now.
  package func serves(_ target: KeyringTarget, _ caller: Caller) -> Bool {
    switch target {
    case .collection(let collection): return has(collection) && !isLocked(collection, for: caller)
    case .item(let path):
      guard let item = known(at: path, for: caller) else { return isWithoutMatch(path, for: caller) }
      return !isLocked(item, for: caller)
    }
  }

  /// True if there is a target that could be served, or if nobody can tell now.
  package func mayBeServed(_ target: KeyringTarget, _ caller: Caller) -> Bool {
    switch target {
    case .collection(let collection): return has(collection)
    case .item(let path):
      // For a search that was made, the item that it found counts. That item may be gone.
      guard let path = try? resolve(path, for: caller) else { return true }
      guard has(path.collection) else { return false }
      return hidesItems(in: path.collection) || known(at: path, for: caller) != nil
        || isUnreadable(path, for: caller)
    }
  }

  /// The event that a caller has to wait for before a target is served; nil if it is served, if there is no such
  /// target, or if the store fails to read it. As at the other doors, nobody is asked to unlock the vault for a caller
  /// that lacks a right.
  func lack(_ target: KeyringTarget, _ caller: Caller, _ said: Said) throws(Refusal) -> Wait? {
    guard keychain != nil else { return .unlock }
    switch target {
    case .collection(let collection):
      guard has(collection), isLocked(collection, for: caller) else { return nil }
      if let (right, name, permit) = lackingRight(in: collection, caller) {
        return try items.waitOrAsk(right, name, permit, caller, said)
      }
      if collection == .shared, !access.hasAny(caller) { throw items.denied }
      return .unlock
    case .item(let path):
      if let wait = try lackToFind(at: path, caller, said) { return wait }
      guard let item = known(at: path, for: caller) else {
        if isWithoutMatch(path, for: caller) || isUnreadable(path, for: caller) { return nil }
        return mayBeServed(target, caller) ? .unlock : nil
      }
      return try lack(item, caller, said)
    }
  }

  /// The event that a caller has to wait for before an item is served; nil if it is.
  func lack(_ item: ItemInfo, _ caller: Caller, _ said: Said) throws(Refusal) -> Wait? {
    guard isLocked(item, for: caller) else { return nil }
    let name = item.name
    let permit = access.permit(caller, on: name)
    let decision = access.decide(.get, permit, item.policy, for: caller)
    if decision == .refuse, access.approval(.get, name, for: caller) == nil {
      return try items.waitOrAsk(.get, name, permit, caller, said)
    }
    guard !isShut, let keychain, keychain.opensValues(of: item.policy.accessible) else {
      return .unlock
    }
    return decision == .ask ? .presence(name, item.policy.require) : nil
  }
}
