internal import VaultCore
internal import VaultModel
internal import VaultStore

// The collection of the session. Calls about its items are decided and recorded under names, like calls about other
// items.
extension Keyring {
  private static let policy = Policy(accessible: .afterFirstUnlock)

  /// Makes a call about an item of the session. `body` settles its entry before it changes something in memory.
  func session<R>(
    _ action: AuditAction, _ right: Right, _ element: String, for caller: Caller,
    _ body: (KeyringID, ItemName, Audit.Entry) throws(Refusal) -> R
  ) throws(KeyringFault) -> R {
    if isShut, right != .find { throw .isLocked }
    guard let id = KeyringID(element), let name = SessionItems.name(id) else { throw .noSuchObject }
    do throws(Refusal) {
      return try vault.audit.recording(action, caller, name.text) { entry throws(Refusal) in
        let permit = try items.permit(right, on: name, for: caller)
        try items.check(right, permit, name, Self.policy, for: caller)
        return try body(id, name, entry)
      }
    } catch {
      throw KeyringFault(error)
    }
  }

  /// True if a caller may read an item of the session, and its value has more bytes.
  func isSessionItem(at element: String, longerThan longest: Int, for caller: Caller) -> Bool {
    guard longest < .max, let item = KeyringID(element).flatMap({ try? ofSession.item($0) }) else { return false }
    return item.current.size > longest && access.decide(.get, item.name, item.policy, for: caller) == .allow
  }

  /// Stores a new item of the session, or gives an old one these facts and, if not nil, this value.
  func setOfSession(
    _ facts: KeyringFacts, _ secret: Secret?, _ old: ItemInfo?, for caller: Caller
  ) throws(KeyringFault) {
    // A change of the facts needs the right `admin`, as for items of other collections.
    let right: Right = old == nil || old?.keyring == facts ? .set : .admin
    try session(.set, right, facts.id.text, for: caller) { id, name, entry throws(Refusal) in
      let now = vault.clock.wall()
      let size = secret?.value.bytes.count ?? old?.current.size ?? 0
      let item = ItemInfo(
        name: name, kind: secret?.kind ?? old?.kind ?? .blob, attributes: [:], policy: Self.policy,
        created: old?.created ?? now, modified: now, expires: nil,
        versions: [VersionInfo(number: 1, created: now, size: size)], keyring: facts)
      try ofSession.set(item, id, secret?.value) { () throws(Refusal) in try vault.audit.settle(entry) }
    }
    itemChanged(KeyringPath(.session, facts.id.text), old == nil ? .created : .updated)
  }
}
