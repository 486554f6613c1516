internal import VaultBytes
internal import VaultCore
package import VaultModel
internal import VaultStore

extension Items {
  /// Stores a copy of an item under another name, with its current value, kind, attributes, policies and expiry, and
  /// with its facts for a keyring's clients. These clients know the copy by a number of its own, and find it at a place
  /// of its own: those of the target, or new ones. A target that has such facts keeps them if the source has none.
  ///
  /// The copy has none of the attributes by which an import knows its items: whoever made the source chose them, and
  /// the copy would count as an item that the caller has imported.
  ///
  /// On the source, the caller needs the rights that ``get(_:_:)`` needs or, if the key of the source is never read,
  /// the right `admin`. On the target, the caller needs the rights that a new item needs. If the target exists, it
  /// keeps its versions, but gets the policy of the source. So the caller must have shown the presence that the
  /// target's policy requires before the copy.
  ///
  /// - Parameter long: the work prepared for this call; see ``prepare(_:_:for:fill:)``.
  /// - Returns: the number of the version that was made in the target.
  package func copy(
    _ source: ItemName, to target: ItemName, replacing: Bool, evenExpired: Bool, _ long: LongChange? = nil,
    for caller: Caller
  ) throws(Refusal) -> Int {
    // The copy gives its reader the value of the source, so the source has an entry for a read.
    try vault.audit.recording(
      Audit.Deed(action: .get, item: source, detail: "copied to \(target.text)"),
      Audit.Deed(action: .set, item: target, detail: Self.detail(ofCopyOf: source)), caller
    ) { entry, course throws(Refusal) in
      let stored = try makeCopy(of: source, target, replacing, evenExpired, long, caller, entry, course)
      vault.hooks.announce(.item(target, stored))
      return stored.number
    }
  }

  /// The number of the target's current version, if the target is already a copy of the source: both have the same
  /// value, kind, attributes, policies and expiry, and the target has the source's facts for a keyring's clients. The
  /// target has none of the source's attributes by which an import knows its items.
  ///
  /// The caller needs the rights on both items that ``get(_:_:)`` needs, because the answer tells whether two values
  /// are the same.
  ///
  /// - Throws: the refusal that `target` exists, if it is not such a copy. Both items have an entry then, too, because
  ///   they were compared.
  package func copied(
    _ source: ItemName, to target: ItemName, evenExpired: Bool, for caller: Caller
  ) throws(Refusal) -> Int {
    try vault.audit.recording(
      Audit.Deed(action: .use, item: source, detail: "compared with \(target.text)"),
      Audit.Deed(action: .use, item: target, detail: "compared with \(source.text)"), caller
    ) { _, course throws(Refusal) in
      let keychain = try vault.keychain()
      let (taking, comparing) = (try permit(.get, on: source, for: caller), try permit(.get, on: target, for: caller))
      defer { valueInHand.empty() }
      course.side = .source
      let item = try take(source, taking, keychain, evenExpired, for: caller, &course.source)
      course.side = .target
      var isCompared = false
      defer { course.isDone = isCompared }
      let version: Int? = try lend(
        target, comparing, keychain, evenExpired, for: caller, &course.target
      ) { other, version, value in
        isCompared = true
        let isSame = valueInHand.withBytes { ConstantTime.isEqual($0, value) }
        return isSame && other.isDescribed(as: item) ? version : nil
      }
      guard let version, source != target else { throw .alreadyExists(target.text) }
      return version
    }
  }

  package static func detail(ofCopyOf source: ItemName) -> String { "copy of \(source.text)" }

