package import VaultModel

/// A credential of a unit.
package struct UnitCredential {
  /// The name of the credential in the unit.
  let id: CredentialID
  /// The most bytes that the credential may have.
  let most: Int
}

// The values that the service manager hands to units as credentials.
extension Items {
  /// Lends the value that is the credential `id` of `unit` to `answer`, as ``get(_:_:)`` does.
  ///
  /// - Parameter most: the most bytes that the value may have.
  package func credential(
    _ id: CredentialID, of unit: String, atMost most: Int = .max, for caller: Caller,
    _ answer: (ItemInfo, Int, RawSpan) -> Void
  ) throws(Refusal) -> Wait? {
    let name: ItemName?
    do throws(Refusal) {
      name = try access.credential(id, of: unit, for: caller)
    } catch {
      vault.audit.record(.get, error.outcome, caller, detail: Self.detail(id, of: unit))
      throw error
    }
    guard let name else { return vault.store.isAwaitingBootKey ? .bootKey : .unlock }
    return try get(Reading(name, as: UnitCredential(id: id, most: most), for: caller), answer)
  }

  /// The unit's request in words for the audit log.
  package static func detail(_ id: CredentialID, of unit: String) -> String { "credential \(id) of \(unit)" }
}
