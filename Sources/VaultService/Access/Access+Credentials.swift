internal import VaultModel

// The credentials of units. Only a grant says which item a unit gets as a credential, and under which name.
extension Access {
  /// The item that a grant makes the credential `id` of `unit`, for the service manager, which asks from within that
  /// unit. Nil if the item cannot be determined before the vault is unlocked.
  ///
  /// - Throws: the refusal for a caller who is not the service manager in that unit, and if no grant names an item.
  func credential(_ id: CredentialID, of unit: String, for caller: Caller) throws(Refusal) -> ItemName? {
    guard caller.uid == (terms.isSystem ? 0 : terms.owner) else {
      throw .denied("uid \(caller.uid) is not that of the service manager")
    }
    // In a user's vault any process can bind its socket to an address that names any unit, as the service manager does.
    // But only the service manager puts a process into a unit.
    guard caller.grantedUnit(isSystem: terms.isSystem) == unit else {
      throw .denied("the caller is not in that unit")
    }
    _ = try vault.keychain()
    let standing = standing(of: caller)
    let now = vault.newestTime
    // The strongest class whose grants are known decides.
    for accessible in AccessClass.allCases {
      let grants = (standing.grants[accessible] ?? nil)?.entries.map(\.grant) ?? []
      let found = grants.first { $0.credential == id && $0.subject.wholeUnit == unit && $0.counts(at: now) }
      if let found, let name = try? ItemName(found.pattern.text) { return name }
    }
    guard standing.isUndecided else { throw .denied("no grant names an item for this credential") }
    return nil
  }

  /// Checks that a grant that names a credential can make its item a unit's credential.
  ///
  /// - Throws: the refusal of a grant that cannot.
  func checkCredential(of grant: Grant, now: Int64) throws(Refusal) {
    guard let id = grant.credential else { return }
    guard let unit = grant.subject.wholeUnit, unit.hasSuffix(".service") else {
      throw .invalidGrant("only a service has credentials: name it alone, as unit:NAME.service")
    }
    guard grant.pattern.isExact else { throw .invalidGrant("a credential is one item: name it without * and ?") }
    guard grant.rights.contains(.get) else { throw .invalidGrant("a credential is read, so it needs the right get") }
    let other = book.all.first { _, other in
      other.subject == grant.subject && other.credential == id && other.pattern != grant.pattern
        && other.counts(at: now)
    }
    if let other {
      throw .invalidGrant(
        "the credential \(id) of \(unit) is the item '\(other.grant.pattern)'; revoke that grant first")
    }
  }
}
