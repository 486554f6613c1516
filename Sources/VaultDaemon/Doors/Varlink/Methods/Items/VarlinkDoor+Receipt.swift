internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// Receipt.
extension VarlinkDoor {
  func receipt(_ call: Wire.ReceiptParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answerFromVault(connection) { () throws(Refusal) in
      try items.receipt(
        call.version, of: try Self.itemName(call.name), succeeded: call.succeeded, isHeld: call.held ?? false,
        detail: call.detail, for: connection.caller)
      notices.set(
        call.notice, of: connection.caller, isSystem: access.terms.isSystem, connection.peerProcess,
        at: vault.clock.wall())
      connection.reply(Wire.Empty())
    }
  }
}
