internal import VaultBytes
package import VaultCore
package import VaultModel
internal import VaultStore

/// An item, as programs address it.
package struct KeyringPath: Hashable, Sendable {
  package let collection: CollectionID
  /// The last element of the item's object path.
  package let element: String

  package init(_ collection: CollectionID, _ element: String) {
    (self.collection, self.element) = (collection, element)
  }

  /// The path of an item in the collection in whose folder it lies, or among the shared items; nil if no program sees
  /// the item.
  ///
  /// - Parameter isShared: true for the item's path among the shared items.
  init?(_ item: ItemInfo, isShared: Bool) {
    if isShared {
      self.init(.shared, PathElement.encode(item.name.text))
    } else {
      guard let collection = CollectionID(of: item.name), let id = item.keyring?.id else { return nil }
      self.init(collection, id.text)
    }
  }
}

/// An item's properties, as programs see them.
package struct KeyringItem {
  package let path: KeyringPath
  package let label: String
  package let attributes: KeyringAttributes
  /// Unix seconds.
  package let created: Int64
  package let modified: Int64
  package let isLocked: Bool
}

// Single items: their properties, their values, and changes of both.
extension Keyring {
  /// The properties of an item. An item that cannot be read, and a path that stands for the match of a search that
  /// waits, appear as a locked item with empty properties, because to libsecret an item whose properties cannot be read
  /// does not exist.
  package func item(_ path: KeyringPath, for caller: Caller) throws(KeyringFault) -> KeyringItem {
    do throws(KeyringFault) { return describe(try find(path, for: caller), at: path, for: caller) } catch {
      guard error.isFailure || error == .isLocked && isPlaceholder(path, of: caller) else { throw error }
    }
    return KeyringItem(
      path: path, label: "", attributes: KeyringAttributes(), created: 0, modified: 0, isLocked: true)
  }

  /// The properties of an item for a program that did not ask, and is told that they have changed; nil if it may not
  /// know of the item now.
  package func changedItem(_ path: KeyringPath, for caller: Caller) -> KeyringItem? {
    guard let item = known(at: path, for: caller),
      access.decide(.find, item.name, item.policy, for: caller) == .allow
    else { return nil }
    return describe(item, at: path, for: caller)
  }

  private func describe(_ item: ItemInfo, at path: KeyringPath, for caller: Caller) -> KeyringItem {
    // The time from the other keyring is out of date once the item has another value.
    let modified = item.current.number == 1 ? item.keyring?.modified : nil
    return KeyringItem(
      path: path, label: item.keyring?.label ?? item.name.text, attributes: Self.attributes(of: item),
      created: item.keyring?.created ?? item.created, modified: modified ?? item.modified,
      isLocked: isLocked(item, for: caller))
  }

  /// The attributes by which programs find an item. For an item without facts for a keyring, they are its attributes in
  /// the vault.
  static func attributes(of item: ItemInfo) -> KeyringAttributes {
    if let keyring = item.keyring { return keyring.attributes }
    return (try? KeyringAttributes(item.attributes.map { ($0.key, $0.value) })) ?? KeyringAttributes()
  }

  /// Lends the value of an item, with its content type, to `answer`.
  ///
  /// - Parameter longest: the most bytes of a value. A longer value is not lent, the call is not recorded, and no
  ///   approval is used.
  /// - Returns: false if a version of the item is longer.
  @discardableResult
  package func secret(
    _ path: KeyringPath, upTo longest: Int = .max, for caller: Caller, _ said: Said,
    _ answer: (_ contentType: String, RawSpan) -> Void
  ) throws(KeyringFault) -> Bool {
    if isShut { throw locked(.get, path, for: caller) }
    let path = try resolve(path, for: caller)
    guard path.collection != .session else {
      if isSessionItem(at: path.element, longerThan: longest, for: caller) { return false }
      let (id, type) = try session(.get, .get, path.element, for: caller) { id, _, _ throws(Refusal) in
        // The value is opened before it is lent, so that the entry, which comes first, has the true outcome.
        try ofSession.withValue(of: id) { _ in }
        return (id, try ofSession.item(id).keyring?.contentType ?? "")
      }
      do throws(Refusal) { try ofSession.withValue(of: id) { answer(type, $0) } } catch { throw KeyringFault(error) }
      return true
    }
    let name = try name(of: path, for: caller)
    let wait: Wait?
    do throws(Refusal) {
      wait = try items.get(Reading(name, upTo: longest, for: caller, said)) { item, _, value in
        answer(item.keyring?.contentType ?? Self.contentType(of: item.kind), value)
      }
    } catch {
      throw KeyringFault(error)
    }
    switch wait {
    case nil: return true
    case .room: return false
    // The call may be about other items, too, and be answered for those.
    case .presence, .unlock, .bootKey: throw locked(.get, path, for: caller)
    case .approval, .confirmation, .signature: throw .isLocked
    }
  }

