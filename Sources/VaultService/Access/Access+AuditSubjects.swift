internal import VaultModel

// The subjects that the audit log tells apart: the grants that let callers in. Nobody makes one by starting another
// unit, or by taking another uid, of which a user namespace has thousands: there are as many as users, groups, units
// and programs that a grant names.
extension Access {
  /// The subject whose parts of the log a caller takes.
  func auditName(of caller: Caller) -> AuditSubject.Name {
    let standing = standing(of: caller)
    if standing.isAdministrator { return administrator(caller.uid) }
    if isOwners(caller.uid) {
      guard standing.isConfined else { return .user(caller.uid) }
      return book.holding(CallerParts(caller, isSystem: false)).map(AuditSubject.Name.init)
        ?? (book.knowsConfined ? .user(caller.uid) : .undecided)
    }
    guard standing.hasAny else { return standing.isUndecided ? .undecided : .strangers }
    // The grants that let it in are not in memory while names are hidden.
    return readableBook.granted(caller.uid, caller.groups, caller.grantedUnit(isSystem: terms.isSystem))
  }

  /// The same of who left a deposit.
  func auditName(of depositor: Depositor) -> AuditSubject.Name {
    if isOwners(depositor.uid) {
      return book.holding(CallerParts(depositor)).map(AuditSubject.Name.init) ?? .user(depositor.uid)
    }
    if isBornAdministrator(depositor.uid, depositor.groups) { return administrator(depositor.uid) }
    return book.granted(depositor.uid, depositor.groups, depositor.unit)
  }

  /// The same of who an entry was by that names no subject. It tells no groups, so that who had rights by one alone is
  /// among the strangers.
  func auditName(of told: AuditEntry.Caller) -> AuditSubject.Name {
    if isOwners(told.uid) {
      return book.holding(CallerParts(told)).map(AuditSubject.Name.init) ?? .user(told.uid)
    }
    if isBornAdministrator(told.uid, []) { return .user(told.uid) }
    return book.granted(told.uid, [], told.unit)
  }

  /// True for the user whose vault this is: all of its processes are one subject, but for those that a grant has named.
  private func isOwners(_ uid: UInt32) -> Bool { !terms.isSystem && uid == terms.owner }

  /// An administrator: by its uid, or as a member of the group of them.
  private func administrator(_ uid: UInt32) -> AuditSubject.Name {
    guard !isBornAdministrator(uid, []), !book.names(.user(uid)), let group = terms.administrators else {
      return .user(uid)
    }
    return .group(group)
  }
}

extension GrantBook {
  /// The subject that lets in a caller who is neither an administrator nor the vault's owner: the user, where a grant
  /// names it, and the unit that one names; or else the first of the groups.
  fileprivate func granted(_ uid: UInt32, _ groups: [UInt32], _ unit: String?) -> AuditSubject.Name {
    let unit = unit.flatMap { names(.unit($0)) ? $0 : nil }
    let isUser = names(.user(uid)) || unit.map { namesUser(uid, with: $0) } ?? false
    switch (isUser, unit) {
    case (true, let unit?): return AuditSubject.Name(text: "user:\(uid),unit:\(unit)", unit: unit)
    case (false, let unit?): return AuditSubject.Name(text: "unit:\(unit)", unit: unit)
    case (true, nil): return .user(uid)
    // The first by its number, so that nobody is another one without some of its groups but once for each.
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
