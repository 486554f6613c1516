internal import VaultCore
package import VaultModel
internal import VaultStore

/// A place in a search, from which it continues.
package struct SearchPlace: Hashable, Sendable {
  /// The key of the area that it is in.
  package var area: UInt64
  /// The row of the last item that was looked at there.
  package var row: Int64

  package init(area: UInt64, row: Int64) { (self.area, self.row) = (area, row) }
}

/// The items of the vault, for whoever asks for them at whichever door: the only code between a door and the store.
///
/// Each call is decided by ``Access`` for its caller.
package final class Items {
  let vault: Vault
  let access: Access
  /// The work with large RSA keys.
  let rsa: RSAWorks
  /// For the value that is being stored; empty between two calls.
  let valueInHand = Scratch()
  /// How often callers who may not know what came of it have left something at once, and its bytes, since that time,
  /// `CLOCK_BOOTTIME` nanoseconds.
  var depositsAtOnce: [String: (count: Int, bytes: Int)] = [:]
  var depositsSince: Int64 = .min / 2
  /// The newest `iat` of a token that the store could not be told of, Unix seconds.
  var issuedUnnoted: Int64 = .min
  let known: KnownValues

  package init(_ vault: Vault, _ access: Access, _ rsa: any RSAProgram) {
    self.vault = vault
    self.access = access
    self.rsa = RSAWorks(vault, rsa)
    known = KnownValues(vault)
  }

  // MARK: Reading

  /// Lends one value to `answer`: the current one, or that of `version`. The bytes must not leave it.
  ///
  /// - Parameters:
  ///   - evenExpired: also lends the value of an item past its expiry.
  ///   - longest: lends none of an item of which a version has more bytes; the caller may wait for ``Wait/room``.
  ///   - credential: the credential of a unit that it is.
  /// - Returns: nil when it was lent; otherwise what the caller may wait for.
  /// - Throws: why there is none.
  package func get(
    _ name: ItemName, version: Int? = nil, evenExpired: Bool = false, upTo longest: Int = .max,
    as credential: UnitCredential? = nil, for caller: Caller, _ said: Said = Said(),
    _ answer: (ItemInfo, Int, RawSpan) -> Void
  ) throws(Refusal) -> Wait? {
    let now = vault.clock.wall()
    var approval: Int?
    var id: ItemID?
    do throws(Refusal) {
      if vault.audit.isRequired {
        // Read once for nobody, so that what is on the disk before the answer is what comes of it.
        let wait = try read(name, version, evenExpired, longest, credential, caller, said, now, &approval, &id) {
          _, _, _ in
        }
        if let wait { return wait }
        record(name, id, version, approval, credential, caller, now, said)
        try vault.audit.settle()
      }
      let wait = try read(name, version, evenExpired, longest, credential, caller, said, now, &approval, &id, answer)
      guard wait == nil else { return wait }
      if let approval { access.requests.use(approval) }
      if !vault.audit.isRequired { record(name, id, version, approval, credential, caller, now, said) }
      return nil
    } catch {
      let detail = Self.detail(nil, credential)
      vault.audit.record(
        .get, error.outcome, caller, at: now, item: name.text, id: id, detail: detail, version: version, said)
      try vault.audit.settle()
      throw error
    }
  }

  private func record(
    _ name: ItemName, _ id: ItemID?, _ version: Int?, _ approval: Int?, _ credential: UnitCredential?,
    _ caller: Caller, _ now: Int64, _ said: Said
  ) {
    let detail = Self.detail(approval, credential)
    vault.audit.record(.get, .ok, caller, at: now, item: name.text, id: id, detail: detail, version: version, said)
  }

  private static func detail(_ approval: Int?, _ credential: UnitCredential?) -> String? {
    approval.map { "by approval \($0)" } ?? credential.map { "as credential \($0.id)" }
  }

  /// Takes note that a call waited for the vault, or for an administrator, and was refused at the end of its time.
  package func gaveUp(_ action: AuditAction, _ name: ItemName, _ refusal: Refusal, for caller: Caller, _ said: Said) {
    vault.audit.record(action, refusal.outcome, caller, item: name.text, said)
  }

  private func read(
    _ name: ItemName, _ version: Int?, _ evenExpired: Bool, _ longest: Int, _ credential: UnitCredential?,
    _ caller: Caller, _ said: Said, _ now: Int64, _ approval: inout Int?, _ id: inout ItemID?,
    _ answer: (ItemInfo, Int, RawSpan) -> Void
  ) throws(Refusal) -> Wait? {
    let keychain = try vault.keychain()
    if let version, version < 1 { throw .invalid("version") }
    var permit = access.permit(caller, on: name)
    if !permit.mayHave(.get) {
      guard let approved = access.approval(.get, name, for: caller) else {
        return try waitOrAsk(.get, name, permit, caller, said)
      }
      (permit, approval) = approved
    }
    var requirement = Requirement.none
    var isLong = false
    var isTooLong = false
    var policy: Policy?
    do throws(VaultError) {
      try keychain.withValue(of: name, version: version, now: now, evenExpired: evenExpired) { item in
        (requirement, policy, id) = (item.policy.require, item.policy, item.id)
        let decision = access.decide(.get, permit, item.policy, for: caller)
        isLong = decision == .allow && item.versions.contains { $0.size > longest }
        if let credential { isTooLong = decision == .allow && item.current.size > credential.most }
        return isLong || isTooLong ? .refuse : decision
      } _: { item, number, value in
        answer(item, number, value)
      }
      return nil
    } catch .locked {
      return vault.store.isAwaitingBootKey ? .bootKey : .unlock
    } catch .notAllowed(let decision) {
      if isLong { return .room }
      if isTooLong, let credential { throw .tooLarge(limit: credential.most) }
      throw decision == .ask ? .presenceRequired(name.text, requirement) : refused(.get, permit, name, policy)
    } catch {
      throw refusal(error, name, &id)
    }
  }

  /// Tells of the item of that name, once it was read, whether a caller may know what it is beside its value. It is decided
  /// from memory, before the store is asked.
  package func mayFind(_ name: ItemName, _ caller: Caller) -> (ItemInfo) -> Bool {
    let permit = access.permit(caller, on: name)
    return { [access] in access.decide(.find, permit, $0.policy, for: caller) == .allow }
  }

  /// Everything about one item but its value.
  package func item(_ name: ItemName, for caller: Caller) throws(Refusal) -> ItemInfo {
    try vault.audit.recording(.find, caller, name) { id throws(Refusal) in
      let permit = try permit(.find, on: name, for: caller)
      let item = try item(name)
      id = item.id
      try check(.find, permit, item.name, item.policy, for: caller)
      return item
    }
  }

  /// Takes note of a search that begins, or goes on with its next page, by what it asks for.
  package func begin(search text: String, isContinued: Bool = false, for caller: Caller) throws(Refusal) {
    let detail = isContinued ? "\(text), continued" : text
    try vault.audit.recording(.find, caller, nil, detail: detail) { () throws(Refusal) in }
  }

  /// The areas in which a caller may find something now, or what is in the trash, by their keys: a place in a search
  /// means nothing to whoever has others.
  package func reach(ofTrash isOfTrash: Bool, for caller: Caller) throws(Refusal) -> [UInt64] {
    try areas(isOfTrash ? .admin : .find, caller).map(\.key)
  }

  /// An item that a person wants to show its presence for: one whose value the caller may have, or have used, when that is done.
  package func itemToProve(_ name: ItemName, for caller: Caller) throws(Refusal) -> ItemInfo {
    let permit = access.permit(caller, on: name)
    guard permit.mayHave(.use) || permit.mayHave(.find) else { throw permit.isUndecided ? vault.locked : denied }
    let item = try item(name)
    let rights = permit[item.policy.accessible]
    guard rights.contains(.use) || rights.contains(.find) else { throw denied }
    return item
  }

  /// One page of the items that match a query: see ``VaultStore/Keychain/find(_:limit:after:now:examining:isTimeUp:)``.
  ///
  /// It looks where the caller has grants, and nowhere else: it costs what is there, and its time tells nothing of other items. What is
  /// in the trash is for administrators.
  ///
  /// - Parameter end: when the page ends in any case, `CLOCK_MONOTONIC` nanoseconds.
  /// - Throws: also when the caller's grants are for other areas than those that the search began with.
  package func find(
    _ query: Query, limit: Int, after: SearchPlace?, until end: Int64, for caller: Caller
  ) throws(Refusal) -> (items: [ItemInfo], next: SearchPlace?) {
    let keychain = try vault.keychain()
    let clock = vault.clock
    let right = query.isOfTrash ? Right.admin : .find
    let areas = try areas(right, caller)
    // The area may be gone: the grant that led there was revoked, or is over. The search goes on behind it.
    var index = after.map { after in areas.firstIndex { $0.key >= after.area } ?? areas.count } ?? 0
    let within = query.area
    var row = index < areas.count && areas[index].key == after?.area ? after?.row : nil
    var items: [ItemInfo] = []
    while index < areas.count {
      let area = areas[index]
      guard let narrowed = area == .everything ? area : area.intersection(within) else {
        (index, row) = (index + 1, nil)
        continue
      }
      let (found, next): ([ItemInfo], Int64?)
      do throws(VaultError) {
        (found, next) = try keychain.find(
          query, in: narrowed, limit: limit - items.count, after: row, now: clock.wall(), examining: .max
        ) { item in
          area.contains(.name(item.name)) ? access.decide(right, item.name, item.policy, for: caller) : .refuse
        } isTimeUp: {
          clock.monotonic() >= end
        }
      } catch {
        throw vault.refusal(error, "")
      }
      items += found
      if let next { return (items, SearchPlace(area: area.key, row: next)) }
      (index, row) = (index + 1, nil)
      if items.count >= limit || clock.monotonic() >= end { break }
    }
    return (items, index < areas.count ? SearchPlace(area: areas[index].key, row: 0) : nil)
  }

  /// Where a caller may have a right, in areas that have nothing in common.
  ///
  /// - Throws: the refusal of who may have it somewhere, as far as can be told now.
  func areas(_ right: Right, _ caller: Caller) throws(Refusal) -> [SearchArea] {
    let (areas, isUndecided) = access.areas(right, caller)
    if areas.isEmpty, isUndecided { throw vault.locked }
    return areas
  }

  /// True when a caller may be told that something happens to the item of this name.
  package func mayWatch(_ name: ItemName, _ caller: Caller) -> Bool {
    access.permit(caller, on: name).mayHave(.watch)
  }

  /// Takes note that a caller watches from now on what happens.
  ///
  /// - Throws: the refusal of who may watch nothing, and where that cannot be told before the vault is unlocked.
  package func watch(for caller: Caller) throws(Refusal) {
    try vault.audit.recording(.find, caller, nil, detail: "what happens") { () throws(Refusal) in
      guard let mayWatch = mayWatchAnything(caller) else { throw vault.locked }
      if !mayWatch { throw .denied("you may watch nothing here") }
    }
  }

  /// True when a caller may be told of anything that happens; nil where that cannot be told before the vault is unlocked.
  package func mayWatchAnything(_ caller: Caller) -> Bool? { access.mayWatchAnything(caller) }

  // MARK: Renaming

  /// Renames one item; its versions and attributes stay.
  ///
  /// - Parameter long: what was prepared for it; see ``prepare(_:_:for:)``.
  package func move(
    _ name: ItemName, to new: ItemName, _ long: LongChange? = nil, for caller: Caller
  ) throws(Refusal) {
    try vault.audit.recording(
      Audit.Deed(action: .move, item: name, detail: Self.detail(ofMoveTo: new)),
      Audit.Deed(action: .move, item: new, detail: "from \(name.text)"), caller
    ) { course throws(Refusal) in try rename(name, to: new, long, for: caller, &course) }
  }

  package static func detail(ofMoveTo new: ItemName) -> String { "to \(new.text)" }

  private func rename(
    _ name: ItemName, to new: ItemName, _ long: LongChange?, for caller: Caller, _ course: inout Audit.Course
  ) throws(Refusal) {
    course.side = .source
    let keychain = try vault.keychain()
    try checkMove(name, to: new, for: caller, &course)
    do throws(VaultError) {
      let id = try keychain.move(from: name, to: new, now: vault.clock.wall(), ahead: long?.ahead)
      (course.source, course.target) = (id, id)
    } catch {
      guard error == .alreadyExists else {
        course.side = .source
        throw refusal(error, name, &course.source)
      }
      course.side = .target
      throw refusal(error, new, &course.target)
    }
    vault.hooks.announce(.item(name, .moved, to: new))
  }

  func checkMove(
    _ name: ItemName, to new: ItemName, for caller: Caller, _ course: inout Audit.Course
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

  /// What a caller may do to the item of that name, before anything is looked up, so that nobody who may do nothing learns whether
  /// there is one.
  ///
  /// - Throws: the refusal of who cannot have that right, whatever the item is.
  func permit(_ right: Right, on name: ItemName, for caller: Caller) throws(Refusal) -> Permit {
    let permit = access.permit(caller, on: name)
    guard permit.mayHave(right) else { throw permit.isUndecided ? vault.locked : denied }
    return permit
  }

  /// Decides about an item that was looked up already.
  func check(
    _ right: Right, _ permit: Permit, _ name: ItemName, _ policy: Policy?, for caller: Caller
  ) throws(Refusal) {
    switch access.decide(right, permit, policy, for: caller) {
    case .allow, .allowWithin: return
    case .ask: throw .presenceRequired(name.text, policy?.require ?? .none)
    case .refuse: throw permit.isUndecided ? vault.locked : refused(right, permit, name, policy)
    }
  }

  /// The refusal of who lacks a right to an item; whoever would have it, were it not withheld from all, is told that it is.
  func refused(_ right: Right, _ permit: Permit, _ name: ItemName, _ policy: Policy?) -> Refusal {
    guard let policy, policy.withholds(right), permit.has(right, policy.accessible) else { return denied }
    return .neverRead(name.text)
  }

  /// Decides about a change of what an item asks for, which needs more than the right: whoever makes it has to have shown what the item
  /// asks for as it is.
  func checkPolicyChange(
    _ permit: Permit, _ name: ItemName, _ policy: Policy, for caller: Caller
  ) throws(Refusal) {
    try check(.admin, permit, name, policy, for: caller)
    if !access.isShown(policy, by: caller) { throw .presenceRequired(name.text, policy.require) }
  }

  /// The answer to a call for a value of who has no right to it, as far as can be told now: an administrator may be asked.
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

  /// The refusal of a call about an item whose caller may do what it asked for, as far as rights decide.
  ///
  /// - Parameter id: the item of that name, for the entry of the call: looked for where the store has refused the call
  ///   before it said which item that is.
  func refusal(_ error: VaultError, _ name: ItemName, kind: ItemKind? = nil, _ id: inout ItemID?) -> Refusal {
    let refusal = vault.refusal(error, name.text, kind: kind)
    if id == nil, refusal.outcome.tellsItem, error != .noSuchItem { id = identity(of: name) }
    return refusal
  }

  /// The item that has a name now; nil where there is none, or it cannot be read.
  func identity(of name: ItemName) -> ItemID? { (try? vault.openKeychain?.item(named: name))?.id }

  /// The caller as what it stores is recorded to be its.
  func author(_ caller: Caller) -> String { caller.author(isSystem: access.terms.isSystem) }

  var denied: Refusal { .denied("you may not do this") }

  func item(_ name: ItemName) throws(Refusal) -> ItemInfo {
    let keychain = try vault.keychain()
    do throws(VaultError) { return try keychain.item(named: name) } catch { throw vault.refusal(error, name.text) }
  }
}
