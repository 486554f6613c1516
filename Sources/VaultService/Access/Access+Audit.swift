internal import VaultCore
package import VaultModel
internal import VaultStore

extension Access {
  /// Begins a reading of the audit log: an administrator reads all of it, anybody else the entries about the caller
  /// itself.
  ///
  /// - Parameter noted: nil to read the log. If given, the whole log is checked, and compared with these notes.
  /// - Throws: the refusal, also for a caller who has nothing to do with this vault, and while the vault is locked.
  package func readAudit(
    _ filter: AuditFilter, noted: AuditNotes? = nil, for caller: Caller
  ) throws(Refusal) -> AuditReading {
    let keychain = try vault.keychain()
    let asked = noted == nil ? "read" : "checked"
    let isAdministrator = isAdministrator(caller)
    let place = try vault.audit.recording(
      .audit, caller, asked, detail: filter.asked, needs: isAdministrator ? .logUnlessFailed : .log
    ) {
      () throws(Refusal) in
      _ = try auditScope(of: caller)
      if noted != nil { try checkAdministrator(caller) }
      guard vault.state.kind == .unlocked else { throw vault.locked }
      return try vault.audit.readers.enter(AuditReaders.Reader(uid: caller.uid, subject: auditName(of: caller)))
    }
    // Writes the waiting entries, so that the reading also shows what has happened until now.
    vault.audit.write()
    let own = AuditEntry.Caller(caller, isSystem: terms.isSystem)
    return try AuditReading(vault.audit, place, keychain, filter, own: own, noted: noted, in: vault.holders) {
      [unowned self] name, policy in
      let permit = permit(caller, on: name)
      guard let policy else { return permit.mayHave(.find) }
      return decide(.find, permit, policy, for: caller) == .allow
    } decide: {
      [unowned self] () throws(Refusal) in
      try auditScope(of: caller)
    }
  }

  /// True when a caller is the program that an entry names: the same service of the same user or, if the entry names no
  /// service, the same process.
  package func isProgram(of told: AuditEntry.Caller, _ caller: Caller) -> Bool {
    guard told.uid == caller.uid else { return false }
    if let unit = told.unit, unit.hasSuffix(".service") { return caller.grantedUnit(isSystem: terms.isSystem) == unit }
    return told.pid > 0 && told.pid == caller.pid
  }

  /// The part of the log that a caller may read now.
  ///
  /// - Throws: the refusal for a caller who has nothing to do with this vault.
  private func auditScope(of caller: Caller) throws(Refusal) -> AuditReading.Scope {
    let standing = standing(of: caller)
    if standing.isAdministrator { return .all }
    guard standing.hasAny(now: vault.newestTime) || standing.isUndecided else {
      throw .denied("this is for the vault's administrators, and for callers with a grant")
    }
    return standing.isConfined ? .program : .user
  }
}

extension AuditFilter {
  /// The filter in the words of the command line; nil for a filter that excludes nothing.
  fileprivate var asked: String? {
    var words: [String] = []
    if let item { words.append("item \(item.text), now") }
    if let items { words.append("item \(items.text)") }
    if let subject { words.append("caller \(subject)") }
    if let action { words.append("action \(action.name)") }
    if let door { words.append("door \(door)") }
    if isRefused { words.append("denied") }
    if let since { words.append("since \(since)") }
    if let until { words.append("until \(until)") }
    return words.isEmpty ? nil : words.joined(separator: ", ")
  }
}
