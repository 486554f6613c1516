internal import VaultBytes
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
      vault.audit.isAbout(.set, change.name.text, for: connection.caller)
      let value = call.newValue(field)
      let large = try items.largeKey(change, value, for: connection.caller) { field.copy(frame, into: &$0) }
      if let large { return try store(change, large, connection) }
      try whenPrepared(.set([(change, value)]), connection) { _, bytes in
        field.copy(frame, into: &bytes)
      } _: { long throws(Refusal) in
        let stored = try items.set(change, value, long, for: connection.caller) { bytes in
          field.copy(frame, into: &bytes)
        }
        reply(to: change, stored, connection)
      }
    } catch {
      connection.fail(error)
    }
  }

  /// Does the work of a call once everything that it needs is prepared. Until then, prepares a part of it, and lets the
  /// call come again.
  func whenPrepared<Failure: Error>(
    _ work: ItemWork, _ connection: VarlinkConnection,
    fill: (Int, inout MutableRawSpan) -> Bool = { _, _ in false }, _ body: (LongChange) throws(Failure) -> Void
  ) throws(Failure) {
    let long = connection.current.long ?? LongChange()
    if items.prepare(work, long, for: connection.caller, fill: fill) { return connection.comeAgain(with: long) }
    try body(long)
  }

  private func reply(to change: ItemChange, _ stored: StoredVersion, _ connection: VarlinkConnection) {
    connection.reply(
      Wire.SetReply(
        version: stored.number, pastExpiry: stored.pastExpiry,
        openTo: stored.number == 1 ? others(on: [change.name], connection) : nil))
  }

  /// Stores a large RSA key once a separate process has made or checked it. Such processes start in turns, user by
  /// user. The work ends with the call, because the client may go away.
  private func store(_ change: ItemChange, _ key: LargeKey, _ connection: VarlinkConnection) throws(Refusal) {
    weak var held: RSAOrder?
    let order = items.rsaOrder(for: connection.caller) { [weak self, weak connection] in
      guard let self, let connection else { return }
      turns.wait(connection.share.works) { [weak self, weak connection] in
        guard let self, let connection, let order = held, connection.isStillAsking else { return }
        answer(connection) { () throws(Refusal) in _ = try self.store(change, key, order, connection) }
      }
    }
    held = order
    guard try !store(change, key, order, connection) else { return }
    connection.hold(withName: true) { withExtendedLifetime(order) {} }
  }

  /// Stores the key; false while it waits.
  private func store(
    _ change: ItemChange, _ key: LargeKey, _ order: RSAOrder, _ connection: VarlinkConnection
  ) throws(Refusal) -> Bool {
    guard let stored = try items.store(change, key, order, for: connection.caller) else { return false }
    reply(to: change, stored, connection)
    return true
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
          let detail = Items.detail(ofBatch: call.items.count, isAboutOne: true)
          vault.audit.isAbout(.set, new.name, detail: detail, for: connection.caller)
          throw BatchRefusal(index: index, refusal: error)
        }
      }
      vault.audit.isAbout(
        .set, changes.count == 1 ? changes[0].change.name.text : "", detail: Items.detail(ofUndone: changes.count),
        for: connection.caller)
      try whenPrepared(.set(changes), connection) { index, bytes in
        fields[index].copy(frame, into: &bytes)
      } _: { long throws(BatchRefusal) in
        let stored = try items.set(changes, long, for: connection.caller) { index, bytes in
          fields[index].copy(frame, into: &bytes)
        }
        let new = zip(changes, stored).filter { $1.number == 1 }.map(\.0.change.name)
        connection.reply(Wire.SetManyReply(versions: stored.map(\.number), openTo: others(on: new, connection)))
      }
    } catch {
      connection.fail(error.refusal, failed: error.index)
    }
  }
}

extension VarlinkDoor {
  func copy(_ call: Wire.CopyParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let target = try Self.itemName(call.to)
      let source = try Self.itemName(call.from)
      let replacing = call.replace ?? false
      if call.made == true {
        let version = try items.copied(
          source, to: target, evenExpired: call.expired ?? false, for: connection.caller)
        return connection.reply(Wire.CopyReply(version: version))
      }
      vault.audit.isAbout(.set, target.text, detail: Items.detail(ofCopyOf: source), for: connection.caller)
      try whenPrepared(.copy(source, to: target, replacing: replacing), connection) { long throws(Refusal) in
        let version = try items.copy(
          source, to: target, replacing: replacing, evenExpired: call.expired ?? false, long, for: connection.caller)
        connection.reply(
          Wire.CopyReply(version: version, openTo: version == 1 ? others(on: [target], connection) : nil))
      }
    }
  }

  func generate(_ call: Wire.GenerateParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      guard let recipe = call.recipe.drawn else { throw .invalidValue(kind: "", reason: Wire.Generator.unknown) }
      try items.generate(recipe) { value in
        // The generated value may become the value of any item.
        connection.reply(content: ReplyContent(.whenUnlocked)) { Wire.GenerateReply().write(to: &$0, secret: value) }
      }
    }
  }
}

extension Wire.Generator {
  fileprivate static let unknown =
    "only these can be generated: a password, a phrase, or a key by ed25519, p256, rsa (3072 or 4096 bits) or hmac"

  /// The recipe to generate from; nil for an unknown one.
  fileprivate var drawn: NewValue.Recipe? {
    switch style {
    case "password": .password(length: length ?? 24, symbols: symbols ?? true)
    case "phrase": .phrase(words: length ?? 6)
    default: KeyRecipe(style: style, length: length).map { .key($0) }
    }
  }
}

extension NewValue {
  /// The value itself if it can be made within a call for many items; otherwise an error.
  fileprivate var madeAtOnce: NewValue {
    guard case .generated(.key(let recipe)) = self, recipe.takesLong else { return self }
    return .wrong("an RSA key takes a long time to make; store it by itself")
  }
}

/// The fields that Set and one item of SetMany have in common.
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
  var neverRead: Bool? { get }
}

extension Wire.SetParameters: NewItemFields {}
extension Wire.NewItem: NewItemFields {}

extension NewItemFields {
  /// Returns the source of the item's value.
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

  /// Returns the change in the vault's own types. An expiry of 0 means never.
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
    change.neverRead = neverRead
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
