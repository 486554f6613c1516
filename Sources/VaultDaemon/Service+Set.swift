internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Set and SetMany.
extension Service {
  func set(_ call: Wire.SetParameters, _ frame: borrowing Frame, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    personAsked(call.interactive, connection)
    do throws(Fault) {
      let item = NewItem(call)
      let change = try item.change(failed: nil)
      try checkPolicyChange(change, keychain, connection)
      let version: Int
      do throws(VaultError) { version = try store(item, change, frame, keychain) } catch {
        throw fault(error, name: change.name.text, kind: item.kind)
      }
      connection.reply(Wire.SetReply(version: version))
      announceItem(change.name, version == 1 ? .created : .updated)
    } catch {
      connection.fail(error)
    }
  }

  func setMany(_ call: Wire.SetManyParameters, _ frame: borrowing Frame, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    personAsked(call.interactive, connection)
    var items: [NewItem] = []
    var changes: [ItemChange] = []
    var versions: [Int] = []
    do throws(Fault) {
      try CallWeight.check(count: call.items.count)
      items = call.items.map { NewItem($0) }
      for (index, item) in items.enumerated() { changes.append(try item.change(failed: index)) }
      try weigh(changes, keychain).check()
      for change in changes { try checkPolicyChange(change, keychain, connection) }
      do throws(VaultError) {
        // The values are read out of the frame inside the transaction, so one at a time is in the clear.
        try keychain.transaction { () throws(VaultError) in
          for (item, change) in zip(items, changes) { versions.append(try store(item, change, frame, keychain)) }
        }
      } catch {
        let failed = min(versions.count, items.count - 1)
        guard failed >= 0 else { throw Fault(error) }
        throw fault(error, name: changes[failed].name.text, kind: items[failed].kind, failed: failed)
      }
      connection.reply(Wire.SetManyReply(versions: versions))
      for (change, version) in zip(changes, versions) { announceItem(change.name, version == 1 ? .created : .updated) }
    } catch {
      connection.fail(error)
    }
  }

  private func weigh(_ changes: [ItemChange], _ keychain: Keychain) -> CallWeight {
    var weight = CallWeight()
    for change in changes {
      weight.add(change.name, change.attributes)
      // One that cannot be read is refused later, by its own error.
      if change.update, let old = try? keychain.item(named: change.name) { weight.add(old: old, change) }
    }
    return weight
  }

  private func store(
    _ item: NewItem, _ change: ItemChange, _ frame: borrowing Frame, _ keychain: Keychain
  ) throws(VaultError) -> Int {
    let now = clock.wall()
    if let generate = item.generate {
      guard item.value == nil, item.data == nil else {
        throw .invalidValue("give a value or have one generated, not both")
      }
      return try keychain.set(change, value: Self.draw(generate), now: now)
    }
    let field = SecretField(item.value, item.data, frame)
    if case .absent = field { return try keychain.set(change, now: now) }
    defer { valueInHand.empty() }
    guard field.read(frame, into: valueInHand) else {
      throw .invalidValue("give either value or data, and data in base64")
    }
    return try valueInHand.withBytes { (value: RawSpan) throws(VaultError) in
      try keychain.set(change, value: value, now: now)
    }
  }

  private static func draw(_ generate: Wire.Generator) throws(VaultError) -> SecureBytes {
    do throws(CryptoError) {
      switch generate.style {
      case "password":
        return try SecretGenerator.password(length: generate.length ?? 24, symbols: generate.symbols ?? true)
      case "phrase": return try SecretGenerator.phrase(words: generate.length ?? 6)
      default: throw .limits("a password or a phrase can be generated")
      }
    } catch {
      throw .invalidValue(error.reason)
    }
  }
}

/// The part that Set and one item of SetMany have in common.
private struct NewItem {
  let name: String
  let value: Frame.Node?
  let data: Frame.Node?
  let generate: Wire.Generator?
  let kind: String?
  let attributes: [String: String]?
  let accessible: String?
  let require: String?
  let reuse: Int?
  let expires: Int64?
  let update: Bool?

  init(_ call: Wire.SetParameters) {
    (name, value, data, generate, kind) = (call.name, call.value, call.data, call.generate, call.kind)
    (attributes, accessible, require) = (call.attributes, call.accessible, call.require)
    (reuse, expires, update) = (call.reuse, call.expires, call.update)
  }

  init(_ item: Wire.NewItem) {
    (name, value, data, generate, kind) = (item.name, item.value, item.data, item.generate, item.kind)
    (attributes, accessible, require) = (item.attributes, item.accessible, item.require)
    (reuse, expires, update) = (item.reuse, item.expires, item.update)
  }

  /// The change in the store's words. An expiry of 0 means never.
  func change(failed: Int?) throws(Fault) -> ItemChange {
    var change = ItemChange(name: try Service.itemName(name, failed: failed), update: update ?? false)
    if let kind {
      guard let known = ItemKind(rawValue: kind) else {
        throw .invalidValue(kind: kind, reason: "there is no such kind", failed: failed)
      }
      change.kind = known
    }
    change.attributes = attributes
    if let accessible {
      guard let known = AccessClass(name: accessible) else { throw .invalid("accessible") }
      change.accessible = known
    }
    if let require {
      guard let known = Requirement(name: require) else { throw .invalid("require") }
      change.require = known
    }
    if let reuse {
      guard let seconds = UInt32(exactly: reuse), Policy.reuseWindows.contains(seconds) else { throw .invalid("reuse") }
      change.reuseWindow = seconds
    }
    if let expires { change.expires = .some(expires == 0 ? nil : expires) }
    return change
  }
}
