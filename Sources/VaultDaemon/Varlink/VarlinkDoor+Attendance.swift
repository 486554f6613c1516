internal import VaultModel
internal import VaultService
internal import VaultWire

// Attend and Dismiss.
extension VarlinkDoor {
  func attend(_ call: Wire.AttendParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    connection.fail(Refusal.invalid("faces"))
  }

  func dismiss(_ call: Wire.DismissParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    connection.fail(Refusal.invalid("inquiry"))
  }

  func receipt(_ call: Wire.ReceiptParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    connection.fail(Refusal.invalid("name"))
  }
}
