internal import VaultModel
internal import VaultService
internal import VaultWire

// Receipt.
extension VarlinkDoor {
  func receipt(_ call: Wire.ReceiptParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answerFromVault(connection) { () throws(Refusal) in
      try items.receipt(
        call.version, of: try Self.itemName(call.name), succeeded: call.succeeded, detail: call.detail,
        for: connection.caller)
      connection.reply(Wire.Empty())
    }
  }
}
