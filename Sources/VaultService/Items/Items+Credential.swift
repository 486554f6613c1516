package import VaultModel

// The values that the service manager hands to units.
extension Items {
  /// Lends the value that is the credential `id` of `unit` to `answer`, as ``get(_:version:evenExpired:upTo:as:for:_:_:)`` does.
  package func credential(
    _ id: CredentialID, of unit: String, for caller: Caller, _ answer: (ItemInfo, Int, RawSpan) -> Void
  ) throws(Refusal) -> Wait? {
    let name: ItemName?
    do throws(Refusal) {
      name = try access.credential(id, of: unit, for: caller)
    } catch {
      record(credential: id, of: unit, error, for: caller)
      throw error
    }
    guard let name else { return vault.store.isAwaitingBootKey ? .bootKey : .unlock }
    return try get(name, as: id, for: caller, Said(), answer)
  }

  /// Takes note that a unit did not get a credential.
  package func record(credential id: CredentialID, of unit: String, _ refusal: Refusal, for caller: Caller) {
    vault.audit.record(.get, refusal.outcome, caller, detail: "credential \(id) of \(unit)")
    try? vault.audit.settle()
  }
}
