internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// Code.
extension VarlinkDoor {
  func code(_ call: Wire.CodeParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let name = try Self.itemName(call.name)
      let code = AskedUse(of: name, waiting: call.waitMilliseconds, ask: call.ask, said, vault.clock) {
        [items] connection throws(Refusal) in
        let reading = Reading(name, evenExpired: call.expired ?? false, for: connection.caller, said)
        return try items.code(reading) { made in
          let reply = Wire.CodeReply(
            name: name.text, until: made.until, period: made.period, counter: made.counter.map(Int.init))
          connection.reply(content: ReplyContent(made.accessible)) { writer in
            made.digits.withBytes { reply.write(to: &writer, secret: $0) }
          }
        }
      }
      send(code, connection)
    }
  }
}
