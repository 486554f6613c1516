internal import VaultCore
package import VaultModel
package import VaultStore

/// The ways in which somebody may deal with an item.
package enum Right: String, CaseIterable, Sendable {
  case get, set, find, watch
  /// Have something done with a value that stays here, such as a one-time code made of it.
  case use
  /// Delete, rename, and whatever else changes an existing item beside its value.
  case admin
  /// Change what an item asks for: only for who has shown that it is there.
  case policy
}

/// The one place where it is decided who may do what to an item.
///
/// A decision is made from memory, and throws nothing: what is not allowed here is refused.
package final class Access: SecretHolder {
  /// The uid whose vault it is.
  package let owner: UInt32
  private let clock: Clock
  /// The proofs of presence, for the items that ask for it.
  private var authorizations = Authorizations()

  package init(owner: UInt32, _ vault: Vault) {
    self.owner = owner
    clock = vault.clock
    super.init(in: vault.holders)
  }

  /// Decides whether `caller` may do that to the item of this name.
  ///
  /// - Parameter policy: the item's; nil where there is no such item.
  package func decide(_ right: Right, _ name: ItemName, _ policy: Policy?, for caller: Caller) -> Decision {
    guard caller.uid == owner else { return .refuse }
    switch right {
    case .get, .use, .policy: return policy.map { isShown($0, by: caller) ? .allow : .ask } ?? .allow
    case .set, .find, .watch, .admin: return .allow
    }
  }

  /// True when the caller's session has shown what a policy asks for, not too long ago.
  func isShown(_ policy: Policy, by caller: Caller) -> Bool {
    if policy.require == .none { return true }
    guard let session = caller.session else { return false }
    return authorizations.satisfy(policy, session, now: clock.boot())
  }

  /// Remembers what a caller's session has shown just now, and the slots by which it counts.
  func add(_ evidence: Authorizations.Evidence, by caller: Caller, with slots: [SlotRecord]) {
    guard let session = caller.session else { return }
    authorizations.add(evidence, by: session, with: slots, now: clock.boot())
  }

  /// Forgets what was shown with any of these slots, which are gone.
  func forget(_ gone: [SlotRecord]) { authorizations.forget(gone) }

  public override func letGo(for lock: Lock) { authorizations.forget() }

  public override func outlives(_ lock: Lock) -> Bool { !authorizations.isEmpty }
}