  private func makeCopy(
    of source: ItemName, _ target: ItemName, _ replacing: Bool, _ evenExpired: Bool, _ long: LongChange?,
    _ caller: Caller, _ entry: Audit.Entry, _ course: Audit.Course
  ) throws(Refusal) -> StoredVersion {
    let keychain = try vault.keychain()
    let permit = try permit(.set, on: target, for: caller)
    course.side = .source
    let taking = try self.permit(.get, on: source, for: caller)
    course.side = .target
    let old = try checkTarget(permit, target, keychain, replacing, for: caller, &course.target)
    let change = { (item: ItemInfo) throws(Refusal) -> ItemChange in
      try self.check(.set, permit, target, item.policy, for: caller)
      if source == target { throw .alreadyExists(target.text) }
      if item.use == .jwt { try self.checkList(beside: target, for: caller) }
      return self.copyChange(of: item, target, old, replacing, caller)
    }
    let now = vault.clock.wall()
    let ahead = long?.ahead
    if let ahead, ahead.hasValue, tokenList(target, for: caller) == nil {
      course.side = .source
      let (item, digest) = try reading(source, taking, caller, &course.source) { decide throws(VaultError) in
        try keychain.checkReading(of: source, now: now, evenExpired: evenExpired, if: decide)
      }
      course.side = .target
      let change = try change(item)
      if let sealed = keychain.sealedValue(of: change, from: digest, ahead) {
        return try storing(change, entry, course) { () throws(VaultError) in
          try keychain.set(change, sealed, ahead, now: now)
        }
      }
    }
    defer { valueInHand.empty() }
    course.side = .source
    let item = try take(source, taking, keychain, evenExpired, for: caller, &course.source)
    course.side = .target
    let new = try change(item)
    let list = tokenList(new.name, for: caller)
    return try storing(new, entry, course) { () throws(VaultError) in
      try valueInHand.withBytes { (value: RawSpan) throws(VaultError) in
        if let fault = list?.fault(of: value) { throw .invalidValue(fault) }
        return try keychain.set(new, value: value, now: now, ahead: ahead)
      }
    }
  }

  /// Stores a copy, together with the entries of the call.
  private func storing(
    _ change: ItemChange, _ entry: Audit.Entry, _ course: Audit.Course,
    _ body: () throws(VaultError) -> StoredVersion
  ) throws(Refusal) -> StoredVersion {
    do throws(VaultError) {
      return try vault.audit.taking(
        effect: { () throws(VaultError) in
          let stored = try body()
          course.target = stored.item
          return stored
        }, with: entry)
    } catch {
      throw refusal(error, change.name, kind: change.kind, &course.target)
    }
  }

  private func copyChange(
    of item: ItemInfo, _ target: ItemName, _ old: ItemInfo?, _ replacing: Bool, _ caller: Caller
  ) -> ItemChange {
    let kept = old?.keyring
    return ItemChange(
      name: target, kind: item.kind, use: item.use, attributes: ImportMark.unmarked(item.attributes),
      keyring: item.keyring?.copied(as: kept?.id ?? .random(), order: kept?.order ?? vault.nextKeyringOrder()),
      accessible: item.policy.accessible, require: item.policy.require, reuseWindow: item.policy.reuseWindow,
      neverRead: item.policy.isNeverRead,
      origin: .copied, expires: .some(item.expires), author: author(caller), update: replacing)
  }

  /// The change of the target that a copy will make, determined before the value is read; nil if the source is the
  /// target, so that the copy will be refused.
  ///
  /// - Throws: the refusal of the copy for any other reason that is known before the value is read.
  func copyChange(
    _ source: ItemName, _ target: ItemName, _ replacing: Bool, _ keychain: Keychain, for caller: Caller
  ) throws(Refusal) -> ItemChange? {
    let permit = try permit(.set, on: target, for: caller)
    let taking = try self.permit(.get, on: source, for: caller)
    var id: ItemID?
    let old = try checkTarget(permit, target, keychain, replacing, for: caller, &id)
    let item = try item(source)
    switch access.decide(copyOf: item.policy, taking, for: caller) {
    case .allow, .allowWithin: break
    case .ask: throw .presenceRequired(source.text, item.policy.require)
    case .refuse: throw refused(.get, taking, source, item.policy)
    }
    try check(.set, permit, target, item.policy, for: caller)
    return source == target ? nil : copyChange(of: item, target, old, replacing, caller)
  }

