internal import VaultCore
package import VaultModel
internal import VaultStore

extension Items {
  /// Stores a copy of an item under another name, with its current value, kind, attributes, policies and expiry, and tells
  /// the number of the version it made there.
  ///
  /// It needs of the source what ``get(_:version:evenExpired:for:_:)`` needs, or, of a key that is never read, to be an
  /// administrator; and of the target what a new item needs. What is replaced keeps its versions, and has
  /// to be shown what its policy asks for: the source's takes its place.
  ///
  /// - Parameter long: what was prepared for it; see ``prepare(_:_:for:)``.
  package func copy(
    _ source: ItemName, to target: ItemName, replacing: Bool, evenExpired: Bool, _ long: LongChange? = nil,
    for caller: Caller
  ) throws(Refusal) -> Int {
    // Whoever has the copy has the value of the source.
    try vault.audit.recording(
      Audit.Deed(action: .get, item: source, detail: "copied to \(target.text)"),
      Audit.Deed(action: .set, item: target, detail: Self.detail(ofCopyOf: source)), caller
    ) { course throws(Refusal) in
      let version = try makeCopy(of: source, target, replacing, evenExpired, long, caller, &course)
      vault.hooks.announce(.item(target, stored: version))
      return version
    }
  }

  /// The version of `target` where that is such a copy of `source` already: the same value, kind, attributes, policies and
  /// expiry.
  ///
  /// It needs of both what ``get(_:version:evenExpired:for:_:)`` needs, since it tells whether two values are the same.
  ///
  /// - Throws: that `target` exists where it is anything else. Both are recorded then, too: they were compared.
  package func copied(
    _ source: ItemName, to target: ItemName, evenExpired: Bool, for caller: Caller
  ) throws(Refusal) -> Int {
    try vault.audit.recording(
      Audit.Deed(action: .use, item: source, detail: "compared with \(target.text)"),
      Audit.Deed(action: .use, item: target, detail: "compared with \(source.text)"), caller
    ) { course throws(Refusal) in
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
    _ caller: Caller, _ course: inout Audit.Course
  ) throws(Refusal) -> Int {
    let keychain = try vault.keychain()
    let permit = try permit(.set, on: target, for: caller)
    course.side = .source
    let taking = try self.permit(.get, on: source, for: caller)
    course.side = .target
    try checkTarget(permit, target, keychain, replacing, for: caller, &course.target)
    let change = { (item: ItemInfo) throws(Refusal) -> ItemChange in
      try self.check(.set, permit, target, item.policy, for: caller)
      if source == target { throw .alreadyExists(target.text) }
      return self.copyChange(of: item, target, replacing, caller)
    }
    let now = vault.clock.wall()
    let ahead = long?.ahead
    if let ahead, ahead.hasValue {
      course.side = .source
      let (item, digest) = try reading(source, taking, caller, &course.source) { decide throws(VaultError) in
        try keychain.checkReading(of: source, now: now, evenExpired: evenExpired, if: decide)
      }
      course.side = .target
      let change = try change(item)
      let stored = try storing(change, &course.target) { () throws(VaultError) in
        try keychain.set(change, valueOf: ahead, from: digest, now: now)
      }
      if let stored {
        course.target = stored.item
        return stored.number
      }
    }
    defer { valueInHand.empty() }
    course.side = .source
    let item = try take(source, taking, keychain, evenExpired, for: caller, &course.source)
    course.side = .target
    let new = try change(item)
    let stored = try storing(new, &course.target) { () throws(VaultError) in
      try valueInHand.withBytes { (value: RawSpan) throws(VaultError) in
        try keychain.set(new, value: value, now: now, ahead: ahead)
      }
    }
    course.target = stored.item
    return stored.number
  }

  /// Stores a copy.
  private func storing<Stored>(
    _ change: ItemChange, _ id: inout ItemID?, _ body: () throws(VaultError) -> Stored
  ) throws(Refusal) -> Stored {
    do throws(VaultError) { return try body() } catch {
      throw refusal(error, change.name, kind: change.kind, &id)
    }
  }

  private func copyChange(
    of item: ItemInfo, _ target: ItemName, _ replacing: Bool, _ caller: Caller
  ) -> ItemChange {
    ItemChange(
      name: target, kind: item.kind, use: item.use, attributes: item.attributes, accessible: item.policy.accessible,
      require: item.policy.require, reuseWindow: item.policy.reuseWindow, neverRead: item.policy.isNeverRead,
      origin: .copied, expires: .some(item.expires), author: author(caller), update: replacing)
  }

  /// The change of the target that a copy will make, before the value is looked at; nil where it will be refused.
  func copyChange(
    _ source: ItemName, _ target: ItemName, _ replacing: Bool, _ keychain: Keychain, for caller: Caller
  ) throws(Refusal) -> ItemChange? {
    let permit = try permit(.set, on: target, for: caller)
    let taking = try self.permit(.get, on: source, for: caller)
    var id: ItemID?
    try checkTarget(permit, target, keychain, replacing, for: caller, &id)
    let item = try item(source)
    switch access.decide(copyOf: item.policy, taking, for: caller) {
    case .allow, .allowWithin: break
    case .ask: throw .presenceRequired(source.text, item.policy.require)
    case .refuse: throw refused(.get, taking, source, item.policy)
    }
    try check(.set, permit, target, item.policy, for: caller)
    return source == target ? nil : copyChange(of: item, target, replacing, caller)
  }

  /// Lends a new secret to `answer`. It is about no item, so nobody is refused.
  package func generate(_ recipe: NewValue.Recipe, _ answer: (RawSpan) -> Void) throws(Refusal) {
    defer { Stack.wipe() }
    do throws(VaultError) { try Self.draw(recipe).withBytes { answer($0) } } catch {
      throw vault.refusal(error, "")
    }
  }

  /// Decides whether the target may be what the source is.
  ///
  /// - Parameter id: the item that is there.
  private func checkTarget(
    _ permit: Permit, _ target: ItemName, _ keychain: Keychain, _ replacing: Bool, for caller: Caller,
    _ id: inout ItemID?
  ) throws(Refusal) {
    // One that cannot be read may ask for anything: it is no reason to let a change through.
    let old: ItemInfo?
    do throws(VaultError) { old = try keychain.item(named: target) } catch .noSuchItem { old = nil } catch {
      throw vault.refusal(error, target.text)
    }
    guard let old else { return }
    id = old.id
    try check(.set, permit, target, old.policy, for: caller)
    guard replacing else { throw .alreadyExists(target.text) }
    try checkPolicyChange(permit, target, old.policy, for: caller)
  }

  /// Takes the value of the source in hand.
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

  /// Reads an item with what decides whether its caller may.
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
  /// True when all that a copy takes over of an item beside its value is the same.
  fileprivate func isDescribed(as other: ItemInfo) -> Bool {
    kind == other.kind && use == other.use && attributes == other.attributes && policy == other.policy
      && expires == other.expires
  }
}
