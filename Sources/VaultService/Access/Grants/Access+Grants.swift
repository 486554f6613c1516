internal import VaultCore
package import VaultModel
internal import VaultStore

// Giving and revoking grants.
extension Access {
  // MARK: Changes

  /// Gives a grant. It replaces the grant for the same subject and pattern.
  ///
  /// - Parameter credential: the name of the unit's credential that the item becomes.
  /// - Returns: the replaced grant.
  package func give(
    _ subject: Subject, _ pattern: ItemPattern, _ rights: Rights, as credential: CredentialID? = nil, until: Int64?,
    for caller: Caller
  ) throws(Refusal) -> Grant? {
    try give(subject, pattern, rights, as: credential, until: until, for: caller, within: nil)
  }

  /// - Parameter outer: the entry of the call that gives the grant as a part of its work.
  func give(
    _ subject: Subject, _ pattern: ItemPattern, _ rights: Rights, as credential: CredentialID? = nil, until: Int64?,
    for caller: Caller, within outer: Audit.Entry?
  ) throws(Refusal) -> Grant? {
    let name = credential.map { " as \($0)" } ?? ""
    let end = until.map { " until \($0)" } ?? ""
    let detail = "\(pattern.text) \(rights.names.joined(separator: ","))\(name)\(end)"
    return try vault.audit.recording(.grant, caller, subject.description, detail: detail, within: outer) {
      entry throws(Refusal) in
      try store(subject, pattern, rights, credential, until, caller, entry)
    }
  }

  private func store(
    _ subject: Subject, _ pattern: ItemPattern, _ rights: Rights, _ credential: CredentialID?, _ until: Int64?,
    _ caller: Caller, _ entry: Audit.Entry
  ) throws(Refusal) -> Grant? {
    let keychain = try administer(caller)
    let now = vault.newestTime
    if let until, until <= now { throw .invalidGrant("the end of the grant has already passed") }
    try check(subject, rights, for: caller)
    let grant = Grant(
      subject: subject, pattern: pattern, rights: rights, credential: credential, until: until,
      created: vault.newestTime(of: .whenUnlocked))
    try checkCredential(of: grant, now: now)
    let record = GrantRecord(.grant(grant))
    let old = book.all.filter { $0.grant.isInPlaceOf(grant) }
    var new = [record]
    if !terms.isSystem, subject.isConfining, book.confined[subject] == nil {
      new.append(GrantRecord(.confined(subject)))
    }
    let gone = Set(old.map(\.id))
    try change(keychain, entry, removing: gone, adding: new) { book in
      book.put(record, insteadOf: gone)
      for record in new { if case .confined(let subject) = record.content { book.confine(subject, record.id) } }
    }
    settleRequests(grant)
    vault.log.info("\(subject) was granted \(rights.names.joined(separator: ",")) by uid \(caller.uid)")
    vault.hooks.accessChanged()
    return old.first?.grant
  }

  /// Revokes grants. From now on, the revoked grants do not count in any state of the vault. A grant in a class that
  /// cannot be read now is revoked as soon as the class is read, so it never begins to count.
  ///
  /// - Parameter pattern: nil for all grants of the subject.
  /// - Returns: the revoked grants that are known, and the reason why not all of them could be removed from the store
  ///   yet. In that case the next unlock removes them, and until then a restart of the daemon brings them back.
  package func revoke(
    _ subject: Subject, _ pattern: ItemPattern?, for caller: Caller
  ) throws(Refusal) -> (revoked: [Grant], unstored: String?) {
    try vault.audit.recording(.revoke, caller, subject.description, detail: pattern?.text) { entry throws(Refusal) in
      try takeBack(subject, pattern, caller, entry)
    }
  }

