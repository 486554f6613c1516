internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// Sign, Mac and PublicKey: keys that are used without being read.
extension VarlinkDoor {
  /// The longest message of Sign and Mac, in bytes.
  private static let longestMessage = 1 << 20

  func sign(_ call: Wire.SignParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let message = try Self.message(call.value, call.data, frame)
      let name = try Self.itemName(call.name)
      let order = items.rsaOrder(for: connection.caller)
      let signature = AskedUse(of: name, waiting: call.waitMilliseconds, ask: call.ask, said, vault.clock) {
        [items] connection throws(Refusal) in
        let reading = Reading(name, evenExpired: call.expired ?? false, for: connection.caller, said)
        return try items.sign(reading, message.bytes, call.algorithm, order) { made in
          connection.reply(
            Wire.SignReply(
              name: name.text, version: made.version, algorithm: made.algorithm, signature: made.bytes.base64,
              der: made.der?.base64),
            content: ReplyContent(made.accessible))
        }
      }
      send(signature, connection)
    }
  }

  func mac(_ call: Wire.MacParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let message = try Self.message(call.value, call.data, frame)
      let code = try call.mac.map { (text) throws(Refusal) in
        guard let code = [UInt8](base64: text) else { throw .invalid("mac") }
        return code
      }
      let name = try Self.itemName(call.name)
      let mac = AskedUse(of: name, waiting: call.waitMilliseconds, ask: call.ask, said, vault.clock) {
        [items] connection throws(Refusal) in
        let reading = Reading(name, evenExpired: call.expired ?? false, for: connection.caller, said)
        return try items.mac(reading, message.bytes, call.algorithm, comparing: code) { made in
          let content = ReplyContent(made.accessible)
          switch made.result {
          case .code(let code):
            let text = code.withBytes { bytes in
              SecureBytes(count: Base64.encodedCount(bytes.byteCount)) { Base64.encode(bytes, into: &$0) }
            }
            let reply = Wire.MacReply(name: name.text, version: made.version)
            connection.reply(content: content) { writer in
              text.withBytes { reply.write(to: &writer, secret: $0) }
            }
          case .isValid(let isValid):
            connection.reply(
              Wire.MacReply(name: name.text, version: made.version, valid: isValid), content: content)
          }
        }
      }
      send(mac, connection)
    }
  }

  /// Reads the message of a call to Sign or Mac. It is kept while the call waits, and wiped with the call.
  private static func message(
    _ text: Frame.Node?, _ data: Frame.Node?, _ frame: borrowing Frame
  ) throws(Refusal) -> SecretBox {
    let field = SecretField(text, data, frame)
    if let count = field.count, count > longestMessage { throw .tooLarge(limit: longestMessage) }
    guard let bytes = field.bytes(frame) else { throw .invalid(text == nil && data == nil ? "value" : "data") }
    return SecretBox(bytes)
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
