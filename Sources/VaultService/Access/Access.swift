internal import VaultCore
package import VaultModel
package import VaultStore

/// The one place where it is decided who may do what to an item.
///
/// A decision is made from memory, and throws nothing: what is not allowed here is refused.
package final class Access: SecretHolder {
  /// Whose vault it is, and who has what of it without a grant.
  package struct Terms: Sendable {
    /// The uid that the daemon runs as: in a user's vault, the user's.
    package var owner: UInt32
    /// True for the machine's vault, whose administrators are root and a group.
    package var isSystem: Bool
    /// That group; nil where there is none.
    package var administrators: UInt32?

    package init(owner: UInt32, isSystem: Bool, administrators: UInt32? = nil) {
      (self.owner, self.isSystem, self.administrators) = (owner, isSystem, administrators)
    }
  }

  package let terms: Terms
  let vault: Vault
  /// The proofs of presence, for the items that ask for it.
  private var authorizations = Authorizations()
  var book = GrantBook()
  /// True while the grants, which name items, are not kept in memory: with hide-names, until the vault is unlocked. Then those that
  /// can be read are read anew for each decision.
  var hidesGrants = false
  /// The grants that were read for the unlock that takes place now, and of which nothing counts by itself.
  var readAhead: [AccessClass: ReadGrants] = [:]
  /// When grants were used that the store does not know of yet.
  var uses: [ItemID: Int64] = [:]
  /// The requests for what no grant allows, and what came of them.
  let requests: Requests

  package init(_ terms: Terms, _ vault: Vault) {
    self.terms = terms
    self.vault = vault
    requests = Requests(in: vault.holders)
    super.init(in: vault.holders)
    requests.changed = { [unowned vault] number, change in
      vault.hooks.announce(.request(number, change))
      if change != .asked { vault.waiting.go(.approval(number)) { true } }
    }
  }

  // MARK: Decisions

  /// What `caller` may do to the item of that name, also where there is none.
  package func permit(_ caller: Caller, on name: ItemName) -> Permit {
    let standing = standing(of: caller)
    return standing.isAdministrator ? .administrator : standing.permit(on: name, now: vault.newestTime)
  }

  /// Decides whether a caller may do that to an item, which it must have a permit on.
  ///
  /// Nobody has the right to read a key that is never read (``Policy/withholds(_:)``): this is the one place that says so, and the
  /// store itself lends such a key only for what is ``Decision/allowWithin``.
  ///
  /// - Parameter policy: the item's; nil where there is no such item.
  package func decide(_ right: Right, _ permit: Permit, _ policy: Policy?, for caller: Caller) -> Decision {
    guard permit.has(right, policy?.accessible), policy?.withholds(right) != true else { return .refuse }
    switch right {
    case .get: return policy.map { isShown($0, by: caller) ? .allow : .ask } ?? .allow
    case .use: return policy.map { isShown($0, by: caller) ? .allowWithin : .ask } ?? .allowWithin
    case .set, .find, .watch, .deposit, .admin: return .allow
    }
  }

  /// Decides whether a caller may have a copy made of an item, which keeps the item's policies: that is as good as reading it, and
  /// of what nobody reads an administrator's to have.
  package func decide(copyOf policy: Policy, _ permit: Permit, for caller: Caller) -> Decision {
    guard policy.isNeverRead else { return decide(.get, permit, policy, for: caller) }
    guard decide(.admin, permit, policy, for: caller) == .allow else { return .refuse }
    return isShown(policy, by: caller) ? .allowWithin : .ask
  }

  /// The same for one item among many.
  package func decide(_ right: Right, _ name: ItemName, _ policy: Policy?, for caller: Caller) -> Decision {
    decide(right, permit(caller, on: name), policy, for: caller)
  }

  /// Where a caller may have a right, in areas that have nothing in common, and whether that may be more than can be told now.
  func areas(_ right: Right, _ caller: Caller) -> (areas: [SearchArea], isUndecided: Bool) {
    let standing = standing(of: caller)
    if standing.isAdministrator { return ([.everything], false) }
    return (standing.areas(right, now: vault.newestTime), standing.isUndecided)
  }

  /// True when a caller may be told of anything that happens; nil where that cannot be told before the vault is unlocked. Who
  /// asks that watches, or begins to: what lets it is used from now on, also while nothing happens.
  func mayWatchAnything(_ caller: Caller) -> Bool? {
    let standing = standing(of: caller)
    let now = vault.newestTime
    guard standing.has(.watch, now: now) else { return standing.isUndecided ? nil : false }
    standing.noteWatch(now: now)
    return true
  }

  /// True when a caller may deal with the vault itself: its ways in, its backups, its grants.
  package func isAdministrator(_ caller: Caller) -> Bool { standing(of: caller).isAdministrator }

  /// - Throws: the refusal of who may not deal with the vault itself.
  package func checkAdministrator(_ caller: Caller) throws(Refusal) {
    if !isAdministrator(caller) { throw .denied(Self.administratorsOnly) }
  }

  /// - Throws: the refusal of who may not open and lock the vault: an administrator may, and whom a way in is for.
  package func checkOpener(_ caller: Caller) throws(Refusal) {
    if isAdministrator(caller) { return }
    let slots = vault.openKeychain?.slots ?? []
    guard terms.isSystem, slots.contains(where: { $0.terms?.users.contains(caller.uid) == true }) else {
      throw .denied(Self.administratorsOnly)
    }
  }

  /// True when a caller has a right to anything.
  package func hasAny(_ caller: Caller) -> Bool {
    let standing = standing(of: caller)
    return standing.hasAny || standing.isUndecided
  }

  private static let administratorsOnly = "this is for the vault's administrators"

  /// What a caller is to the vault now.
  func standing(of caller: Caller) -> Standing {
    if !hidesGrants, let known = caller.memory.standing, known.revision == book.revision { return known }
    let standing = makeStanding(of: caller)
    if !hidesGrants { caller.memory.standing = standing }
    return standing
  }

  private func makeStanding(of caller: Caller) -> Standing {
    let parts = CallerParts(caller, isSystem: terms.isSystem)
    let isConfined = isConfined(caller, parts)
    // Decided without the grants, which would have to be read where names are hidden: anew for each administrator who watches,
    // and their names would be in memory meanwhile.
    if !isConfined, caller.door != .credentials, isBornAdministrator(caller.uid, caller.groups) {
      return Standing(revision: book.revision, isAdministrator: true, isConfined: false, grants: [:])
    }
    let found = readableBook.grants(for: parts)
    var grants: [AccessClass: GrantIndex?] = [:]
    for accessible in AccessClass.allCases {
      grants[accessible] = .some(
        found[accessible].map { entries in GrantIndex(entries) { [unowned self] in uses[$0] = $1 } })
    }
    return Standing(revision: book.revision, isAdministrator: false, isConfined: isConfined, grants: grants)
  }

  /// The grants that can be known now; those that are not kept in memory are read.
  var readableBook: GrantBook {
    guard hidesGrants, let keychain = vault.openKeychain else { return book }
    var read = book
    readGrants(of: keychain, into: &read)
    vault.hooks.afterwards { Stack.wipe() }
    return read
  }

  /// True when a uid or its groups are those of an administrator.
  func isBornAdministrator(_ uid: UInt32, _ groups: [UInt32]) -> Bool {
    if let group = terms.administrators, groups.contains(group) { return true }
    return uid == (terms.isSystem ? 0 : terms.owner)
  }

  /// True when a process of the user has its grants alone.
  private func isConfined(_ caller: Caller, _ parts: CallerParts) -> Bool {
    guard !terms.isSystem, caller.uid == terms.owner else { return false }
    if book.confines(parts) { return true }
    // Before the first key came, or where what the store says was changed, nobody can tell whom a grant has named: of a
    // service it is likely.
    return !book.knowsConfined && caller.userUnit?.hasSuffix(".service") == true && vault.openKeychain != nil
  }

  // MARK: Presence

  /// True when the caller's session has shown what a policy asks for, not too long ago.
  func isShown(_ policy: Policy, by caller: Caller) -> Bool {
    if policy.require == .none { return true }
    guard let session = caller.session else { return false }
    return authorizations.satisfy(policy, session, now: vault.clock.boot())
  }

  /// Remembers what a caller's session has shown just now, and the slots by which it counts.
  func add(_ evidence: Authorizations.Evidence, by caller: Caller, with slots: [SlotRecord]) {
    if let session = caller.session { add(evidence, in: session, with: slots) }
  }

  /// The same for any session.
  func add(_ evidence: Authorizations.Evidence, in session: AuthenticationSession, with slots: [SlotRecord]) {
    authorizations.add(evidence, by: session, with: slots, now: vault.clock.boot())
  }

  /// Forgets what was shown with any of these slots, which are gone.
  func forget(_ gone: [SlotRecord]) { authorizations.forget(gone) }

  // MARK: Locks

  public override func letGo(for lock: Lock) {
    authorizations.forget()
    for accessible in Self.forgotten(lock) { book.forget(accessible) }
    if lock.reach.contains(.names) { hidesGrants = true }
  }

  public override func outlives(_ lock: Lock) -> Bool {
    !authorizations.isEmpty || Self.forgotten(lock).contains(where: book.knows)
  }

  /// The classes whose grants, which name items, are not to be in memory after a lock. Where names are hidden these are all: the
  /// grants for items of one class are those for items of the others.
  private static func forgotten(_ lock: Lock) -> [AccessClass] {
    if lock.reach.contains(.names) { return AccessClass.allCases }
    var classes: [AccessClass] = []
    if lock.reach.contains(.afterFirstUnlock) { classes.append(.afterFirstUnlock) }
    if lock.reach.contains(.always) { classes.append(.always) }
    return classes
  }
}
