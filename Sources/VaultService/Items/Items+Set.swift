internal import VaultCore
package import VaultModel
internal import VaultStore

/// The value of an item that is stored.
package enum NewValue: Sendable {
  /// The item keeps the value that it has.
  case same
  /// So many bytes, which whoever stores it puts in place.
  case bytes(count: Int)
  /// A new one is drawn.
  case generated(Recipe)
  /// The call gave something that is no value, for that reason.
  case wrong(String)

  package enum Recipe: Sendable {
    case password(length: Int, symbols: Bool)
    case phrase(words: Int)
    /// A key for the use of the item.
    case key(KeyRecipe)
  }

  /// The reason for ``wrong(_:)`` where bytes cannot be read.
  package static let unreadable = "give either value or data, and data in base64"
}

/// A refusal of a change among many.
package struct BatchRefusal: Error {
  /// The place among the changes; nil where it is about all of them.
  package let index: Int?
  package let refusal: Refusal

  package init(index: Int?, refusal: Refusal) {
    self.index = index
    self.refusal = refusal
  }
}

extension Items {
  /// Stores one item, and tells the version that it made.
  ///
  /// - Parameters:
  ///   - long: what was prepared for it; see ``prepare(_:_:for:)``.
  ///   - fill: puts the bytes of the value in place; false when they are not what they should be.
  package func set(
    _ change: ItemChange, _ value: NewValue, _ long: LongChange? = nil, for caller: Caller,
    fill: (inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> StoredVersion {
    try vault.audit.recording(.set, caller, change.name) { id throws(Refusal) in
      try store(change, value, long, caller, &id, fill)
    }
  }

  private func store(
    _ change: ItemChange, _ value: NewValue, _ long: LongChange?, _ caller: Caller, _ id: inout ItemID?,
    _ fill: (inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> StoredVersion {
    let keychain = try vault.keychain()
    try check(change, keychain, for: caller, &id)
    var change = change
    change.author = author(caller)
    let stored: StoredVersion
    do throws(VaultError) { stored = try store(change, value, long, keychain, fill) } catch {
      throw refusal(error, change.name, kind: change.kind, &id)
    }
    id = stored.item
    announce(change, stored)
    return stored
  }

  /// Stores many items, all or none, and tells the versions made, in their order.
  ///
  /// - Parameters:
  ///   - long: what was prepared for them; see ``prepare(_:_:for:)``.
  ///   - fill: puts the bytes of the value at a place among them in place. It is called within the transaction, so that
  ///     one at a time is in the clear.
  package func set(
    _ changes: [(change: ItemChange, value: NewValue)], _ long: LongChange? = nil, for caller: Caller,
    fill: (Int, inout MutableRawSpan) -> Bool
  ) throws(BatchRefusal) -> [StoredVersion] {
    let versions: [StoredVersion]
    var (refused, id): (Int?, ItemID?)
    do throws(BatchRefusal) {
      do throws(Refusal) { try vault.audit.settle() } catch { throw BatchRefusal(index: nil, refusal: error) }
      versions = try store(changes, long, caller, refused: &refused, &id, fill)
    } catch {
      let name = (error.index ?? refused).map { changes[$0].change.name.text }
      let detail = Self.detail(ofBatch: changes.count, isAboutOne: name != nil)
      vault.audit.record(.set, error.refusal.outcome, caller, item: name, id: id, detail: detail)
      do throws(Refusal) { try vault.audit.settle() } catch { throw BatchRefusal(index: nil, refusal: error) }
      throw error
    }
    for (new, version) in zip(changes, versions) {
      vault.audit.record(.set, .ok, caller, item: new.change.name.text, id: version.item)
    }
    do throws(Refusal) { try vault.audit.settle() } catch { throw BatchRefusal(index: nil, refusal: error) }
    return versions
  }

  /// The detail of a refused call for many items, whose entry names the refused item where it is about one.
  package static func detail(ofBatch count: Int, isAboutOne: Bool) -> String {
    "\(isAboutOne ? "one of " : "")\(Counted.text(count, "item")), none of which was changed"
  }

  /// The detail of a call for so many items that has not come to its end.
  package static func detail(ofUndone count: Int) -> String {
    count == 1 ? "" : detail(ofBatch: count, isAboutOne: false)
  }

  /// - Parameters:
  ///   - refused: the place of the one that stands in the way, where one does, also where the caller is not told.
  ///   - id: the item that was found there.
  private func store(
    _ changes: [(change: ItemChange, value: NewValue)], _ long: LongChange?, _ caller: Caller, refused: inout Int?,
    _ id: inout ItemID?, _ fill: (Int, inout MutableRawSpan) -> Bool
  ) throws(BatchRefusal) -> [StoredVersion] {
    var versions: [StoredVersion] = []
    var changes = changes
    for index in changes.indices { changes[index].change.author = author(caller) }
    let keychain: Keychain
    do throws(Refusal) {
      keychain = try vault.keychain()
      try CallWeight.check(count: changes.count)
      // Before anything is weighed: the weight of an item that is there would tell that it is.
      for (index, new) in changes.enumerated() {
        (refused, id) = (index, nil)
        try check(new.change, keychain, for: caller, &id)
      }
      (refused, id) = (nil, nil)
      try weigh(changes, keychain, fill).check()
    } catch {
      throw BatchRefusal(index: nil, refusal: error)
    }
    do throws(VaultError) {
      try keychain.transaction { () throws(VaultError) in
        for (index, new) in changes.enumerated() {
          versions.append(try store(new.change, new.value, long, keychain) { bytes in fill(index, &bytes) })
        }
      }
    } catch {
      let failed = min(versions.count, changes.count - 1)
      guard failed >= 0 else { throw BatchRefusal(index: nil, refusal: Refusal(error)) }
      let change = changes[failed].change
      throw BatchRefusal(index: failed, refusal: refusal(error, change.name, kind: change.kind, &id))
    }
    for (new, version) in zip(changes, versions) { announce(new.change, version) }
    return versions
  }

  // MARK: Parts

  /// Decides about a change. Who may set an item may give it another value, and make one: of an item that is there only an
  /// administrator changes anything else, and what it asks for is changed by those alone who have shown that it is there.
  ///
  /// - Parameter id: the item that is there, where that decides.
  func check(
    _ change: ItemChange, _ keychain: Keychain, for caller: Caller, _ id: inout ItemID?
  ) throws(Refusal) {
    let permit = try permit(.set, on: change.name, for: caller)
    if permit.isAdministrator, !change.update || !change.changesPolicy && change.kind == nil { return }
    // One that cannot be read may ask for anything: it is no reason to let a change through.
    let old: ItemInfo?
    do throws(VaultError) { old = try keychain.item(named: change.name) } catch .noSuchItem { old = nil } catch {
      throw vault.refusal(error, change.name.text)
    }
    guard let old else {
      let policy = Policy(accessible: change.accessible ?? Policy().accessible)
      return try check(.set, permit, change.name, policy, for: caller)
    }
    id = old.id
    try check(.set, permit, old.name, old.policy, for: caller)
    guard change.update else { return }
    if change.changesPolicy { try checkPolicyChange(permit, old.name, old.policy, for: caller) }
    if change.changesMoreThanValue { try check(.admin, permit, old.name, old.policy, for: caller) }
    // Another kind tells of the value whether it is one of these.
    if let kind = change.kind, kind != old.kind { try checkPolicyChange(permit, old.name, old.policy, for: caller) }
    if let accessible = change.accessible, !permit.has(.admin, accessible) { throw denied }
    // A new value would take a passed expiry away.
    if let expires = old.expires, expires <= vault.newestTime, !permit.has(.admin, old.policy.accessible) {
      throw .expired(old.name.text, expires)
    }
  }

  func weigh(
    _ changes: [(change: ItemChange, value: NewValue)], _ keychain: Keychain,
    _ fill: (Int, inout MutableRawSpan) -> Bool
  ) -> CallWeight {
    var weight = CallWeight()
    // The keys that the changes before have given to items: one call may name an item twice.
    var keys: [ItemName: KeyCost.Known] = [:]
    for (index, (change, value)) in changes.enumerated() {
      weight.add(change.name, change.attributes)
      // One that cannot be read is refused later, by its own error.
      let old = change.update ? try? keychain.item(named: change.name) : nil
      if let old { weight.add(old: old, change) }
      let before = keys[change.name] ?? old.flatMap(KeyCost.Known.init)
      guard let use = change.use ?? change.newKind.use ?? before?.use else {
        guard (change.kind ?? old?.kind) == .tlsKey else { continue }
        // Its parts are checked as those of any other key, and again where something else is said of it.
        let kept = change.kind != nil || change.attributes != nil ? KeyCost.mostOfKept : 0
        weight.add(computing: computing(value, .sign) { bytes in fill(index, &bytes) } ?? kept)
        continue
      }
      // A kept value that becomes a key is looked at first when it is stored.
      let kept = before?.time ?? (old != nil ? KeyCost.mostOfKept : 0)
      let time = computing(value, use) { bytes in fill(index, &bytes) } ?? kept
      keys[change.name] = KeyCost.Known(use: use, time: time)
      weight.add(computing: time)
    }
    return weight
  }

  /// The time that the key which is a value takes to be made or checked, in microseconds; nil where the item keeps its
  /// own.
  private func computing(_ value: NewValue, _ use: KeyUse, _ fill: (inout MutableRawSpan) -> Bool) -> Int? {
    switch value {
    case .same: return nil
    case .wrong: return 0
    case .generated(let recipe): return KeyCost.make(recipe)
    case .bytes(let count):
      defer { valueInHand.empty() }
      guard valueInHand.fill(count: count, fill) else { return 0 }
      return valueInHand.withBytes { KeyCost.check($0, for: use) }
    }
  }

  private func store(
    _ change: ItemChange, _ value: NewValue, _ long: LongChange?, _ keychain: Keychain,
    _ fill: (inout MutableRawSpan) -> Bool
  ) throws(VaultError) -> StoredVersion {
    let (now, ahead) = (vault.clock.wall(), long?.ahead)
    var change = change
    if case .generated = value { change.origin = .generated }
    switch value {
    case .same: return try keychain.set(change, now: now, ahead: ahead)
    case .wrong(let reason): throw .invalidValue(reason)
    case .generated(.key(let recipe)):
      let use = try use(of: change, keychain)
      let key: SecureBytes
      do throws(ValueError) { key = try recipe.make(for: use, change.name) } catch { throw .invalidValue(error.reason) }
      return try keychain.set(change, value: key, now: now, ahead: ahead)
    case .generated(let recipe):
      return try keychain.set(change, value: try Self.draw(recipe), now: now, ahead: ahead)
    case .bytes(let count):
      if let ahead, let stored = try keychain.set(change, valueOf: ahead, now: now) { return stored }
      defer { valueInHand.empty() }
      guard valueInHand.fill(count: count, fill) else { throw .invalidValue(NewValue.unreadable) }
      return try valueInHand.withBytes { (value: RawSpan) throws(VaultError) in
        try keychain.set(change, value: value, now: now, ahead: ahead)
      }
    }
  }

  /// The use that an item has, or will have after a change.
  private func use(of change: ItemChange, _ keychain: Keychain) throws(VaultError) -> KeyUse {
    if let use = change.use ?? change.kind?.use { return use }
    if change.update, let use = try? keychain.item(named: change.name).use { return use }
    throw .invalidValue("a key is made for a use; say which")
  }

  /// The use of the key that a change wants made, where it may be stored.
  ///
  /// - Parameter id: the item that is there, once the caller may set it.
  /// - Throws: the refusal that storing it would meet.
  func useOfNewKey(_ change: ItemChange, for caller: Caller, _ id: inout ItemID?) throws(Refusal) -> KeyUse {
    let keychain = try vault.keychain()
    try check(change, keychain, for: caller, &id)
    // Nothing long is begun for what a lock would keep from being stored.
    let old = try? keychain.item(named: change.name)
    id = old?.id
    guard old != nil || keychain.knowsAllNames,
      keychain.opensValues(of: change.accessible ?? old?.policy.accessible ?? Policy().accessible)
    else { throw vault.locked }
    do throws(VaultError) { return try use(of: change, keychain) } catch {
      throw refusal(error, change.name, kind: change.kind, &id)
    }
  }

  static func draw(_ recipe: NewValue.Recipe) throws(VaultError) -> SecureBytes {
    do throws(CryptoError) {
      switch recipe {
      case .password(let length, let symbols): return try SecretGenerator.password(length: length, symbols: symbols)
      case .phrase(let words): return try SecretGenerator.phrase(words: words)
      case .key: throw .limits("a key is made for the use of an item")
      }
    } catch {
      throw .invalidValue(error.reason)
    }
  }

  private func announce(_ change: ItemChange, _ stored: StoredVersion) {
    vault.hooks.announce(.item(change.name, stored: stored.number))
  }
}
