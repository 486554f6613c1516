internal import VaultCore
package import VaultModel
internal import VaultStore

extension Items {
  /// Stores a copy of an item under another name, with its current value, kind, attributes, policies and expiry, and tells
  /// the number of the version it made there.
  ///
  /// It needs of the source what ``get(_:version:evenExpired:for:_:)`` needs, and of the target what a new item needs. What is replaced keeps its versions, and has
  /// to be shown what its policy asks for: the source's takes its place.
  ///
  /// - Parameter long: what was prepared for it; see ``prepare(_:_:for:)``.
  package func copy(
    _ source: ItemName, to target: ItemName, replacing: Bool, evenExpired: Bool, _ long: LongChange? = nil,
    for caller: Caller
  ) throws(Refusal) -> Int {
    try vault.audit.recording(.set, caller, target.text, detail: Self.detail(ofCopyOf: source)) {
      () throws(Refusal) in try makeCopy(of: source, target, replacing, evenExpired, long, caller)
    }
  }

  package static func detail(ofCopyOf source: ItemName) -> String { "copy of \(source.text)" }

  private func makeCopy(
    of source: ItemName, _ target: ItemName, _ replacing: Bool, _ evenExpired: Bool, _ long: LongChange?,
    _ caller: Caller
  ) throws(Refusal) -> Int {
    let keychain = try vault.keychain()
    let permit = try permit(.set, on: target, for: caller)
    let taking = try self.permit(.get, on: source, for: caller)
    try checkTarget(permit, target, keychain, replacing, for: caller)
    defer { valueInHand.empty() }
    let item = try take(source, taking, keychain, evenExpired, for: caller)
    try check(.set, permit, target, item.policy, for: caller)
    if source == target { throw .alreadyExists(target.text) }
    let change = copyChange(of: item, target, replacing, caller)
    let version: Int
    do throws(VaultError) {
      version = try valueInHand.withBytes { (value: RawSpan) throws(VaultError) in
        try keychain.set(change, value: value, now: vault.clock.wall(), ahead: long?.ahead).number
      }
    } catch {
      throw vault.refusal(error, target.text, kind: item.kind)
    }
    vault.hooks.announce(.item(target, stored: version))
    return version
  }

  private func copyChange(
    of item: ItemInfo, _ target: ItemName, _ replacing: Bool, _ caller: Caller
  ) -> ItemChange {
    ItemChange(
      name: target, kind: item.kind, use: item.use, attributes: item.attributes, accessible: item.policy.accessible,
      require: item.policy.require, reuseWindow: item.policy.reuseWindow, expires: .some(item.expires),
      author: author(caller), update: replacing)
  }

  /// The change of the target that a copy will make, before the value is looked at; nil where it will be refused.
  func copyChange(
    _ source: ItemName, _ target: ItemName, _ replacing: Bool, _ keychain: Keychain, for caller: Caller
  ) throws(Refusal) -> ItemChange? {
    let permit = try permit(.set, on: target, for: caller)
    let taking = try self.permit(.get, on: source, for: caller)
    try checkTarget(permit, target, keychain, replacing, for: caller)
    let item = try item(source)
    try check(.get, taking, source, item.policy, for: caller)
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
  private func checkTarget(
    _ permit: Permit, _ target: ItemName, _ keychain: Keychain, _ replacing: Bool, for caller: Caller
  ) throws(Refusal) {
    // One that cannot be read may ask for anything: it is no reason to let a change through.
    let old: ItemInfo?
    do throws(VaultError) { old = try keychain.item(named: target) } catch .noSuchItem { old = nil } catch {
      throw vault.refusal(error, target.text)
    }
    guard let old else { return }
    try check(.set, permit, target, old.policy, for: caller)
    guard replacing else { throw .alreadyExists(target.text) }
    try checkPolicyChange(permit, target, old.policy, for: caller)
  }

  /// Takes the value of the source in hand.
  private func take(
    _ source: ItemName, _ permit: Permit, _ keychain: Keychain, _ evenExpired: Bool, for caller: Caller
  ) throws(Refusal) -> ItemInfo {
    var requirement = Requirement.none
    do throws(VaultError) {
      return try keychain.withValue(of: source, now: vault.clock.wall(), evenExpired: evenExpired) { item in
        requirement = item.policy.require
        return access.decide(.get, permit, item.policy, for: caller)
      } _: { item, _, value in
        valueInHand.fill(count: value.byteCount) { $0.copy(value) }
        return item
      }
    } catch .notAllowed(let decision) {
      throw decision == .ask ? .presenceRequired(source.text, requirement) : denied
    } catch {
      throw vault.refusal(error, source.text)
    }
  }
}
