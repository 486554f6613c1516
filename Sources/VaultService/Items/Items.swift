internal import VaultCore
package import VaultModel
internal import VaultStore

/// The items of the vault, for whoever asks for them at whichever door: the only code between a door and the store.
///
/// Each call is decided by ``Access`` for its caller.
package final class Items {
  let vault: Vault
  let access: Access
  /// For the value that is being stored; empty between two calls.
  let valueInHand = Scratch()

  package init(_ vault: Vault, _ access: Access) {
    self.vault = vault
    self.access = access
  }

  // MARK: Reading

  /// Lends one value to `answer`: the current one, or that of `version`. The bytes must not leave it.
  ///
  /// - Parameter evenExpired: also lends the value of an item past its expiry.
  /// - Returns: nil when it was lent; while the vault is locked, what the caller may wait for.
  /// - Throws: why there is none.
  package func get(
    _ name: ItemName, version: Int? = nil, evenExpired: Bool = false, for caller: Caller,
    _ answer: (ItemInfo, Int, RawSpan) -> Void
  ) throws(Refusal) -> Wait? {
    let keychain = try vault.keychain()
    if let version, version < 1 { throw .invalid("version") }
    var requirement = Requirement.none
    do throws(VaultError) {
      try keychain.withValue(of: name, version: version, now: vault.clock.wall(), evenExpired: evenExpired) { item in
        requirement = item.policy.require
        return access.decide(.get, item.name, item.policy, for: caller)
      } _: { item, number, value in
        answer(item, number, value)
      }
      return nil
    } catch .locked {
      return vault.store.isAwaitingBootKey ? .bootKey : .unlock
    } catch .notAllowed(let decision) {
      throw decision == .ask ? .presenceRequired(name.text, requirement) : denied
    } catch {
      throw vault.refusal(error, name.text)
    }
  }

  /// True when an item has a version of more than so many bytes. An item that cannot be read has none.
  package func hasLongVersion(_ name: ItemName, above count: Int) -> Bool {
    guard let item = try? vault.openKeychain?.item(named: name) else { return false }
    return item.versions.contains { $0.size > count }
  }

  /// Everything about one item but its value.
  package func item(_ name: ItemName, for caller: Caller) throws(Refusal) -> ItemInfo {
    let item = try item(name)
    try check(.find, item.name, item.policy, for: caller)
    return item
  }

  /// One page of the items that match a query: see ``VaultStore/Keychain/find(_:limit:after:now:examining:isTimeUp:)``.
  ///
  /// - Parameter end: when the page ends in any case, `CLOCK_MONOTONIC` nanoseconds.
  package func find(
    _ query: Query, limit: Int, after: Int64?, until end: Int64, for caller: Caller
  ) throws(Refusal) -> (items: [ItemInfo], next: Int64?) {
    let keychain = try vault.keychain()
    let clock = vault.clock
    do throws(VaultError) {
      return try keychain.find(query, limit: limit, after: after, now: clock.wall(), examining: .max) { item in
        access.decide(.find, item.name, item.policy, for: caller)
      } isTimeUp: {
        clock.monotonic() >= end
      }
    } catch {
      throw vault.refusal(error, "")
    }
  }

  /// True when a caller may be told that something happens to the item of this name.
  package func mayWatch(_ name: ItemName, _ caller: Caller) -> Bool {
    access.decide(.watch, name, nil, for: caller) == .allow
  }

  // MARK: Renaming

  /// Renames one item; its versions and attributes stay.
  package func move(_ name: ItemName, to new: ItemName, for caller: Caller) throws(Refusal) {
    let keychain = try vault.keychain()
    try check(.admin, name, nil, for: caller)
    try check(.set, new, nil, for: caller)
    do throws(VaultError) { try keychain.move(from: name, to: new, now: vault.clock.wall()) } catch {
      throw vault.refusal(error, error == .alreadyExists ? new.text : name.text)
    }
    vault.hooks.announce(.item(name, .moved, to: new))
  }

  // MARK: Parts

  /// Decides about an item that was looked up already.
  func check(_ right: Right, _ name: ItemName, _ policy: Policy?, for caller: Caller) throws(Refusal) {
    switch access.decide(right, name, policy, for: caller) {
    case .allow: return
    case .ask: throw .presenceRequired(name.text, policy?.require ?? .none)
    case .refuse: throw denied
    }
  }

  var denied: Refusal { .denied("you may not do this") }

  func item(_ name: ItemName) throws(Refusal) -> ItemInfo {
    let keychain = try vault.keychain()
    do throws(VaultError) { return try keychain.item(named: name) } catch { throw vault.refusal(error, name.text) }
  }
}
