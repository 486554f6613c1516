internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// IssueToken, VerifyToken and RevokeToken.
extension VarlinkDoor {
  func issueToken(_ call: Wire.IssueTokenParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let name = try Self.itemName(call.name)
      let wanted = WantedToken(subject: call.subject, lifetime: call.lifetime.map(Int64.init), claims: call.claims)
      let order = items.rsaOrder(for: connection.caller)
      let token = AskedUse(of: name, waiting: call.waitMilliseconds, ask: call.ask, said, vault.clock) {
        [items] connection throws(Refusal) in
        let reading = Reading(name, evenExpired: call.expired ?? false, for: connection.caller, said)
        return try items.issue(reading, wanted, order) { made in
          let reply = Wire.IssueTokenReply(name: name.text, version: made.version, id: made.id, expires: made.expires)
          connection.reply(content: ReplyContent(made.accessible)) { writer in
            made.text.withBytes { reply.write(to: &writer, secret: $0) }
          }
        }
      }
      send(token, connection)
    }
  }

  func verifyToken(_ call: Wire.VerifyTokenParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      guard let bytes = SecretField(call.token, nil, frame).bytes(frame) else { throw .invalid("token") }
      let token = SecretBox(bytes)
      let name = try Self.itemName(call.name)
      let check = AskedUse(of: name, waiting: call.waitMilliseconds, ask: call.ask, said, vault.clock) {
        [items] connection throws(Refusal) in
        try items.verify(token.bytes, Reading(name, for: connection.caller, said)) { checked in
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
      send(check, connection)
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
