internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// Grant, Revoke, Grants, Can, Rights, WhoMay, ConfirmGrants, ForgetSubject and RepairClock.
extension VarlinkDoor {
  /// The number of grants in one reply.
  private static let grantsAtATime = 32
  /// The most sources of rights that a reply names.
  private static let mostSources = 32

  func grant(_ call: Wire.GrantParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let subject = try subject(call.subject, for: connection.caller)
      if access.awaitsDigest(of: connection.caller, toBe: subject) { return connection.comeAgainWithDigest() }
      let credential = try call.credential.map { (text) throws(Refusal) in try Self.credential(text) }
      let replaced = try access.give(
        subject, try Self.pattern(call.items), try Self.rights(call.rights), as: credential, until: call.until,
        for: connection.caller)
      let names = AccountNames()
      connection.reply(
        Wire.GrantReply(
          replaced: replaced.map { Wire.Permission($0, isActive: false, names) },
          confined: access.isConfined(subject, for: connection.caller)))
    }
  }

  func revoke(_ call: Wire.RevokeParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let pattern = try call.items.map { (text) throws(Refusal) in try Self.pattern(text) }
      let (revoked, unstored) = try access.revoke(
        try subject(call.subject, for: connection.caller), pattern, for: connection.caller)
      let names = AccountNames()
      connection.reply(
        Wire.RevokeReply(revoked: revoked.map { Wire.Permission($0, isActive: false, names) }, unstored: unstored))
    }
  }

  func grants(_ call: Wire.GrantsParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answerFromVault(connection) { () throws(Refusal) in
      var filter = Access.GrantFilter()
      if let subject = call.subject { filter.subject = try self.subject(subject, for: connection.caller) }
      if let name = call.name { filter.name = try Self.itemName(name) }
      filter.unused = call.unused.map(Int64.init)
      // A watcher keeps using its grant even while nothing happens, so uses are brought up to date here. That is done
      // only for administrators, because it costs more the more clients watch.
      if access.isAdministrator(connection.caller) { events.reconsider() }
      tell(try access.grants(filter, for: connection.caller), connection)
    }
  }

  /// Sends the next grants, lets other clients have their turn, and continues as the client reads.
  private func tell(_ reading: GrantReading, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      let (names, end) = (AccountNames(), vault.clock.monotonic() + Turns.search)
      var isOver = false
      repeat {
        let page: [Access.ToldGrant]
        (page, isOver) = try reading.next(Self.grantsAtATime)
        guard !page.isEmpty else { continue }
        let told = page.map { Wire.Permission($0.grant, isActive: $0.isActive, names) }
        connection.reply(Wire.GrantsReply(grants: told), continues: true)
      } while !isOver && vault.clock.monotonic() < end
      if isOver { return connection.reply(lastOfGrants(for: connection.caller, names)) }
      var isWanted = true
      connection.hold(withName: true) { isWanted = false }
      connection.whenKeepingUp { [weak self, weak connection] in
        if isWanted, let self, let connection { tell(reading, connection) }
      }
    }
  }

  private func lastOfGrants(for caller: VaultService.Caller, _ names: AccountNames) -> Wire.GrantsReply {
    let confined = access.confinedSubjects(for: caller).map { Self.named($0, names) }
    return Wire.GrantsReply(
      grants: [], confined: confined.isEmpty ? nil : confined,
      unconfirmed: access.isAdministrator(caller) ? access.unconfirmedSince : nil)
  }

  func can(_ call: Wire.CanParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answerFromVault(connection) { () throws(Refusal) in
      guard let right = Right(name: call.right) else { throw .invalidGrant("there is no right '\(call.right)'") }
      let subject = try call.subject.map { (text) throws(Refusal) in try self.subject(text, for: connection.caller) }
      if let subject, access.awaitsDigest(of: connection.caller, toBe: subject) {
        return connection.comeAgainWithDigest()
      }
      let answer = try access.can(subject, right, try Self.itemName(call.name), for: connection.caller)
      let sources = answer.sources.prefix(Self.mostSources).map { Wire.RightsSource($0, names) }
      connection.reply(Wire.CanReply(allowed: answer.isAllowed, sources: sources.isEmpty ? nil : sources))
    }
  }

  func rights(_ call: Wire.RightsParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answerFromVault(connection) { () throws(Refusal) in
      let subject = try subject(call.subject, for: connection.caller)
      let items: HeldRights.Items
      switch (call.name, call.items) {
      case (let name?, nil): items = .named(try Self.itemName(name))
      case (nil, let text?): items = .matching(try Self.pattern(text))
      case (nil, nil): items = .all
      case (_?, _?): throw .invalid("items")
      }
      let held = try access.held(by: subject, on: items, for: connection.caller)
      let more = held.sources.count - Self.mostSources
      connection.reply(
        Wire.RightsReply(
          rights: held.rights.each, some: held.rightsOfSome.each,
          sources: held.sources.prefix(Self.mostSources).map { Wire.RightsSource($0, names) },
          more: more > 0 ? more : nil))
    }
  }

  func whoMay(_ call: Wire.WhoMayParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answerFromVault(connection) { () throws(Refusal) in
      let name = try Self.itemName(call.name)
      let subjects = try access.whoMay(name, for: connection.caller)
      connection.reply(Wire.WhoMayReply(access: Self.told(subjects)))
    }
  }

  func confirmGrants(_ call: Wire.ConfirmGrantsParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      connection.reply(Wire.ConfirmGrantsReply(grants: try access.confirmGrants(for: connection.caller)))
    }
  }

  func forgetSubject(_ call: Wire.ForgetSubjectParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      try access.forgetConfined(try subject(call.subject, for: connection.caller), for: connection.caller)
      connection.reply(Wire.Empty())
    }
  }

  func repairClock(_ call: Wire.RepairClockParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let (newest, clock) = try access.repairClock(for: connection.caller)
      connection.reply(Wire.RepairClockReply(newest: newest, clock: clock))
    }
  }

  // MARK: Parts

  private static func told(_ subjects: [(subject: Subject, rights: Rights)]) -> [Wire.Access] {
    let names = AccountNames()
    return subjects.map { Wire.Access(subject: named($0.subject, names), rights: $0.rights.names) }
  }

  /// Returns the other subjects that have rights to new items, for an administrator, each with its rights to any of
  /// these items; nil when there are no such subjects.
  func others(on names: [ItemName], _ connection: VarlinkConnection) -> [Wire.Access]? {
    guard access.isAdministrator(connection.caller) else { return nil }
    let others = Self.told(access.subjects(on: names))
    return others.isEmpty ? nil : others
  }

  /// Reads the subject in a call. The names of users and groups are looked up only for a caller who has a right to
  /// anything, because the name service may take long, and all clients wait meanwhile.
  ///
  /// - Parameter onlySelects: true for a subject that gives nobody a right.
  func subject(
    _ text: String, for caller: VaultService.Caller, onlySelects: Bool = false
  ) throws(Refusal) -> Subject {
    let mayLookUp = access.hasAny(caller)
    var isRefused = false
    func look(_ name: String, _ find: (String) -> UInt32?) -> UInt32? {
      isRefused = !mayLookUp
      return mayLookUp ? find(name) : nil
    }
    do throws(ValueError) {
      return try Subject(
        parsing: text, user: { look($0, Accounts.user) }, group: { look($0, Accounts.group) },
        onlySelects: onlySelects)
    } catch {
      if isRefused { throw .denied("names of users and groups are looked up only for callers with a grant") }
      throw access.refusal(ofSubject: text, error)
    }
  }

  private static func pattern(_ text: String) throws(Refusal) -> ItemPattern {
    do throws(NameError) { return try ItemPattern(text) } catch {
      throw .invalidGrant("invalid item pattern: \(error.reason)")
    }
  }

  private static func credential(_ text: String) throws(Refusal) -> CredentialID {
    do throws(ValueError) { return try CredentialID(text) } catch { throw .invalidGrant(error.reason) }
  }

  private static func rights(_ names: [String]) throws(Refusal) -> Rights {
    do throws(ValueError) { return try Rights(parsing: names.joined(separator: ",")) } catch {
      throw .invalidGrant(error.reason)
    }
  }

  /// Returns a subject with the names of its users and groups, if they have names.
  static func named(_ subject: Subject, _ names: AccountNames = AccountNames()) -> String {
    subject.parts.map { part in
      switch part {
      case .user(let uid): "user:\(names.user(uid) ?? "\(uid)")"
      case .group(let gid): "group:\(names.group(gid) ?? "\(gid)")"
      case .unit, .executable, .digest: part.text
      }
    }
    .joined(separator: ",")
  }
}

extension Rights {
  /// The names of all rights, also of those that another right of the set includes.
  fileprivate var each: [String] { Right.allCases.filter(contains).map(\.name) }
}

extension Wire.RightsSource {
  fileprivate init(_ source: HeldRights.Source, _ names: AccountNames) {
    self.init(rights: source.rights.each, some: source.isForSome ? true : nil)
    switch source.kind {
    case .administrator: break
    case .grant(let grant): self.grant = Wire.Permission(grant, isActive: true, names)
    case .approval(let approval, let until): self.approval = Wire.Request(approval, until: until, names)
    }
  }
}

extension Wire.Permission {
  fileprivate init(_ grant: Grant, isActive: Bool, _ names: AccountNames) {
    self.init(
      subject: VarlinkDoor.named(grant.subject, names), items: grant.pattern.text, rights: grant.rights.names,
      credential: grant.credential?.text, until: grant.until, created: grant.created, used: grant.used, active: isActive
    )
  }
}
