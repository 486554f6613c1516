internal import CSystemd

/// A part of the connection to a bus, which is set up anew on each connection.
protocol BusPart: AnyObject {
  /// Sets the part up on a connection, on which it is not set up yet.
  func install(on connection: OpaquePointer)
  /// Takes the part down; safe to call twice.
  func remove()
}

/// A match rule for messages, which is in effect while the match is a part of a ``Bus``.
@safe final class BusMatch: BusPart {
  private let rule: String
  private let handler: (BusMessage) -> Void
  private let refused: (() -> Void)?
  // Owned by this object while there is a connection; the slot holds an unowned pointer to this object.
  private var slot: OpaquePointer?

  /// - Parameter refused: runs when the bus refuses the rule, because a connection may have only so many rules. Without
  ///   this closure, a refusal ends the connection.
  init(_ rule: String, refused: (() -> Void)? = nil, _ handler: @escaping (BusMessage) -> Void) {
    self.rule = rule
    self.handler = handler
    self.refused = refused
  }

  deinit { remove() }

  /// Asks the bus for matching messages.
  func install(on connection: OpaquePointer) {
    let installed: sd_bus_message_handler_t = { message, match, _ in
      guard let message = unsafe message, let match = unsafe match else { return 0 }
      unsafe Unmanaged<BusMatch>.fromOpaque(match).takeUnretainedValue().take(BusMessage(message))
      return 0
    }
    unsafe sd_bus_add_match_async(
      connection, &slot, rule,
      { message, match, _ in
        guard let message = unsafe message, let match = unsafe match else { return 0 }
        unsafe Unmanaged<BusMatch>.fromOpaque(match).takeUnretainedValue().handler(BusMessage(message))
        // Other matches may want the message, too.
        return 0
      }, installed, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Takes the answer of the bus, or of somebody else: anyone can answer in place of the bus.
  private func take(_ answer: BusMessage) {
    guard answer.isOfDriver else {
      // This answer took the place of the true one, so the bus is asked again.
      guard let connection = unsafe sd_bus_message_get_bus(answer.message) else { return }
      remove()
      return unsafe install(on: connection)
    }
    guard answer.error != nil else { return }
    guard let refused else { return unsafe sd_bus_close(sd_bus_message_get_bus(answer.message)) }
    refused()
  }

  func remove() {
    unsafe sd_bus_slot_unref(slot)
    unsafe slot = nil
  }
}
