internal import VaultModel

// The subjects that the audit log tells apart: those of the grants that let callers in. Nobody makes a new subject by
// starting another unit, or by taking another uid, of which a user namespace has thousands: there are only as many
// subjects as users, groups, units and programs that grants name.
extension Access {
  /// The subject toward whose share of the log a caller's entries count.
  func auditName(of caller: Caller) -> AuditSubject.Name {
    let standing = standing(of: caller)
    if standing.isAdministrator { return administrator(caller.uid) }
    if isOwners(caller.uid) {
      guard standing.isConfined else { return .user(caller.uid) }
      return book.holding(CallerParts(caller, isSystem: false)).map(AuditSubject.Name.init)
        ?? (book.knowsConfined ? .user(caller.uid) : .undecided)
    }
    // A grant that has ended still names a subject, so that the subject keeps its share of the log.
    guard standing.hasGrants else { return standing.isUndecided ? .undecided : .strangers }
    // In a vault that hides names, the grants that let the caller in are sealed in memory, so they are opened.
    return readableBook(for: CallerParts(caller, isSystem: terms.isSystem))
      .granted(caller.uid, caller.groups, caller.grantedUnit(isSystem: terms.isSystem))
  }

  /// The subject toward whose share of the log the entries of a deposit's sender count.
  func auditName(of depositor: Depositor) -> AuditSubject.Name {
    if isOwners(depositor.uid) {
      return book.holding(CallerParts(depositor)).map(AuditSubject.Name.init) ?? .user(depositor.uid)
    }
    if isBornAdministrator(depositor.uid, depositor.groups) { return administrator(depositor.uid) }
    return book.granted(depositor.uid, depositor.groups, depositor.unit)
  }

  /// The subject toward whose share of the log an entry counts if the entry itself names no subject. Such an entry has
  /// no groups, so a caller who had rights by a group alone counts among the strangers.
  func auditName(of told: AuditEntry.Caller) -> AuditSubject.Name {
    if isOwners(told.uid) {
      return book.holding(CallerParts(told)).map(AuditSubject.Name.init) ?? .user(told.uid)
    }
    if isBornAdministrator(told.uid, []) { return .user(told.uid) }
    return book.granted(told.uid, [], told.unit)
  }

  /// True for the user whose vault this is. All processes of that user are one subject, except those that a grant has
  /// named.
  private func isOwners(_ uid: UInt32) -> Bool { !terms.isSystem && uid == terms.owner }

  /// The subject of an administrator: the user or, if the user is an administrator only as a member of the
  /// administrators' group, that group.
  private func administrator(_ uid: UInt32) -> AuditSubject.Name {
    guard !isBornAdministrator(uid, []), !book.names(.user(uid)), let group = terms.administrators else {
      return .user(uid)
    }
    return .group(group)
  }
}

extension GrantBook {
  /// The subject that lets in a caller who is neither an administrator nor the vault's owner: the user and the unit, as
  /// far as grants name them, or else the first group that a grant names.
  fileprivate func granted(_ uid: UInt32, _ groups: [UInt32], _ unit: String?) -> AuditSubject.Name {
    let unit = unit.flatMap { names(.unit($0)) ? $0 : nil }
    let isUser = names(.user(uid)) || unit.map { namesUser(uid, with: $0) } ?? false
    switch (isUser, unit) {
    case (true, let unit?): return AuditSubject.Name(text: "user:\(uid),unit:\(unit)", unit: unit)
    case (false, let unit?): return AuditSubject.Name(text: "unit:\(unit)", unit: unit)
    case (true, nil): return .user(uid)
    // The group with the lowest number, so that a caller who drops groups becomes another subject at most once for each
    // group.
    case (false, nil): return groups.filter { names(.group($0)) }.min().map { .group($0) } ?? .strangers
    }
  }
}

extension AuditSubject.Name {
  /// True for a user without a unit or a program.
  var isUser: Bool { text.hasPrefix("user:") && !text.contains(",") }

  static func user(_ uid: UInt32) -> AuditSubject.Name { AuditSubject.Name(text: "user:\(uid)") }

  static func group(_ gid: UInt32) -> AuditSubject.Name { AuditSubject.Name(text: "group:\(gid)") }

  fileprivate init(_ subject: Subject) {
    self.init(text: subject.description)
    for part in subject.parts {
      switch part {
      case .unit(let name): unit = name
      case .executable(let path): executable = path
      case .user, .group, .digest: break
      }
    }
  }
}
