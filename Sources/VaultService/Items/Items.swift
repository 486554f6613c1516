internal import VaultCore
package import VaultModel
internal import VaultStore

/// A place in a search, from which it continues.
package struct SearchPlace: Hashable, Sendable {
  /// The key of the area in which the search is.
  package var area: UInt64
  /// The row of the last item in that area that was examined.
  package var row: Int64

  package init(area: UInt64, row: Int64) { (self.area, self.row) = (area, row) }
}

/// The items of the vault, for the callers at every door.
///
/// Each call is decided by ``Access`` for its caller.
package final class Items {
  let vault: Vault
  let access: Access
  /// The work with large RSA keys.
  let rsa: RSAWorks
  /// The value that is being stored; empty between two calls.
  let valueInHand = Scratch()
  /// The number and bytes of deposits that were taken in at once for callers who may not know the results, by author.
  var depositsAtOnce: [String: (count: Int, bytes: Int)] = [:]
  /// The time since which these deposits are counted, in `CLOCK_BOOTTIME` nanoseconds.
  var depositsSince: Int64 = .min / 2
  /// The newest `iat` of a token that could not be stored, in Unix seconds.
  var issuedUnnoted: Int64 = .min
  let known: KnownValues

  package init(_ vault: Vault, _ access: Access, _ rsa: any RSAProgram) {
    self.vault = vault
    self.access = access
    self.rsa = RSAWorks(vault, rsa)
    known = KnownValues(vault)
  }

  // MARK: Reading

  /// Returns a closure that decides whether a caller may know everything about the item of this name except its value.
  /// The closure gets the item after it was read. The permit is determined from memory, before the store is asked.
  package func mayFind(_ name: ItemName, _ caller: Caller) -> (ItemInfo) -> Bool {
    let permit = access.permit(caller, on: name)
    return { [access] in access.decide(.find, permit, $0.policy, for: caller) == .allow }
  }

  /// Everything about one item except its value.
  ///
  /// - Parameter action: the action for which the item is looked up, and under which a refusal is recorded.
  package func item(
    _ name: ItemName, for caller: Caller, to action: AuditAction = .find
  ) throws(Refusal) -> ItemInfo {
    var id: ItemID?
    return try vault.audit.recording { () throws(Refusal) in
      let permit = try permit(.find, on: name, for: caller)
      let item = try item(name)
      id = item.id
      try check(.find, permit, item.name, item.policy, for: caller)
      return item
    } end: { refusal in
      vault.audit.record(refusal == nil ? .find : action, refusal.outcome, caller, item: name.text, id: id)
    }
  }

  /// Records a search that begins, or continues with its next page, with the words of its query.
  package func begin(search text: String, isContinued: Bool = false, for caller: Caller) throws(Refusal) {
    let detail = isContinued ? "\(text), continued" : text
    try vault.audit.recording(.find, caller, nil, detail: detail) { () throws(Refusal) in }
  }

  /// The keys of the areas in which the caller may find items now, or items in the trash. A place in a search is valid
  /// only for a caller with the same areas.
  package func reach(ofTrash isOfTrash: Bool, for caller: Caller) throws(Refusal) -> [UInt64] {
    try areas(isOfTrash ? .admin : .find, caller).map(\.key)
  }

  /// The item for which a person wants to show presence. The caller must have the right to use the item or to find it.
  package func itemToProve(_ name: ItemName, for caller: Caller) throws(Refusal) -> ItemInfo {
    let permit = access.permit(caller, on: name)
    guard permit.mayHave(.use) || permit.mayHave(.find) else { throw permit.isUndecided ? vault.locked : denied }
    let item = try item(name)
    let rights = permit[item.policy.accessible]
    guard rights.contains(.use) || rights.contains(.find) else { throw denied }
    return item
  }

  /// True if a check of the store has failed, so that a search may lack items. Callers without any right learn nothing
  /// of that.
  package func mayBeMissing(for caller: Caller) -> Bool {
    vault.openKeychain?.hasFailed == true && access.hasAny(caller)
  }

  /// One page of the items that match a query; see
  /// ``VaultStore/Keychain/find(_:in:limit:after:now:examining:if:isPassedOver:isTimeUp:)``.
  ///
  /// Only the areas for which the caller has grants are searched. So the time of a search depends only on the items in
  /// these areas, and tells nothing of other items. An item in the trash is found only by a caller with the right
  /// `admin` on it.
  ///
  /// - Parameter end: the time at which the page ends in any case, in `CLOCK_MONOTONIC` nanoseconds.
  /// - Throws: the refusal, also while nobody can determine whether the caller may find anything.
  package func find(
    _ query: Query, limit: Int, after: SearchPlace?, until end: Int64, for caller: Caller
  ) throws(Refusal) -> (items: [ItemInfo], next: SearchPlace?) {
    let keychain = try vault.keychain()
    let clock = vault.clock
    let right = query.isOfTrash ? Right.admin : .find
    let areas = try areas(right, caller)
    // The area of the place may be gone, because the grant for it was revoked or has ended. The search continues with
    // the areas after it.
    var index = after.map { after in areas.firstIndex { $0.key >= after.area } ?? areas.count } ?? 0
    let within = query.area
    var row = index < areas.count && areas[index].key == after?.area ? after?.row : nil
    var items: [ItemInfo] = []
    // All areas share the room of one page.
    var room = Keychain.pageBytes
    while index < areas.count {
      let area = areas[index]
      guard let narrowed = area == .everything ? area : area.intersection(within) else {
        (index, row) = (index + 1, nil)
        continue
      }
      let (found, next): ([ItemInfo], Int64?)
      do throws(VaultError) {
        (found, next) = try keychain.find(
          query, in: narrowed, limit: limit - items.count, after: row, now: clock.wall(), examining: .max,
          bytes: room
        ) { item in
          area.contains(.name(item.name)) ? access.decide(right, item.name, item.policy, for: caller) : .refuse
        } isTimeUp: {
          clock.monotonic() >= end
        }
      } catch {
        throw vault.refusal(error, "")
      }
      items += found
      room -= found.reduce(0) { $0 + Keychain.pageBytes(of: $1) }
      if let next { return (items, SearchPlace(area: area.key, row: next)) }
      (index, row) = (index + 1, nil)
      if items.count >= limit || room < 0 || clock.monotonic() >= end { break }
    }
    return (items, index < areas.count ? SearchPlace(area: areas[index].key, row: 0) : nil)
  }

  /// The areas, disjoint from each other, in which a caller may have a right.
  ///
  /// - Throws: the refusal if the caller has the right in no known area, but may have it by grants that cannot be read
  ///   now.
  func areas(_ right: Right, _ caller: Caller) throws(Refusal) -> [SearchArea] {
    let (areas, isUndecided) = access.areas(right, caller)
    if areas.isEmpty, isUndecided { throw vault.locked }
    return areas
  }

  /// True when a caller may be told of events of the item of this name.
  package func mayWatch(_ name: ItemName, _ caller: Caller) -> Bool {
    access.permit(caller, on: name).mayHave(.watch)
  }

  /// Records that a caller watches events from now on.
  ///
  /// - Throws: the refusal for a caller who may watch nothing, and if that cannot be determined before the vault is
  ///   unlocked.
  package func watch(for caller: Caller) throws(Refusal) {
    try vault.audit.recording(.find, caller, nil, detail: "watching events") { () throws(Refusal) in
      guard let mayWatch = mayWatchAnything(caller) else { throw vault.locked }
      if !mayWatch { throw .denied("you have no right to watch any item") }
    }
  }

  /// True when a caller may be told of any event; nil if that cannot be determined before the vault is unlocked.
  package func mayWatchAnything(_ caller: Caller) -> Bool? { access.mayWatchAnything(caller) }

  // MARK: Renaming

  /// Renames one item; its versions and attributes stay. The list of the revoked tokens of an item goes along.
  ///
  /// - Parameter long: the work prepared for this call; see ``prepare(_:_:for:fill:)``.
  package func move(
    _ name: ItemName, to new: ItemName, _ long: LongChange? = nil, for caller: Caller
  ) throws(Refusal) {
    try vault.audit.recording(
      Audit.Deed(action: .move, item: name, detail: Self.detail(ofMoveTo: new)),
      Audit.Deed(action: .move, item: new, detail: "from \(name.text)"), caller
    ) { entry, course throws(Refusal) in try rename(name, to: new, long, for: caller, entry, course) }
  }

  package static func detail(ofMoveTo new: ItemName) -> String { "to \(new.text)" }

  private func rename(
    _ name: ItemName, to new: ItemName, _ long: LongChange?, for caller: Caller, _ entry: Audit.Entry,
    _ course: Audit.Course
  ) throws(Refusal) {
    course.side = .source
    let keychain = try vault.keychain()
    try checkMove(name, to: new, for: caller, course)
    course.side = .source
    try checkList(new, .version(nil), of: name, for: caller, &course.source)
    let list = try listToMove(of: name, to: new, for: caller, course)
    if let list {
      let (from, to) = (Self.detail(ofMoveTo: list.to), "from \(list.from.text)")
      course.others = [
        (Audit.Deed(action: .move, item: list.from, detail: from), list.id),
        (Audit.Deed(action: .move, item: list.to, detail: to), list.id),
      ]
    }
    let now = vault.clock.wall()
    do throws(VaultError) {
      try vault.audit.taking(
        effect: { () throws(VaultError) in
          try keychain.transaction { () throws(VaultError) in
            let id = try keychain.move(from: name, to: new, now: now, ahead: long?.ahead)
            if let list { try keychain.move(from: list.from, to: list.to, now: now) }
            (course.source, course.target) = (id, id)
          }
        }, with: entry)
    } catch {
      guard error == .alreadyExists else {
        course.side = .source
        throw refusal(error, name, &course.source)
      }
      course.side = .target
      throw refusal(error, new, &course.target)
    }
    access.endApprovals(of: name)
    vault.hooks.announce(.item(name, .moved, to: new))
    guard let list else { return }
    access.endApprovals(of: list.from)
    vault.hooks.announce(.item(list.from, .moved, to: list.to))
  }

  /// The list of the revoked tokens of an item that is about to be renamed, with its new name; nil if there is none.
  /// Without its list, the item would accept these tokens again.
  ///
  /// - Throws: the refusal if the list cannot go along.
  private func listToMove(
    of name: ItemName, to new: ItemName, for caller: Caller, _ course: Audit.Course
  ) throws(Refusal) -> (from: ItemName, to: ItemName, id: ItemID)? {
    guard (try? item(name))?.use == .jwt else { return nil }
    guard let from = try? Self.revocationList(of: name), let id = identity(of: from) else {
      try checkList(beside: new, for: caller)
      return nil
    }
    course.side = .target
    let to = try Self.revocationList(of: new)
    course.side = .source
    do throws(Refusal) { try checkMove(from, to: to, for: caller, Audit.Course()) } catch .denied {
      throw .denied("its list of revoked tokens moves with it, and you may not move that list")
    }
    if identity(of: to) != nil { throw .alreadyExists(to.text) }
    return (from, to, id)
  }

  func checkMove(
    _ name: ItemName, to new: ItemName, for caller: Caller, _ course: Audit.Course
  ) throws(Refusal) {
    course.side = .source
    let permit = try permit(.admin, on: name, for: caller)
    course.side = .target
    let target = try self.permit(.admin, on: new, for: caller)
    if !permit.isAdministrator {
      course.side = .source
      let item = try item(name)
      course.source = item.id
      try check(.admin, permit, name, item.policy, for: caller)
      course.side = .target
      try check(.admin, target, new, item.policy, for: caller)
    }
  }

  // MARK: Parts

  /// The rights of a caller on the item of that name. They are determined before anything is looked up, so that a
  /// caller without any right does not learn whether the item exists.
  ///
  /// - Throws: the refusal for a caller who cannot have that right on any item of that name.
  func permit(_ right: Right, on name: ItemName, for caller: Caller) throws(Refusal) -> Permit {
    let permit = access.permit(caller, on: name)
    guard permit.mayHave(right) else { throw permit.isUndecided ? vault.locked : denied }
    return permit
  }

  /// Checks that a caller has a right on an item that was looked up already.
  func check(
    _ right: Right, _ permit: Permit, _ name: ItemName, _ policy: Policy?, for caller: Caller
  ) throws(Refusal) {
    switch access.decide(right, permit, policy, for: caller) {
    case .allow, .allowWithin: return
    case .ask: throw .presenceRequired(name.text, policy?.require ?? .none)
    case .refuse: throw permit.isUndecided ? vault.locked : refused(right, permit, name, policy)
    }
  }

  /// The refusal for a caller who lacks a right on an item. A caller who would have the right, if it were not withheld
  /// from all, is told that it is withheld.
  func refused(_ right: Right, _ permit: Permit, _ name: ItemName, _ policy: Policy?) -> Refusal {
    guard let policy, policy.withholds(right), permit.has(right, policy.accessible) else { return denied }
    return .neverRead(name.text)
  }

  /// Checks that a caller may change the policy of an item. Such a change needs more than the right: the caller must
  /// have shown the presence that the present policy requires.
  func checkPolicyChange(
    _ permit: Permit, _ name: ItemName, _ policy: Policy, for caller: Caller
  ) throws(Refusal) {
    try check(.admin, permit, name, policy, for: caller)
    if !access.isShown(policy, by: caller) { throw .presenceRequired(name.text, policy.require) }
  }

  /// The answer to a call for a value by a caller who has no right to it, as far as can be determined now. An
  /// administrator may be asked for approval.
  func waitOrAsk(
    _ right: Right, _ name: ItemName, _ permit: Permit, _ caller: Caller, _ said: Said
  ) throws(Refusal) -> Wait {
    guard permit.isUndecided else {
      guard let number = try access.ask(right, name, for: caller, said) else {
        throw access.denial(of: name, for: caller, said) ?? denied
      }
      return .approval(number)
    }
    return vault.store.isAwaitingBootKey ? .bootKey : .unlock
  }

  /// The refusal of a call by a caller who has the rights for it, after an error of the store.
  ///
  /// - Parameter id: the item of that name, for the entry of the call. It is looked up if the store has refused the
  ///   call before it said which item that is.
  func refusal(_ error: VaultError, _ name: ItemName, kind: ItemKind? = nil, _ id: inout ItemID?) -> Refusal {
    let refusal = vault.refusal(error, name.text, kind: kind)
    if id == nil, refusal.outcome.tellsItem, error != .noSuchItem { id = identity(of: name) }
    return refusal
  }

  /// The item that has a name now; nil if there is none, or if it cannot be read.
  func identity(of name: ItemName) -> ItemID? { (try? vault.openKeychain?.item(named: name))?.id }

  /// The caller, as recorded with what it stores.
  func author(_ caller: Caller) -> String { caller.author(isSystem: access.terms.isSystem) }

  var denied: Refusal { .denied("you may not do this") }

  func item(_ name: ItemName) throws(Refusal) -> ItemInfo {
    let keychain = try vault.keychain()
    do throws(VaultError) { return try keychain.item(named: name) } catch { throw vault.refusal(error, name.text) }
  }
}