  /// Records a call about an item that is refused because of a lock, with the item's name if that can be known now.
  private func locked(_ action: AuditAction, _ path: KeyringPath, for caller: Caller) -> KeyringFault {
    guard let path = try? resolve(path, for: caller) else { return .isLocked }
    var item: ItemName?
    if path.collection == .session {
      item = KeyringID(path.element).flatMap(SessionItems.name)
    } else {
      item = try? name(of: path, for: caller)
    }
    guard let item else { return .isLocked }
    let id = (try? keychain?.item(named: item))?.id
    vault.audit.record(action, .locked, caller, item: item.text, id: id)
    return .isLocked
  }

  private static func contentType(of kind: ItemKind) -> String {
    switch kind.facts.form {
    case .bytes: "application/octet-stream"
    case .line, .text, .pem: "text/plain; charset=utf8"
    }
  }

  // MARK: Changes

  /// A new value for an item, with its content type.
  package struct Secret {
    let value: SecretBox
    let contentType: String

    package init(_ value: SecretBox, contentType: String) { (self.value, self.contentType) = (value, contentType) }

    /// The kind of an item with this value: `password` for text.
    var kind: ItemKind { value.bytes.withBytes { !$0.isEmpty && $0.isUTF8 } ? .password : .blob }
  }

  /// Makes an item in a collection.
  ///
  /// - Parameter replaced: the item with exactly these attributes, which the new one replaces, as found by an exact
  ///   search just before.
  package func make(
    _ label: String, _ attributes: KeyringAttributes, _ secret: Secret, in collection: CollectionID,
    replacing replaced: KeyringPath?, for caller: Caller
  ) throws(KeyringFault) -> KeyringPath {
    guard collection != .shared else { throw .readOnly }
    if isLocked(collection, for: caller) { throw .isLocked }
    let id = KeyringID.random()
    var facts = KeyringFacts(
      id: id, order: 0, label: label, contentType: secret.contentType, attributes: attributes)
    try Self.checkGiven(facts)
    if let replaced {
      let old = try find(replaced, for: caller)
      guard let kept = old.keyring, kept.attributes == attributes else { throw .noSuchObject }
      (facts.id, facts.order, facts.created) = (kept.id, kept.order, kept.created)
      guard collection != .session else {
        try setOfSession(facts, secret, old, for: caller)
        return replaced
      }
      facts.modified = kept.modified
      let change = Self.change(of: old, to: facts, Self.kind(secret, old))
      try store(change, secret, caller)
      return replaced
    }
    facts.order = vault.nextKeyringOrder()
    guard collection != .session else {
      try setOfSession(facts, secret, nil, for: caller)
      return KeyringPath(collection, id.text)
    }
    let name = try Self.name(of: id, in: collection)
    try store(
      ItemChange(name: name, kind: secret.kind, keyring: facts, accessible: settings.accessible), secret, caller)
    return KeyringPath(collection, id.text)
  }

  /// Gives an item a new value.
  package func set(_ secret: Secret, of path: KeyringPath, for caller: Caller) throws(KeyringFault) {
    if isShut { throw locked(.set, path, for: caller) }
    let path = try resolve(path, for: caller)
    let old = try own(path, to: .set, for: caller)
    var facts = old.facts
    // The time of the last change in the other keyring stays, because it no longer counts once the item has another
    // value. Removing it would be a change of the facts, and would need the right to change them.
    facts.contentType = secret.contentType
    try Self.checkGiven(facts)
    if path.collection == .session { return try setOfSession(facts, secret, old.item, for: caller) }
    try store(Self.change(of: old.item, to: facts, Self.kind(secret, old.item)), secret, caller)
  }

