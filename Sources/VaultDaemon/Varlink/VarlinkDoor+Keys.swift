internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// Sign, Mac and PublicKey: keys that are used without being read.
extension VarlinkDoor {
  func sign(_ call: Wire.SignParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let message = try Message(call.value, call.data, frame)
      send(AskedSignature(call, try Self.itemName(call.name), said, message, vault.clock), connection)
    }
  }

  func mac(_ call: Wire.MacParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let message = try Message(call.value, call.data, frame)
      var code: [UInt8]?
      if let text = call.mac {
        code = [UInt8](base64: text)
        if code == nil { throw .invalid("mac") }
      }
      send(AskedMAC(call, try Self.itemName(call.name), said, message, code, vault.clock), connection)
    }
  }

  func publicKey(_ call: Wire.PublicKeyParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      guard let name = call.name else {
        if call.format != nil { throw .invalid("format") }
        let key = try items.publicKey(for: connection.caller)
        return connection.reply(Wire.PublicKeyReply(key: key.text, fingerprint: key.fingerprint))
      }
      guard let format = ToldPublicKey.Format(rawValue: call.format ?? "spki") else { throw .invalid("format") }
      let key = try items.publicKey(try Self.itemName(name), format, for: connection.caller)
      connection.reply(Wire.PublicKeyReply(key: key.text, fingerprint: key.fingerprint))
    }
  }
}

/// The message that a call wants signed: kept while the call waits, and wiped with it.
private final class Message {
  /// The longest, in bytes.
  static let limit = 1 << 20

  let bytes: SecureBytes

  init(_ text: Frame.Node?, _ data: Frame.Node?, _ frame: borrowing Frame) throws(Refusal) {
    let field = SecretField(text, data, frame)
    if let count = field.count, count > Self.limit { throw .tooLarge(limit: Self.limit) }
    guard let bytes = field.bytes(frame) else { throw .invalid(text == nil && data == nil ? "value" : "data") }
    self.bytes = bytes
  }
}

/// The signature that a call of Sign asks for.
private struct AskedSignature: AskedItem {
  let name: ItemName
  let evenExpired: Bool
  let said: Said
  let action = AuditAction.use
  let asks: Bool
  let end: Int64?
  private let message: Message
  private let algorithm: String?

  init(_ call: Wire.SignParameters, _ name: ItemName, _ said: Said, _ message: Message, _ clock: Clock) {
    (self.name, evenExpired, self.said, self.message) = (name, call.expired ?? false, said, message)
    (algorithm, asks) = (call.algorithm, call.ask ?? false)
    end = VarlinkDoor.end(ofWait: call.waitMilliseconds, asks: asks, clock)
  }

  func send(_ door: VarlinkDoor, _ connection: VarlinkConnection, upTo _: Int) throws(Refusal) -> Wait? {
    try door.items.sign(
      name, message.bytes, algorithm, evenExpired: evenExpired, for: connection.caller, said
    ) { made in
      connection.reply(
        Wire.SignReply(
          name: name.text, version: made.version, algorithm: made.algorithm, signature: made.bytes.base64,
          der: made.der?.base64))
    }
  }
}

/// The keyed hash that a call of Mac asks for.
private struct AskedMAC: AskedItem {
  let name: ItemName
  let evenExpired: Bool
  let said: Said
  let action = AuditAction.use
  let asks: Bool
  let end: Int64?
  private let message: Message
  private let algorithm: String?
  private let code: [UInt8]?

  init(
    _ call: Wire.MacParameters, _ name: ItemName, _ said: Said, _ message: Message, _ code: [UInt8]?, _ clock: Clock
  ) {
    (self.name, evenExpired, self.said, self.message) = (name, call.expired ?? false, said, message)
    (algorithm, asks, self.code) = (call.algorithm, call.ask ?? false, code)
    end = VarlinkDoor.end(ofWait: call.waitMilliseconds, asks: asks, clock)
  }

  func send(_ door: VarlinkDoor, _ connection: VarlinkConnection, upTo _: Int) throws(Refusal) -> Wait? {
    try door.items.mac(
      name, message.bytes, algorithm, comparing: code, evenExpired: evenExpired, for: connection.caller, said
    ) { made in
      switch made.result {
      case .code(let code):
        connection.reply(Wire.MacReply(name: name.text, version: made.version, mac: code.base64))
      case .isValid(let isValid):
        connection.reply(Wire.MacReply(name: name.text, version: made.version, valid: isValid))
      }
    }
  }
}