  private func takeBack(
    _ subject: Subject, _ pattern: ItemPattern?, _ caller: Caller, _ entry: Audit.Entry
  ) throws(Refusal) -> (revoked: [Grant], unstored: String?) {
    let keychain = try administer(caller)
    let found = book.all.filter { $0.grant.subject == subject && (pattern == nil || $0.grant.pattern == pattern) }
    let isAllKnown = AccessClass.allCases.allSatisfy(book.knows)
    func isMeant(_ approval: Approval) -> Bool {
      approval.target.subject == subject && pattern?.matches(approval.target.name) ?? true
    }
    guard !found.isEmpty || requests.approvals.contains(where: isMeant) || !isAllKnown else {
      throw noSuchGrant(subject)
    }
    let ids = Set(found.map(\.id))
    let agreeing = agreeing(keychain)
    let unstored = try remove(ids, keychain, entry)
    // The grants are revoked from now on, whether or not the store could be changed.
    let approvals = requests.revoke(isMeant)
    book.revoke(ids, isStored: unstored == nil)
    if unstored == nil { book.agree(sets(of: agreeing, keychain)) }
    if !isAllKnown { book.revokeComing(subject, pattern) }
    vault.log.info("grants of \(subject) were revoked by uid \(caller.uid)")
    vault.hooks.accessChanged()
    return (found.map(\.grant) + approvals.compactMap(grant), unstored)
  }

  /// Removes the records of revoked grants from the store, together with the entry of the call. If the store cannot be
  /// changed, the entry says so.
  ///
  /// - Returns: the reason why the store may still have such records; nil if it has none.
  /// - Throws: the refusal if the entry is required and cannot be written.
  private func remove(_ ids: Set<ItemID>, _ keychain: Keychain, _ entry: Audit.Entry) throws(Refusal) -> String? {
    let notStored = "not stored yet"
    let isClosed = !AccessClass.allCases.allSatisfy(keychain.opensGrants)
    if isClosed { entry.result = notStored }
    do throws(VaultError) {
      try vault.audit.taking(
        effect: { () throws(VaultError) in
          _ = try keychain.changeGrants(removing: ids, adding: [], now: vault.clock.wall())
        }, with: entry)
      return isClosed ? "the vault is locked" : nil
    } catch {
      let reason = error.reason
      entry.result = notStored
      do throws(Refusal) { try vault.audit.settle(entry) } catch {
        entry.result = nil
        throw error
      }
      return reason
    }
  }

  /// Confirms the grants of a vault that came from a backup, so that they count.
  ///
  /// - Returns: the number of grants.
  package func confirmGrants(for caller: Caller) throws(Refusal) -> Int {
    try vault.audit.recording(.grant, caller, nil, detail: "all confirmed") { entry throws(Refusal) in
      try confirm(caller, entry)
    }
  }

  private func confirm(_ caller: Caller, _ entry: Audit.Entry) throws(Refusal) -> Int {
    let keychain = try administer(caller)
    guard vault.state.kind == .unlocked else { throw vault.locked }
    try change(keychain, entry, removing: Set(book.unconfirmed.keys)) { $0.confirm() }
    settleRequests()
    vault.log.info("the grants were confirmed by uid \(caller.uid)")
    vault.hooks.accessChanged()
    return book.all.count
  }

  /// Ends the confinement of a subject that no grant names any more. From now on the subject has the rights of the
  /// user's other programs.
  package func forgetConfined(_ subject: Subject, for caller: Caller) throws(Refusal) {
    try vault.audit.recording(.revoke, caller, subject.description, detail: "forgotten") { entry throws(Refusal) in
      try forget(subject, caller, entry)
    }
  }

  private func forget(_ subject: Subject, _ caller: Caller, _ entry: Audit.Entry) throws(Refusal) {
    let keychain = try administer(caller)
    guard vault.state.kind == .unlocked else { throw vault.locked }
    guard let ids = book.confined[subject] else { throw noSuchGrant(subject) }
    guard !book.all.contains(where: { $0.grant.subject == subject }) else {
      throw .invalidGrant("the subject still has grants; revoke them first with `vault revoke SUBJECT`")
    }
    try change(keychain, entry, removing: ids) { $0.forget(subject) }
    vault.log.info("uid \(caller.uid) ended the confinement of \(subject)")
    vault.hooks.accessChanged()
  }

  // MARK: The store

  /// Reads the grants of all classes whose keys are in memory now, and removes from the store the grants that were
  /// revoked while those keys were not in memory.
  ///
  /// In a vault that hides names, the grants that can be read before an unlock are read once and forgotten.
  func load(_ keychain: Keychain) {
    // The store of a rekey has the same grants under other keys. Reading all of them would make everybody wait.
    book.agree(sets(of: carried, keychain))
    // A copy is filled: the reading logs faults, and a question about rights that comes in during the logging reads
    // `book`.
    var read = book
    readGrants(of: keychain, into: &read)
    book = read
    hidesGrants = vault.settings.hideNames && !AccessClass.allCases.allSatisfy(keychain.opensGrants)
    if hidesGrants {
      for accessible in AccessClass.allCases { book.forget(accessible) }
    }
    storePending(keychain)
    vault.hooks.accessChanged()
  }

