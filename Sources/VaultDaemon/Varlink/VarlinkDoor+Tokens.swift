internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// IssueToken, VerifyToken and RevokeToken.
extension VarlinkDoor {
  func issueToken(_ call: Wire.IssueTokenParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      send(AskedToken(call, try Self.itemName(call.name), said, vault.clock), connection)
    }
  }

  func verifyToken(_ call: Wire.VerifyTokenParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let token = SecretField(call.token, nil, frame)
      guard let bytes = token.bytes(frame) else { throw .invalid("token") }
      send(
        AskedVerification(call, try Self.itemName(call.name), said, PresentedToken(bytes), vault.clock), connection)
    }
  }

  func revokeToken(_ call: Wire.RevokeTokenParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let revoked: Items.RevokedTokens
      switch (call.id, call.subject) {
      case (let id?, nil): revoked = .one(id)
      case (nil, let subject?): revoked = .all(of: subject)
      default: throw .invalid(call.id == nil ? "id" : "subject")
      }
      let (list, version) = try items.revoke(revoked, of: try Self.itemName(call.name), for: connection.caller)
      connection.reply(Wire.RevokeTokenReply(list: list.text, version: version))
    }
  }
}

/// The token that a call of IssueToken asks for.
private struct AskedToken: AskedItem {
  let name: ItemName
  let evenExpired: Bool
  let said: Said
  let action = AuditAction.use
  let asks: Bool
  let end: Int64?
  private let wanted: WantedToken

  init(_ call: Wire.IssueTokenParameters, _ name: ItemName, _ said: Said, _ clock: Clock) {
    (self.name, evenExpired, self.said) = (name, call.expired ?? false, said)
    wanted = WantedToken(subject: call.subject, lifetime: call.lifetime.map(Int64.init), claims: call.claims)
    asks = call.ask ?? false
    end = VarlinkDoor.end(ofWait: call.waitMilliseconds, asks: asks, clock)
  }

  func send(_ door: VarlinkDoor, _ connection: VarlinkConnection, upTo _: Int) throws(Refusal) -> Wait? {
    try door.items.issue(name, wanted, evenExpired: evenExpired, for: connection.caller, said) { made in
      let reply = Wire.IssueTokenReply(name: name.text, version: made.version, id: made.id, expires: made.expires)
      connection.reply(content: ReplyContent(made.accessible)) { writer in
        made.text.withBytes { reply.write(to: &writer, secret: $0) }
      }
    }
  }
}

/// A token that is to be checked: kept while the call waits, and wiped with it.
private final class PresentedToken {
  let bytes: SecureBytes

  init(_ bytes: consuming SecureBytes) { self.bytes = bytes }
}

/// What a call of VerifyToken asks for.
private struct AskedVerification: AskedItem {
  let name: ItemName
  let said: Said
  let action = AuditAction.use
  let asks: Bool
  let end: Int64?
  private let token: PresentedToken

  init(
    _ call: Wire.VerifyTokenParameters, _ name: ItemName, _ said: Said, _ token: PresentedToken, _ clock: Clock
  ) {
    (self.name, self.said, self.token, asks) = (name, said, token, call.ask ?? false)
    end = VarlinkDoor.end(ofWait: call.waitMilliseconds, asks: asks, clock)
  }

  func send(_ door: VarlinkDoor, _ connection: VarlinkConnection, upTo _: Int) throws(Refusal) -> Wait? {
    try door.items.verify(token.bytes, of: name, for: connection.caller, said) { checked in
      switch checked {
      case .fault(let reason):
        connection.reply(Wire.VerifyTokenReply(name: name.text, valid: false, fault: reason))
      case .valid(let token):
        connection.reply(
          Wire.VerifyTokenReply(
            name: name.text, valid: true, version: token.version, id: token.id, subject: token.subject,
            expires: token.expires, claims: token.claims))
      }
    }
  }
}
