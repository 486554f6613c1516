internal import CSystemd

extension Bus {
  /// Asks for a property; `then` gets a message to read its variant from.
  func property(
    _ name: String, of object: BusMethod.Object, then: @escaping (Result<BusMessage, BusError>) -> Void
  ) {
    let get = BusMethod.Object(
      destination: object.destination, path: object.path, interface: "org.freedesktop.DBus.Properties")
    call(get.method("Get"), [.string(object.interface), .string(name)], starts: false, then: then)
  }

  /// Sends a signal.
  ///
  /// - Parameter receiver: the unique name of the only connection that gets the signal; nil for all that listen.
  func signal(
    _ member: String, of interface: String, at path: String, to receiver: String?,
    _ write: (BusWriter) throws(BusError) -> Void
  ) throws(BusError) {
    guard let connection = unsafe connection, isConnected else { throw .disconnected }
    var made: OpaquePointer?
    let result = unsafe sd_bus_message_new_signal(connection, &made, path, interface, member)
    guard let message = unsafe made, result >= 0 else { throw .malformed }
    defer { unsafe sd_bus_message_unref(message) }
    unsafe sd_bus_message_sensitive(message)
    if let receiver, unsafe sd_bus_message_set_destination(message, receiver) < 0 { throw .malformed }
    let writer = unsafe BusWriter(message)
    try write(writer)
    guard writer.failure == 0 else { throw .malformed }
    unsafe send(message)
  }

  /// Sends a message that was made for this connection; drops a message that was made for an earlier connection.
  func send(_ message: OpaquePointer) {
    guard let connection = unsafe connection, unsafe sd_bus_message_get_bus(message) == connection else { return }
    // This fails only when the connection is about to be lost, or for a message that could not be delivered.
    _ = unsafe sd_bus_send(connection, message, nil)
    sent()
  }

  /// The id of the bus, in hexadecimal digits; nil while there is no connection. Another bus has another id, and gives
  /// the same unique names to others.
  var id: String? {
    guard let connection = unsafe connection, isConnected else { return nil }
    var id = sd_id128_t()
    guard unsafe sd_bus_get_bus_id(connection, &id) >= 0 else { return nil }
    let digits = Array("0123456789abcdef")
    return unsafe withUnsafeBytes(of: id) { bytes in
      unsafe String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
  }
}