  /// Reads the grants of the classes that are not known, or that have changed in the store. Grants that were read ahead
  /// of an unlock count if they are the ones that were stored last.
  func readGrants(of keychain: Keychain, into book: inout GrantBook) {
    var sets: [AccessClass: RecordSet] = [:]
    let known = book.sets
    let unknown = AccessClass.allCases.filter { accessible in
      guard keychain.opensGrants(of: accessible) else { return false }
      sets[accessible] = try? keychain.grantSet(of: accessible)
      return sets[accessible] == nil || sets[accessible] != known[accessible]
    }
    guard !unknown.isEmpty else { return }
    var read = readAhead.filter { sets[$0.key] == $0.value.set && $0.value.problem == nil }
    let left = unknown.filter { read[$0] == nil }
    if !left.isEmpty { read.merge(keychain.readGrants(of: left)) { own, _ in own } }
    var loaded: [AccessClass: GrantBook.Loaded] = [:]
    for accessible in unknown {
      do throws(VaultError) { loaded[accessible] = .stored(try keychain.grants(of: accessible, among: read)) } catch {
        warn(accessible, error)
        loaded[accessible] = .changed(read[accessible]?.records ?? [], because: error)
        sets[accessible] = nil
      }
    }
    book.load(loaded, sets)
  }

  /// Logs that the grants of a class do not count.
  func warn(_ accessible: AccessClass, _ error: VaultError) {
    let problem = Clauses.joined(error.reason, error.adviceOnGrants)
    vault.log.error("no grant for items of class \(accessible.name) counts: \(problem)")
  }

  /// Notes which grants a rekey carries over, right before the vault gets other keys.
  func willChangeKeys() {
    guard let keychain = vault.openKeychain else { return }
    carried = agreeing(keychain)
  }

  /// Ends what ``willChangeKeys()`` began.
  func haveChangedKeys() { carried = [] }

  /// Forgets all grants, the times of their uses, and all requests with their results, because the vault has another
  /// store now.
  func reset() {
    book.forgetAll()
    uses = [:]
    requests.reset()
  }

  private func storePending(_ keychain: Keychain) {
    guard !book.revoked.isEmpty, AccessClass.allCases.allSatisfy(keychain.opensGrants) else { return }
    do throws(VaultError) {
      try keychain.changeGrants(removing: book.revoked, adding: [], now: vault.clock.wall())
      book.haveStored(book.revoked)
    } catch { vault.log.error("grants that were revoked are still in the store: \(error.text)") }
  }

  /// Stores the times at which grants were used, which are known to within a day.
  ///
  /// - Parameter most: the most grants whose times are stored.
  /// - Returns: true if the times of other grants are left.
  @discardableResult func storeUses(atMost most: Int = .max) -> Bool {
    guard !uses.isEmpty, let keychain = vault.openKeychain, AccessClass.allCases.allSatisfy(keychain.opensGrants) else {
      return false
    }
    let stored = Set(uses.keys.prefix(most))
    do throws(VaultError) {
      let known = Dictionary(
        book.all.lazy.filter { stored.contains($0.id) }.map { ($0.id, $0.grant) },
        uniquingKeysWith: { first, _ in first })
      var records: [GrantRecord] = []
      for var record in try keychain.grants(with: stored, of: .whenUnlocked) {
        // A record that differs from the grant in memory is skipped: the reading of all records reports what is wrong
        // with it.
        guard var grant = record.grant, let own = known[record.id], own.isSame(as: grant) else { continue }
        grant.used = uses[record.id]
        record.content = .grant(grant)
        records.append(record)
      }
      let agreeing = agreeing(keychain)
      try keychain.changeGrants(removing: Set(records.map(\.id)), adding: records, now: vault.clock.wall())
      book.use(records)
      book.agree(sets(of: agreeing, keychain))
      for id in stored { uses[id] = nil }
      return !uses.isEmpty
    } catch {
      vault.log.warning("the times at which grants were used could not be stored: \(error.text)")
      return false
    }
  }

