internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// Code.
extension VarlinkDoor {
  func code(_ call: Wire.CodeParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      send(AskedCode(call, try Self.itemName(call.name), said, vault.clock), connection)
    }
  }

  /// The code that a call of Code asks for.
  private struct AskedCode: AskedItem {
    let name: ItemName
    let evenExpired: Bool
    let said: Said
    let action = AuditAction.use
    let asks: Bool
    let end: Int64?

    init(_ call: Wire.CodeParameters, _ name: ItemName, _ said: Said, _ clock: Clock) {
      (self.name, evenExpired, self.said) = (name, call.expired ?? false, said)
      asks = call.ask ?? false
      end = VarlinkDoor.end(ofWait: call.waitMilliseconds, asks: asks, clock)
    }

    func send(_ door: VarlinkDoor, _ connection: VarlinkConnection, upTo _: Int) throws(Refusal) -> Wait? {
      try door.items.code(name, evenExpired: evenExpired, for: connection.caller, said) { made in
        let reply = Wire.CodeReply(
          name: name.text, until: made.until, period: made.period, counter: made.counter.map(Int.init))
        connection.reply(content: ReplyContent(made.accessible)) { writer in
          made.digits.withBytes { reply.write(to: &writer, secret: $0) }
        }
      }
    }
  }
}
