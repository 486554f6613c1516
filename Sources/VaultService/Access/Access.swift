internal import VaultCore
package import VaultModel
package import VaultStore

/// The only place that decides who may do what to an item.
///
/// A decision is made from memory and throws nothing: whatever is not allowed here is refused.
package final class Access: SecretHolder {
  /// The owner and the administrators of a vault, who have rights without a grant.
  package struct Terms: Sendable {
    /// The uid that the daemon runs as; in a user's vault, the user's uid.
    package var owner: UInt32
    /// True for the machine's vault, whose administrators are root and a group.
    package var isSystem: Bool
    /// The gid of the administrators' group; nil if there is none.
    package var administrators: UInt32?

    package init(owner: UInt32, isSystem: Bool, administrators: UInt32? = nil) {
      (self.owner, self.isSystem, self.administrators) = (owner, isSystem, administrators)
    }
  }

  package let terms: Terms
  let vault: Vault
  /// The proofs of presence, for the items that require them.
  private var authorizations = Authorizations()
  var book = GrantBook()
  /// True while memory has the grants only sealed, because they name items. That is so in a vault that hides names,
  /// until the vault is unlocked. Meanwhile, each decision opens the grants that concern its caller.
  var hidesGrants = false { didSet { (hidden, opened, shared) = (nil, nil, SharedStandings()) } }
  /// The sealed grants that can be opened while ``hidesGrants`` is true; nil until they are first needed.
  private var hidden: HiddenGrants?
  /// The grants that were opened in this turn of the loop, so that a call for many items, or an event for many
  /// watchers, opens each once. They name items, so they are dropped when the turn ends.
  private var opened: OpenedGrants?
  /// The standings of callers while grants are in memory in the clear.
  private var shared = SharedStandings()
  /// The grants that were read ahead for the unlock under way. They count only once the unlock loads them.
  var readAhead: [AccessClass: ReadGrants] = [:]
  /// While a rekey gives the vault other keys, the classes whose grants in memory are exactly those in the store.
  var carried: [AccessClass] = []
  /// The times of uses of grants that are still to be stored, by the ids of the grants.
  var uses: [ItemID: Int64] = [:]
  /// The requests for rights that no grant gives, and their results.
  var requests: Requests { vault.questions.requests }

  package init(_ terms: Terms, _ vault: Vault) {
    self.terms = terms
    self.vault = vault
    super.init(in: vault.holders)
    requests.changed = { [unowned vault] number, change in
      vault.hooks.announce(.request(number, change))
      if change != .asked { vault.waiting.go(.question(number)) { true } }
    }
  }

  // MARK: Decisions

  /// The rights of `caller` on the item of that name, even if there is no such item.
  package func permit(_ caller: Caller, on name: ItemName) -> Permit {
    let standing = standing(of: caller)
    return standing.isAdministrator ? .administrator : standing.permit(on: name, now: vault.newestTime)
  }

  /// Decides whether a caller may use a right on an item, given its permit.
  ///
  /// Nobody has the right to read a key that is never read (``Policy/withholds(_:)``). This is the only place that says
  /// so; the store itself lends such a key only to a decision of ``Decision/allowWithin``.
  ///
  /// - Parameter policy: the item's policy; nil if there is no such item.
  package func decide(_ right: Right, _ permit: Permit, _ policy: Policy?, for caller: Caller) -> Decision {
    guard permit.has(right, policy?.accessible), policy?.withholds(right) != true else { return .refuse }
    switch right {
    case .get: return policy.map { isShown($0, by: caller) ? .allow : .ask } ?? .allow
    case .use: return policy.map { isShown($0, by: caller) ? .allowWithin : .ask } ?? .allowWithin
    case .set, .find, .watch, .deposit, .admin: return .allow
    }
  }

  /// Decides whether a caller may have a copy made of an item. The copy keeps the item's policies. A copy is as good as
  /// a read. A key that is never read is copied only for a caller with the right `admin`.
  package func decide(copyOf policy: Policy, _ permit: Permit, for caller: Caller) -> Decision {
    guard policy.isNeverRead else { return decide(.get, permit, policy, for: caller) }
    guard decide(.admin, permit, policy, for: caller) == .allow else { return .refuse }
    return isShown(policy, by: caller) ? .allowWithin : .ask
  }

  /// Decides whether a caller may use a right on the item of this name, by the permit that the caller has now.
  package func decide(_ right: Right, _ name: ItemName, _ policy: Policy?, for caller: Caller) -> Decision {
    decide(right, permit(caller, on: name), policy, for: caller)
  }

  /// The areas, disjoint from each other, in which a caller may have a right, and whether there may be more areas than
  /// can be determined now.
  func areas(_ right: Right, _ caller: Caller) -> (areas: [SearchArea], isUndecided: Bool) {
    let standing = standing(of: caller)
    if standing.isAdministrator { return ([.everything], false) }
    return (standing.areas(right, now: vault.newestTime), standing.isUndecided)
  }

  /// Decides whether a caller may be told of any event; nil if that cannot be determined before the vault is unlocked.
  /// The caller watches or begins to watch, so each call counts as a use of the grants that allow it, even while
  /// nothing happens.
  func mayWatchAnything(_ caller: Caller) -> Bool? {
    let standing = standing(of: caller)
    let now = vault.newestTime
    guard standing.has(.watch, now: now) else { return standing.isUndecided ? nil : false }
    standing.noteWatch(now: now)
    return true
  }

  /// True when a caller may manage the vault itself: its slots, its backups, its grants.
  package func isAdministrator(_ caller: Caller) -> Bool { standing(of: caller).isAdministrator }

  /// Checks that a caller may manage the vault itself.
  ///
  /// - Throws: the refusal for a caller who may not.
  package func checkAdministrator(_ caller: Caller) throws(Refusal) {
    if !isAdministrator(caller) { throw .denied(Self.administratorsOnly) }
  }

  /// Checks that a caller may unlock and lock the vault: administrators may, and the users for whom there is a slot.
  ///
  /// - Throws: the refusal for a caller who may not.
  package func checkOpener(_ caller: Caller) throws(Refusal) {
    if isAdministrator(caller) { return }
    let slots = vault.openKeychain?.slots ?? []
    guard terms.isSystem, slots.contains(where: { $0.terms?.users.contains(caller.uid) == true }) else {
      throw .denied(Self.administratorsOnly)
    }
  }

  /// Checks that a caller may lock the vault. A caller who counts as confined only because nobody knows which file its
  /// process runs may lock it, too: a lock must not wait for a file system. A caller who is also confined as another
  /// subject may not.
  ///
  /// - Throws: the refusal for a caller who may not.
  package func checkLocker(_ caller: Caller) throws(Refusal) {
    switch caller.memory.digest {
    case .known: break
    case .unread, .uncertain:
      let isOwner = !terms.isSystem && isBornAdministrator(caller.uid, caller.groups)
      let parts = CallerParts(caller, isSystem: terms.isSystem)
      if isOwner, book.needsDigest(of: parts), !isConfined(caller, parts, forCertain: true) { return }
    }
    try checkOpener(caller)
  }

  /// True when a caller has a right to anything, or may have one by grants that cannot be read now.
  package func hasAny(_ caller: Caller) -> Bool {
    let standing = standing(of: caller)
    return standing.hasAny(now: vault.newestTime) || standing.isUndecided
  }

  /// True if the caller is known to have a right on some item. Before the rights of a class can be read, only those in
  /// other classes are known.
  package func isKnown(_ caller: Caller) -> Bool { standing(of: caller).hasAny(now: vault.newestTime) }

  /// True if a grant that counts names the user and no unit. This can be decided even for a connection whose process is
  /// not examined yet.
  package func names(user uid: UInt32) -> Bool { book.names(.user(uid)) }

  /// The revision of the grants, with which the answers of ``hasAny(_:)`` and ``isKnown(_:)`` may change.
  package var revision: Int { book.revision }

  private static let administratorsOnly = "this is for the vault's administrators"

  // MARK: Digests

  /// True if nothing can be decided about a caller before the file that its process runs is read, because a grant names
  /// the digest of a file, and all other parts of the grant's subject hold for the caller. A door then lets the
  /// caller's calls wait for ``Caller/Memory/whenDigestIsKnown(_:)``; until then the caller is confined and has no
  /// rights from such a grant.
  package func awaitsDigest(of caller: Caller) -> Bool {
    guard book.namesDigest, !terms.isSystem, caller.memory.digest == .unread else { return false }
    if let known = caller.memory.needsDigest, known.revision == book.revision { return known.isSo }
    let isSo = book.needsDigest(of: CallerParts(caller, isSystem: false))
    caller.memory.needsDigest = (book.revision, isSo)
    return isSo
  }

  /// True if something can be decided about a caller now. Otherwise `then` runs once the file that the caller's process
  /// runs is read; see ``awaitsDigest(of:)``.
  package func canDecide(about caller: Caller, otherwise then: @escaping () -> Void) -> Bool {
    guard awaitsDigest(of: caller) else { return true }
    caller.memory.whenDigestIsKnown(then)
    return false
  }

  /// True if only the file that the caller's process runs, which is not read yet, can tell whether the caller is a
  /// subject.
  package func awaitsDigest(of caller: Caller, toBe subject: Subject) -> Bool {
    guard !terms.isSystem, subject.namesDigest, caller.memory.digest == .unread else { return false }
    return CallerParts(caller, isSystem: false).mayBeAll(of: subject)
  }

  // MARK: Standings

  /// The standing of a caller in this vault now.
  func standing(of caller: Caller) -> Standing {
    if let known = caller.memory.standing, known.revision == book.revision { return known }
    let standing = makeStanding(of: caller)
    if hidesGrants {
      opened?.keep(standing, of: caller)
    } else {
      caller.memory.standing = standing
    }
    return standing
  }

  private func makeStanding(of caller: Caller) -> Standing {
    let parts = CallerParts(caller, isSystem: terms.isSystem)
    let isConfined = isConfined(caller, parts)
    // The decision is made without the grants. In a vault that hides names, the grants would have to be read again for
    // each administrator who watches, and the names in them would be in memory meanwhile.
    if !isConfined, caller.door != .credentials, isBornAdministrator(caller.uid, caller.groups) {
      return Standing(revision: book.revision, isAdministrator: true, isConfined: false, grants: [:])
    }
    // Many connections of one service watch the same items.
    if terms.isSystem, let known = opened?.standing(for: parts, book.revision) { return known }
    let found = readableBook(for: parts).grants(for: parts)
    let key = hidesGrants ? nil : SharedStandings.Key(found, isConfined: isConfined)
    if let key, let known = shared.standing(key, book.revision) { return known }
    var grants: [AccessClass: GrantIndex?] = [:]
    for accessible in AccessClass.allCases {
      grants[accessible] = .some(
        found[accessible].map { entries in GrantIndex(entries) { [unowned self] in uses[$0] = $1 } })
    }
    let standing = Standing(revision: book.revision, isAdministrator: false, isConfined: isConfined, grants: grants)
    if let key {
      shared.keep(standing, key)
    } else if terms.isSystem {
      opened?.keep(standing, for: parts)
    }
    return standing
  }

  /// The grants that can be known now, as far as they concern a caller with these parts. Grants that are not kept in
  /// memory in the clear are opened.
  func readableBook(for parts: CallerParts) -> GrantBook {
    guard hidesGrants, let keychain = vault.openKeychain else { return book }
    if let known = opened?.book(for: parts, book.revision) { return known }
    if hidden?.isCurrent(keychain) != true {
      hidden = HiddenGrants(keychain) { accessible, error in warn(accessible, error) }
    }
    var read = book
    if let hidden { read.load(hidden.records(for: parts, keychain)) }
    if opened?.revision != book.revision {
      opened = OpenedGrants(revision: book.revision, named: hidden?.named ?? [])
    }
    opened?.keep(read, for: parts)
    vault.hooks.afterwards { [weak self] in
      self?.opened = nil
      Stack.wipe()
    }
    return read
  }

  /// True when a uid or its groups are those of an administrator, by the vault's terms and not by a grant.
  func isBornAdministrator(_ uid: UInt32, _ groups: [UInt32]) -> Bool {
    if let group = terms.administrators, groups.contains(group) { return true }
    return uid == (terms.isSystem ? 0 : terms.owner)
  }

  /// True when a process of the user is confined to its grants.
  ///
  /// - Parameter isCertain: true to leave out subjects that the process may or may not be, as long as its digest is not
  ///   known.
  private func isConfined(_ caller: Caller, _ parts: CallerParts, forCertain isCertain: Bool = false) -> Bool {
    guard !terms.isSystem, caller.uid == terms.owner else { return false }
    if isCertain ? book.holding(parts) != nil : book.confines(parts) { return true }
    // Before the first key is in memory, or if the records in the store were changed, nobody can tell which programs a
    // grant has named. A service has probably been named, so it counts as confined.
    return !book.knowsConfined && caller.userUnit?.hasSuffix(".service") == true && vault.openKeychain != nil
  }

  // MARK: Presence

  /// True when the caller's session has shown the presence that a policy requires, within the policy's window.
  func isShown(_ policy: Policy, by caller: Caller) -> Bool {
    if policy.require == .none { return true }
    guard let session = caller.session else { return false }
    return authorizations.satisfy(policy, session, now: vault.clock.boot())
  }

  /// Remembers the presence that a caller's session has shown just now, and the slots by which it counts.
  func add(_ evidence: Authorizations.Evidence, by caller: Caller, with slots: [SlotRecord]) {
    if let session = caller.session { add(evidence, in: session, with: slots) }
  }

  /// Remembers the presence that any session has shown just now, and the slots by which it counts.
  func add(_ evidence: Authorizations.Evidence, in session: AuthenticationSession, with slots: [SlotRecord]) {
    authorizations.add(evidence, by: session, with: slots, now: vault.clock.boot())
    vault.hooks.presenceShown()
  }

  /// Forgets the presence that was shown with any of these slots, which are gone.
  func forget(_ gone: [SlotRecord]) { authorizations.forget(gone) }

  // MARK: Locks

  public override func letGo(for lock: Lock) {
    authorizations.forget()
    for accessible in Self.forgotten(lock) { book.forget(accessible) }
    // The sealed grants are read again when they are needed: a lock has taken keys away.
    if lock.reach.contains(.names) { hidesGrants = true }
  }

  public override func outlives(_ lock: Lock) -> Bool {
    !authorizations.isEmpty || lock.reach.contains(.names) && opened != nil
      || Self.forgotten(lock).contains(where: book.knows)
  }

  /// The classes whose grants, which name items, must not be in memory after a lock. In a vault that hides names these
  /// are all classes, because the grants for items of one class are also those for items of the others.
  private static func forgotten(_ lock: Lock) -> [AccessClass] {
    if lock.reach.contains(.names) { return AccessClass.allCases }
    var classes: [AccessClass] = []
    if lock.reach.contains(.afterFirstUnlock) { classes.append(.afterFirstUnlock) }
    if lock.reach.contains(.always) { classes.append(.always) }
    return classes
  }
}