  // MARK: Parts

  /// Changes the records in the store together with the entry of the call and, after that has succeeded, the grants in
  /// memory.
  func change(
    _ keychain: Keychain, _ entry: Audit.Entry, removing gone: Set<ItemID>, adding new: [GrantRecord] = [],
    _ apply: (inout GrantBook) -> Void
  ) throws(Refusal) {
    let agreeing = agreeing(keychain)
    do throws(VaultError) {
      try vault.audit.taking(
        effect: { () throws(VaultError) in
          _ = try keychain.changeGrants(removing: gone, adding: new, now: vault.clock.wall())
        }, with: entry)
    } catch { throw refusal(error) }
    apply(&book)
    book.agree(sets(of: agreeing, keychain))
  }

  /// The classes for which the grants in memory are exactly those in the store.
  private func agreeing(_ keychain: Keychain) -> [AccessClass] {
    let known = book.sets
    return AccessClass.allCases.filter { known[$0] != nil && known[$0] == (try? keychain.grantSet(of: $0)) }
  }

  private func sets(of classes: [AccessClass], _ keychain: Keychain) -> [AccessClass: RecordSet] {
    var sets: [AccessClass: RecordSet] = [:]
    for accessible in classes { sets[accessible] = try? keychain.grantSet(of: accessible) }
    return sets
  }

  /// The store, for a change by an administrator. In a user's vault the administrator must have shown presence just
  /// now.
  func administer(_ caller: Caller) throws(Refusal) -> Keychain {
    try checkAdministrator(caller)
    let keychain = try vault.keychain()
    guard terms.isSystem || isShown(Self.administration, by: caller) else {
      throw .presenceRequired("", Self.administration.require)
    }
    return keychain
  }

  /// The presence that an administrator of a user's vault must show to change grants or denials, or to repair the
  /// vault. Otherwise every program of the user could do so.
  static let administration = Policy(require: .userPresence, reuseWindow: 60)

  private static let noProgram = Refusal.invalidGrant(
    "in the machine's vault a grant cannot name a program; name user: or unit:")

  /// Returns the refusal of a subject that cannot be read. In the machine's vault, the advice to name a user beside a
  /// program would lead to the next refusal.
  package func refusal(ofSubject text: String, _ error: ValueError) -> Refusal {
    let namesProgram = text.split(separator: ",").contains { $0.hasPrefix("exe:") || $0.hasPrefix("sha256:") }
    return terms.isSystem && namesProgram ? Self.noProgram : .invalidGrant(error.reason)
  }

  private func check(_ subject: Subject, _ rights: Rights, for caller: Caller) throws(Refusal) {
    if terms.isSystem {
      guard !subject.namesProgram else { throw Self.noProgram }
      return
    }
    guard subject.isConfining else { return }
    guard !rights.contains(.admin) else {
      throw .invalidGrant("a program that is confined to its grants cannot have the right admin")
    }
    let namesClient = subject.parts.contains { part in
      if case .executable(let path) = part { ["/vault", "/vaultd"].contains { path.hasSuffix($0) } } else { false }
    }
    if namesClient || CallerParts(caller, isSystem: false).mayBeAll(of: subject) {
      throw .invalidGrant("\(subject) is the program you are using; the grant would confine it")
    }
  }

  func groups(of subject: Subject) -> [UInt32] {
    for case .user(let uid) in subject.parts { return vault.groups(uid) }
    return []
  }

  /// The refusal if nothing is known of a subject. If the grants of some class are not the ones stored last, the
  /// refusal says so, because the subject may be in that class.
  private func noSuchGrant(_ subject: Subject) -> Refusal {
    book.problem.map(Refusal.init(grants:)) ?? .noSuchGrant(subject.description)
  }

  func refusal(_ error: VaultError) -> Refusal {
    switch error {
    case .locked: vault.locked
    case .invalidValue(let reason): .invalidGrant(reason)
    case .noVault, .vaultExists, .inUse, .noSuchItem, .noSuchVersion, .alreadyExists, .expired, .notAllowed, .neverRead,
      .corrupt, .distrusted, .secondStore, .newer, .storage, .permissions, .needsAnotherItem, .tooLarge, .lastSlot,
      .noSuchSlot, .overtaken, .backingUp, .rekeying:
      Refusal(error)
    }
  }
}
