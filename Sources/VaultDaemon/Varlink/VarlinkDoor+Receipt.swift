internal import VaultModel
internal import VaultService
internal import VaultWire

// Receipt.
extension VarlinkDoor {
  func receipt(_ call: Wire.ReceiptParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    connection.fail(Refusal.invalid("name"))
  }
}