  /// Gives an item another label, or other attributes; nil for what stays.
  package func set(
    label: String?, attributes: KeyringAttributes?, of path: KeyringPath, for caller: Caller
  ) throws(KeyringFault) {
    let path = try resolve(path, for: caller)
    let old = try own(path, to: .set, for: caller)
    var facts = old.facts
    if let label { facts.label = label }
    if let attributes { facts.attributes = attributes }
    facts.modified = nil
    try Self.checkGiven(facts)
    if path.collection == .session { return try setOfSession(facts, nil, old.item, for: caller) }
    guard !isLocked(old.item, for: caller) else {
      // So far the log says only that the item was found.
      vault.audit.record(.set, .locked, caller, item: old.item.name.text)
      throw .isLocked
    }
    try store(ItemChange(name: old.item.name, keyring: facts, update: true), nil, caller)
  }

  /// Deletes an item.
  package func delete(_ path: KeyringPath, for caller: Caller) throws(KeyringFault) {
    let path = try resolve(path, for: caller)
    guard path.collection != .session else {
      try session(.delete, .admin, path.element, for: caller) { id, _, entry throws(Refusal) in
        try ofSession.remove(id) { () throws(Refusal) in try vault.audit.settle(entry) }
      }
      return itemChanged(path, .deleted)
    }
    let old = try own(path, to: .delete, for: caller)
    guard !isLocked(old.item, for: caller) else { throw .isLocked }
    do throws(Refusal) { _ = try items.delete([old.item.name], isForGood: false, for: caller) } catch {
      throw KeyringFault(ofDeletion: error)
    }
  }

  // MARK: Parts

  /// A change of an item. The facts are left out if they stay: a new value alone needs fewer rights than new facts.
  private static func change(of old: ItemInfo, to facts: KeyringFacts, _ kind: ItemKind?) -> ItemChange {
    ItemChange(name: old.name, kind: kind, keyring: facts == old.keyring ? nil : facts, update: true)
  }

  /// The kind that an item gets with a new value; nil if it keeps its kind. An item changes only between text and
  /// bytes.
  private static func kind(_ secret: Secret, _ old: ItemInfo) -> ItemKind? {
    switch old.kind {
    case .password, .blob: secret.kind == old.kind ? nil : secret.kind
    case .apiKey, .deviceToken, .wifi, .pairingCode, .tlsKey, .certificate, .sshKey, .totp, .note: nil
    }
  }

  static func check(_ facts: KeyringFacts) throws(KeyringFault) {
    do throws(ValueError) { try facts.validate() } catch { throw .limitsExceeded(.tooMuch(error.reason)) }
  }

  /// Checks the facts that a program gives an item. The secrets of sandboxed programs are the portal's alone.
  private static func checkGiven(_ facts: KeyringFacts) throws(KeyringFault) {
    try check(facts)
    if facts.attributes.portalApp != nil { throw .readOnly }
  }

  func store(_ change: ItemChange, _ secret: Secret?, _ caller: Caller) throws(KeyringFault) {
    do throws(Refusal) {
      if let secret {
        _ = try items.set(change, .bytes(count: secret.value.bytes.count), for: caller) { out in
          secret.value.bytes.withBytes { out.copy($0) }
          return true
        }
      } else {
        _ = try items.set(change, .same, for: caller) { _ in false }
      }
    } catch {
      throw KeyringFault(error)
    }
  }

  /// The item of a collection that can be changed here.
  ///
  /// - Parameter action: the action under which a refusal is recorded.
  private func own(
    _ path: KeyringPath, to action: AuditAction, for caller: Caller
  ) throws(KeyringFault) -> (item: ItemInfo, facts: KeyringFacts) {
    guard path.collection != .shared else { throw .readOnly }
    let item = try find(path, to: action, for: caller)
    guard let facts = item.keyring else { throw .noSuchObject }
    return (item, facts)
  }

  /// The item at a path, if the caller may know of it.
  ///
  /// - Parameter action: the action for which the item is looked up, and under which a refusal is recorded.
  func find(
    _ path: KeyringPath, to action: AuditAction = .find, for caller: Caller
  ) throws(KeyringFault) -> ItemInfo {
    let path = try resolve(path, for: caller)
    guard path.collection != .session else {
      return try session(.find, .find, path.element, for: caller) { id, _, _ throws(Refusal) in try ofSession.item(id) }
    }
    let name = try name(of: path, for: caller)
    do throws(Refusal) { return try items.item(name, for: caller, to: action) } catch { throw KeyringFault(error) }
  }
}
