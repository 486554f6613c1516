internal import VaultModel

// The subjects that the audit log tells apart. Nobody makes one by starting another unit: there are as many as users
// who were granted something, and as units and programs that a grant names.
extension Access {
  /// The subject whose parts of the log a caller takes.
  func auditName(of caller: Caller) -> AuditSubject.Name {
    let standing = standing(of: caller)
    if standing.isAdministrator { return .user(caller.uid) }
    if isOwners(caller.uid) {
      guard standing.isConfined else { return .user(caller.uid) }
      guard book.knowsConfined else { return .undecided }
      return book.holding(CallerParts(caller, isSystem: false)).map(AuditSubject.Name.init) ?? .user(caller.uid)
    }
    guard standing.hasAny else { return standing.isUndecided ? .undecided : .strangers }
    return granted(caller.uid, caller.grantedUnit(isSystem: terms.isSystem))
  }

  /// The same of who left a deposit.
  func auditName(of depositor: Depositor) -> AuditSubject.Name {
    guard isOwners(depositor.uid) else { return granted(depositor.uid, depositor.unit) }
    return book.holding(CallerParts(depositor)).map(AuditSubject.Name.init) ?? .user(depositor.uid)
  }

  /// The subjects whose parts an entry has taken, as far as it tells who that was. It tells no groups, so that whoever
  /// may have had rights by one alone is among the strangers as well.
  func auditNames(of told: AuditEntry.Caller) -> [AuditSubject.Name] {
    if isOwners(told.uid) {
      return [book.holding(CallerParts(told)).map(AuditSubject.Name.init) ?? .user(told.uid)]
    }
    if isBornAdministrator(told.uid, []) { return [.user(told.uid)] }
    let name = granted(told.uid, told.unit)
    return name.unit != nil || book.names(.user(told.uid)) ? [name] : [name, .strangers]
  }

  /// True for the user whose vault this is: all of its processes are one subject, but for those that a grant has named.
  private func isOwners(_ uid: UInt32) -> Bool { !terms.isSystem && uid == terms.owner }

  private func granted(_ uid: UInt32, _ unit: String?) -> AuditSubject.Name {
    guard let unit, book.names(.unit(unit)) else { return .user(uid) }
    return AuditSubject.Name(text: "user:\(uid),unit:\(unit)", unit: unit)
  }
}

extension AuditSubject.Name {
  static func user(_ uid: UInt32) -> AuditSubject.Name { AuditSubject.Name(text: "user:\(uid)") }

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