  /// Lends a new secret to `answer`. The secret belongs to no item, so no caller is refused.
  package func generate(_ recipe: NewValue.Recipe, _ answer: (RawSpan) -> Void) throws(Refusal) {
    defer { Stack.wipe() }
    do throws(VaultError) { try Self.draw(recipe).withBytes { answer($0) } } catch {
      throw vault.refusal(error, "")
    }
  }

  /// Checks that the caller may replace the target by a copy.
  ///
  /// - Parameter id: the item that has the target's name now.
  /// - Returns: that item; nil if there is none.
  private func checkTarget(
    _ permit: Permit, _ target: ItemName, _ keychain: Keychain, _ replacing: Bool, for caller: Caller,
    _ id: inout ItemID?
  ) throws(Refusal) -> ItemInfo? {
    // An item that cannot be read may require anything, so the error does not let the change through.
    let old: ItemInfo?
    do throws(VaultError) { old = try keychain.item(named: target) } catch .noSuchItem { old = nil } catch {
      throw vault.refusal(error, target.text)
    }
    guard let old else { return nil }
    id = old.id
    try check(.set, permit, target, old.policy, for: caller)
    guard replacing else { throw .alreadyExists(target.text) }
    try checkPolicyChange(permit, target, old.policy, for: caller)
    return old
  }

  /// Copies the value of the source into ``valueInHand``.
  private func take(
    _ source: ItemName, _ permit: Permit, _ keychain: Keychain, _ evenExpired: Bool, for caller: Caller,
    _ id: inout ItemID?
  ) throws(Refusal) -> ItemInfo {
    try lend(source, permit, keychain, evenExpired, for: caller, &id) { item, _, value in
      valueInHand.fill(count: value.byteCount) { $0.copy(value) }
      return item
    }
  }

  /// Lends the current value of an item, with the number of its version.
  private func lend<R>(
    _ name: ItemName, _ permit: Permit, _ keychain: Keychain, _ evenExpired: Bool, for caller: Caller,
    _ id: inout ItemID?, _ body: (ItemInfo, Int, RawSpan) -> R
  ) throws(Refusal) -> R {
    try reading(name, permit, caller, &id) { decide throws(VaultError) in
      try keychain.withValue(of: name, now: vault.clock.wall(), evenExpired: evenExpired, if: decide, body)
    }
  }

  /// Reads an item for a copy or a comparison. `body` gets the decision whether the caller may read the item.
  ///
  /// - Parameter id: the item, once it is found.
  private func reading<Found>(
    _ name: ItemName, _ permit: Permit, _ caller: Caller, _ id: inout ItemID?,
    _ body: ((ItemInfo) -> Decision) throws(VaultError) -> Found
  ) throws(Refusal) -> Found {
    var policy = Policy()
    do throws(VaultError) {
      return try body { item in
        (policy, id) = (item.policy, item.id)
        return access.decide(copyOf: policy, permit, for: caller)
      }
    } catch .notAllowed(let decision) {
      throw decision == .ask ? .presenceRequired(name.text, policy.require) : refused(.get, permit, name, policy)
    } catch {
      throw refusal(error, name, &id)
    }
  }
}

extension ItemInfo {
  /// True when everything that a copy takes over from an item, except its value, is the same.
  fileprivate func isDescribed(as other: ItemInfo) -> Bool {
    kind == other.kind && use == other.use && attributes == ImportMark.unmarked(other.attributes)
      && policy == other.policy && expires == other.expires && hasFacts(of: other)
  }
  /// True when a copy of `other` would leave this item's facts for a keyring's clients unchanged.
  private func hasFacts(of other: ItemInfo) -> Bool {
    guard let wanted = other.keyring else { return true }
    return keyring.map { wanted.copied(as: $0.id, order: $0.order) == $0.copied(as: $0.id, order: $0.order) } ?? false
  }
}
