internal import VaultModel
internal import VaultService
internal import VaultWire

// Set and SetMany.
extension VarlinkDoor {
  func set(_ call: Wire.SetParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    do throws(Refusal) {
      try vault.checkStore()
      let field = SecretField(call.value, call.data, frame)
      let stored = try items.set(try call.change(), call.newValue(field), for: connection.caller) { bytes in
        field.copy(frame, into: &bytes)
      }
      connection.reply(Wire.SetReply(version: stored.number, pastExpiry: stored.pastExpiry))
    } catch {
      connection.fail(error)
    }
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
        do throws(Refusal) { changes.append((try new.change(), new.newValue(field))) } catch {
          throw BatchRefusal(index: index, refusal: error)
        }
      }
      let stored = try items.set(changes, for: connection.caller) { index, bytes in
        fields[index].copy(frame, into: &bytes)
      }
      connection.reply(Wire.SetManyReply(versions: stored.map(\.number)))
    } catch {
      connection.fail(Fault(error.refusal, failed: error.index))
    }
  }
}

/// The part that one new item and one of many have in common.
private protocol NewItemFields {
  var name: String { get }
  var generate: Wire.Generator? { get }
  var kind: String? { get }
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
      switch generate.style {
      case "password": return .generated(.password(length: generate.length ?? 24, symbols: generate.symbols ?? true))
      case "phrase": return .generated(.phrase(words: generate.length ?? 6))
      default: return .wrong("a password or a phrase can be generated")
      }
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
