internal import VaultCore
package import VaultModel
internal import VaultStore

/// The value that a change gives an item.
package enum NewValue: Sendable {
  /// The item keeps its value.
  case same
  /// A value of `count` bytes, which the caller of ``Items/set(_:_:_:for:fill:)`` writes in place.
  case bytes(count: Int)
  /// A new value that is generated.
  case generated(Recipe)
  /// Something in the call that is no value, for this reason.
  case wrong(String)

  package enum Recipe: Sendable {
    case password(length: Int, symbols: Bool)
    case phrase(words: Int)
    /// A key for the use of the item.
    case key(KeyRecipe)
  }

  /// The reason for ``wrong(_:)`` if the bytes cannot be read.
  package static let unreadable = "give either value or data, and data in base64"
}

/// The refusal of a call that makes many changes.
package struct BatchRefusal: Error {
  /// The index of the refused change; nil if the caller is not told of one, or if the refusal is about all changes.
  package let index: Int?
  package let refusal: Refusal

  package init(index: Int?, refusal: Refusal) {
    self.index = index
    self.refusal = refusal
  }
}

extension Items {
  /// Stores one item.
  ///
  /// - Parameters:
  ///   - long: the work prepared for this call; see ``prepare(_:_:for:fill:)``.
  ///   - fill: writes the bytes of the value; returns false if the bytes are malformed.
  /// - Returns: the version that was made.
  package func set(
    _ change: ItemChange, _ value: NewValue, _ long: LongChange? = nil, for caller: Caller,
    fill: (inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> StoredVersion {
    try set(change, value, long, for: caller, within: nil, fill: fill)
  }

  /// Stores one item, possibly as a part of another call.
  ///
  /// - Parameter isList: true for a value that is known to be a list of revoked tokens. Reading the list again would
  ///   take long.
  func set(
    _ change: ItemChange, _ value: NewValue, _ long: LongChange? = nil, for caller: Caller, within outer: Audit.Entry?,
    isList: Bool = false, fill: (inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> StoredVersion {
    try vault.audit.recording(.set, caller, change.name.text, within: outer) { entry throws(Refusal) in
      try store(change, value, long, isList: isList, caller, entry, fill)
    }
  }

  private func store(
    _ change: ItemChange, _ value: NewValue, _ long: LongChange?, isList: Bool, _ caller: Caller, _ entry: Audit.Entry,
    _ fill: (inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> StoredVersion {
    let keychain = try vault.keychain()
    try check(change, keychain, for: caller, &entry.item)
    var change = change
    change.author = author(caller)
    let list = isList ? nil : tokenList(change.name, for: caller)
    let stored: StoredVersion
    do throws(VaultError) {
      stored = try vault.audit.taking(
        effect: { () throws(VaultError) in
          let stored = try store(change, value, long, list, keychain, fill)
          entry.item = stored.item
          return stored
        }, with: entry)
    } catch {
      throw refusal(error, change.name, kind: change.kind, &entry.item)
    }
    vault.hooks.announce(.item(change.name, stored))
    return stored
  }

  /// Stores many items, all or none.
  ///
  /// - Parameters:
  ///   - long: the work prepared for this call; see ``prepare(_:_:for:fill:)``.
  ///   - fill: writes the bytes of the value at an index among the changes. It is called within the transaction, so
  ///     that only one value at a time is in the clear.
  /// - Returns: the versions that were made, in the order of the changes.
  package func set(
    _ changes: [(change: ItemChange, value: NewValue)], _ long: LongChange? = nil, for caller: Caller,
    fill: (Int, inout MutableRawSpan) -> Bool
  ) throws(BatchRefusal) -> [StoredVersion] {
    let batch = Batch()
    // The refusal that the changes have met, with the index to tell the caller.
    var met: BatchRefusal?
    do throws(Refusal) {
      return try vault.audit.recording(by: caller) { entry throws(Refusal) in
        do throws(BatchRefusal) { return try store(changes, long, caller, batch, entry, fill) } catch {
          met = error
          throw error.refusal
        }
      } entries: { [vault] outcome, entry in
        guard outcome != .ok else {
          for (new, version) in zip(changes, batch.stored) {
            vault.audit.record(.set, .ok, caller, item: new.change.name.text, id: version.item)
          }
          return
        }
        let name = (met?.index ?? batch.refused).map { changes[$0].change.name.text }
        let detail = Self.detail(ofBatch: changes.count, isAboutOne: name != nil)
        vault.audit.record(.set, outcome, caller, item: name, id: entry.item, detail: detail)
      }
    } catch {
      // If the two refusals differ, the entry of the call could not be written, and the refusal is about no change.
      throw BatchRefusal(index: met?.refusal == error ? met?.index : nil, refusal: error)
    }
  }

  /// The progress of a call that makes many changes.
  private final class Batch {
    /// The index of the change because of which the call is refused; nil if the refusal is not about a single change.
    /// It is for the entry; the caller need not be told.
    var refused: Int?
    /// The versions that were made.
    var stored: [StoredVersion] = []
  }

  /// The detail of a refused call for many items. The entry of the call names the refused item if the refusal is about
  /// one item.
  package static func detail(ofBatch count: Int, isAboutOne: Bool) -> String {
    "\(isAboutOne ? "one of " : "")\(Counted.text(count, "item")), none of which was changed"
  }

  /// The detail of a call for this many items that was not completed.
  package static func detail(ofUndone count: Int) -> String {
    count == 1 ? "" : detail(ofBatch: count, isAboutOne: false)
  }

  /// Stores many items, all or none.
  private func store(
    _ changes: [(change: ItemChange, value: NewValue)], _ long: LongChange?, _ caller: Caller, _ batch: Batch,
    _ entry: Audit.Entry, _ fill: (Int, inout MutableRawSpan) -> Bool
  ) throws(BatchRefusal) -> [StoredVersion] {
    var changes = changes
    for index in changes.indices { changes[index].change.author = author(caller) }
    let keychain: Keychain
    do throws(Refusal) {
      keychain = try vault.keychain()
      try CallWeight.check(count: changes.count)
      // All changes are checked before any is weighed: the weight of an existing item would tell that it exists.
      for (index, new) in changes.enumerated() {
        (batch.refused, entry.item) = (index, nil)
        try check(new.change, keychain, for: caller, &entry.item)
      }
      (batch.refused, entry.item) = (nil, nil)
      try (long?.weight.take() ?? weigh(changes, keychain, for: caller, fill)).check()
    } catch {
      throw BatchRefusal(index: nil, refusal: error)
    }
    do throws(VaultError) {
      try vault.audit.taking(
        effect: { () throws(VaultError) in
          batch.stored = []
          try keychain.transaction { () throws(VaultError) in
            for (index, new) in changes.enumerated() {
              let list = tokenList(new.change.name, for: caller)
              batch.stored.append(
                try store(new.change, new.value, long, list, keychain) { bytes in fill(index, &bytes) })
            }
          }
        }, with: entry)
    } catch {
      // After all versions are made, only writing them together can have failed.
      let failed = changes.count == 1 ? 0 : batch.stored.count
      guard failed < changes.count else { throw BatchRefusal(index: nil, refusal: Refusal(error)) }
      let change = changes[failed].change
      throw BatchRefusal(index: failed, refusal: refusal(error, change.name, kind: change.kind, &entry.item))
    }
    for (new, stored) in zip(changes, batch.stored) { vault.hooks.announce(.item(new.change.name, stored)) }
    return batch.stored
  }

  // MARK: Parts

  /// Checks that a caller may make a change. A caller with the right `set` may create the item, or give it another
  /// value. Any other change of an existing item needs the right `admin`. A change of the policy or the kind also needs
  /// the presence that the item requires.
  ///
  /// - Parameter id: the existing item, if the decision depends on it.
  func check(
    _ change: ItemChange, _ keychain: Keychain, for caller: Caller, _ id: inout ItemID?
  ) throws(Refusal) {
    let permit = try permit(.set, on: change.name, for: caller)
    if change.use == .jwt { try checkList(beside: change.name, for: caller) }
    if permit.isAdministrator, !change.update || !change.changesPolicy && change.kind == nil { return }
    // An item that cannot be read may require anything, so the error does not let the change through.
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
    // A change of the kind tells whether the value is one of the new kind, so it needs the same as a change of the
    // policy.
    if let kind = change.kind, kind != old.kind { try checkPolicyChange(permit, old.name, old.policy, for: caller) }
    if let accessible = change.accessible, !permit.has(.admin, accessible) { throw denied }
    // A new value would remove an expiry that has passed.
    let accessible = old.policy.accessible
    if let expires = old.expires, expires <= vault.newestTime(of: accessible), !permit.has(.admin, accessible) {
      throw .expired(old.name.text, expires)
    }
  }

  func weigh(
    _ changes: [(change: ItemChange, value: NewValue)], _ keychain: Keychain, for caller: Caller,
    _ fill: (Int, inout MutableRawSpan) -> Bool
  ) -> CallWeight {
    var weight = CallWeight()
    var new: [ItemName] = []
    // The keys that earlier changes of this call have given to items: one call may name an item twice.
    var keys: [ItemName: KeyCost.Known] = [:]
    for (index, (change, value)) in changes.enumerated() {
      weight.add(change)
      // An item that cannot be read is refused later, with its own error.
      let old = change.update ? try? keychain.item(named: change.name) : nil
      if let old { weight.add(old: old, change) } else { new.append(change.name) }
      weight.add(computing: forming(value, change, old))
      let before = keys[change.name] ?? old.flatMap(KeyCost.Known.init)
      guard let use = change.use ?? change.newKind.use ?? before?.use else {
        guard (change.kind ?? old?.kind) == .tlsKey else { continue }
        // The parts of a TLS key are checked like those of any other key, and checked again when its kind or attributes
        // are set.
        let kept = change.kind != nil || change.attributes != nil ? KeyCost.mostOfKept : 0
        weight.add(computing: computing(value, .sign) { bytes in fill(index, &bytes) } ?? kept)
        continue
      }
      // A kept value that becomes a key is checked only when the change is stored.
      let kept = before?.time ?? (old != nil ? KeyCost.mostOfKept : 0)
      let time = computing(value, use) { bytes in fill(index, &bytes) } ?? kept
      keys[change.name] = KeyCost.Known(use: use, time: time)
      weight.add(computing: time)
    }
    // An administrator is told who else has rights on the new items.
    if changes.count > 1, access.isAdministrator(caller) { weight.add(steps: access.steps(of: new)) }
    return weight
  }

  /// The time for making a value that is no key, or for checking the form of a value, in microseconds.
  private func forming(_ value: NewValue, _ change: ItemChange, _ old: ItemInfo?) -> Int {
    let kind = change.kind ?? old?.kind ?? change.newKind
    switch value {
    case .bytes(let count): return KeyCost.look(kind, at: count)
    case .same:
      guard let old, change.kind != nil || change.attributes != nil else { return 0 }
      return KeyCost.look(kind, at: old.current.size)
    case .generated(let recipe):
      switch recipe {
      case .key: return 0
      case .password, .phrase: return KeyCost.make(recipe)
      }
    case .wrong: return 0
    }
  }

  /// The time for making or checking the key that is the value, in microseconds; nil if the item keeps its value.
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

  /// Stores one item.
  ///
  /// - Parameter list: the list of revoked tokens that the value must be; nil for any other item.
  private func store(
    _ change: ItemChange, _ value: NewValue, _ long: LongChange?, _ list: TokenListCheck?, _ keychain: Keychain,
    _ fill: (inout MutableRawSpan) -> Bool
  ) throws(VaultError) -> StoredVersion {
    let (now, ahead) = (vault.clock.wall(), long?.ahead)
    var change = change
    if case .generated = value {
      if let list { throw .invalidValue(list.faultOfGenerated) }
      change.origin = .generated
    }
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
      if list == nil, let ahead, let stored = try keychain.set(change, valueOf: ahead, now: now) { return stored }
      defer { valueInHand.empty() }
      guard valueInHand.fill(count: count, fill) else { throw .invalidValue(NewValue.unreadable) }
      return try valueInHand.withBytes { (value: RawSpan) throws(VaultError) in
        if let fault = list?.fault(of: value) { throw .invalidValue(fault) }
        return try keychain.set(change, value: value, now: now, ahead: ahead)
      }
    }
  }

  /// The use that an item has, or will have after a change.
  private func use(of change: ItemChange, _ keychain: Keychain) throws(VaultError) -> KeyUse {
    if let use = change.use ?? change.kind?.use { return use }
    if change.update, let use = try? keychain.item(named: change.name).use { return use }
    throw .invalidValue("give the use of the key")
  }

  /// The use of the key that a change asks to generate, if the key may be stored.
  ///
  /// - Parameter id: the existing item, once it is known that the caller may set it.
  /// - Throws: the refusal that storing the key would meet.
  func useOfNewKey(_ change: ItemChange, for caller: Caller, _ id: inout ItemID?) throws(Refusal) -> KeyUse {
    let keychain = try vault.keychain()
    try check(change, keychain, for: caller, &id)
    // A long computation is not begun for a key that a lock would keep from being stored.
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
      case .key: throw .limits("a key can be made only for an item")
      }
    } catch {
      throw .invalidValue(error.reason)
    }
  }
}
