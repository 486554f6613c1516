internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// Set, SetMany, Copy and Generate.
extension VarlinkDoor {
  func set(_ call: Wire.SetParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    do throws(Refusal) {
      try vault.checkStore()
      let field = SecretField(call.value, call.data, frame)
      let change = try call.change()
      let value = call.newValue(field)
      if case .generated(.key(let recipe)) = value, recipe.takesLong {
        return try make(recipe, for: change, connection)
      }
      let stored = try items.set(change, value, for: connection.caller) { bytes in field.copy(frame, into: &bytes) }
      reply(to: change, stored, connection)
    } catch {
      connection.fail(error)
    }
  }

  private func reply(to change: ItemChange, _ stored: StoredVersion, _ connection: VarlinkConnection) {
    connection.reply(
      Wire.SetReply(
        version: stored.number, pastExpiry: stored.pastExpiry,
        openTo: stored.number == 1 ? others(on: [change.name], connection) : nil))
  }

  /// Has a key be made beside the loop, after those of other users, and stores it when it is there.
  private func make(
    _ recipe: KeyRecipe, for change: ItemChange, _ connection: VarlinkConnection
  ) throws(Refusal) {
    let use = try items.useOfNewKey(change, for: connection.caller)
    try keyMaker.make(recipe, for: use, change.name, by: connection.caller.uid) { [weak connection] in
      connection?.isStillAsking == true
    } then: { [weak self, weak connection] made in
      guard let self, let connection, connection.isStillAsking else { return }
      answer(connection) { () throws(Refusal) in
        switch made {
        case .success(let key):
          let stored = try items.set(change, .bytes(count: key.bytes.count), for: connection.caller) { bytes in
            key.bytes.withBytes { bytes.copy($0) }
            return true
          }
          reply(to: change, stored, connection)
        case .failure(let error):
          throw .invalidValue(kind: change.newKind.rawValue, reason: error.reason)
        }
      }
    }
    connection.hold {}
    connection.current.holdsName = true
  }

  func setMany(_ call: Wire.SetManyParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    do throws(BatchRefusal) {
      var changes: [(change: ItemChange, value: NewValue)] = []
      var fields: [SecretField] = []
      do throws(Refusal) {
        try vault.checkStore()
        try CallWeight.check(count: call.items.count)
      } catch {
        throw BatchRefusal(index: nil, refusal: error)
      }
      for (index, new) in call.items.enumerated() {
        let field = SecretField(new.value, new.data, frame)
        fields.append(field)
        do throws(Refusal) { changes.append((try new.change(), new.newValue(field).madeAtOnce)) } catch {
          throw BatchRefusal(index: index, refusal: error)
        }
      }
      let stored = try items.set(changes, for: connection.caller) { index, bytes in
        fields[index].copy(frame, into: &bytes)
      }
      let new = zip(changes, stored).filter { $1.number == 1 }.map(\.0.change.name)
      connection.reply(Wire.SetManyReply(versions: stored.map(\.number), openTo: others(on: new, connection)))
    } catch {
      connection.fail(Fault(error.refusal, failed: error.index))
    }
  }
}

extension VarlinkDoor {
  func copy(_ call: Wire.CopyParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let target = try Self.itemName(call.to)
      let version = try items.copy(
        try Self.itemName(call.from), to: target, replacing: call.replace ?? false,
        evenExpired: call.expired ?? false, for: connection.caller)
      connection.reply(
        Wire.CopyReply(version: version, openTo: version == 1 ? others(on: [target], connection) : nil))
    }
  }

  func generate(_ call: Wire.GenerateParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      guard let recipe = call.recipe.drawn else { throw .invalidValue(kind: "", reason: Wire.Generator.unknown) }
      try items.generate(recipe) { value in
        // It may become the value of any item.
        connection.reply(content: ReplyContent(.whenUnlocked)) { Wire.GenerateReply().write(to: &$0, secret: value) }
      }
    }
  }
}

extension Wire.Generator {
  fileprivate static let unknown =
    "what can be generated is a password, a phrase, or a key by ed25519, p256, rsa (3072 or 4096 bits) or hmac"

  /// What is to be drawn; nil where nobody knows it.
  fileprivate var drawn: NewValue.Recipe? {
    switch style {
    case "password": .password(length: length ?? 24, symbols: symbols ?? true)
    case "phrase": .phrase(words: length ?? 6)
    case "ed25519" where length == nil: .key(.ed25519)
    case "p256" where length == nil: .key(.p256)
    case "rsa" where KeyRecipe.rsaBits.contains(length ?? 3072): .key(.rsa(bits: length ?? 3072))
    case "hmac" where length == nil: .key(.hmac)
    default: nil
    }
  }
}

extension NewValue {
  /// The same where it can be made within a call for many items.
  fileprivate var madeAtOnce: NewValue {
    guard case .generated(.key(let recipe)) = self, recipe.takesLong else { return self }
    return .wrong("an RSA key takes long to make; store it by itself")
  }
}

/// The part that one new item and one of many have in common.
private protocol NewItemFields {
  var name: String { get }
  var generate: Wire.Generator? { get }
  var kind: String? { get }
  var use: String? { get }
  var attributes: [String: String]? { get }
  var accessible: String? { get }
  var require: String? { get }
  var reuse: Int? { get }
  var expires: Int64? { get }
  var update: Bool? { get }
}

extension Wire.SetParameters: NewItemFields {}
extension Wire.NewItem: NewItemFields {}

extension NewItemFields {
  /// The source of its value.
  fileprivate func newValue(_ field: SecretField) -> NewValue {
    if let generate {
      guard case .absent = field else { return .wrong("give a value or have one generated, not both") }
      return generate.drawn.map { .generated($0) } ?? .wrong(Wire.Generator.unknown)
    }
    switch field {
    case .absent: return .same
    case .invalid: return .wrong(NewValue.unreadable)
    case .text(_, let count), .base64(_, let count): return .bytes(count: count)
    }
  }

  /// The change in the vault's words. An expiry of 0 means never.
  fileprivate func change() throws(Refusal) -> ItemChange {
    var change = ItemChange(name: try VarlinkDoor.itemName(name), update: update ?? false)
    if let kind {
      guard let known = ItemKind(rawValue: kind) else {
        throw .invalidValue(kind: kind, reason: "there is no such kind")
      }
      change.kind = known
    }
    if let use {
      guard let known = KeyUse(name: use) else { throw .invalid("use") }
      change.use = known
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
