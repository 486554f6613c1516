internal import CSystemd

/// The answer to a call that was let go before it was answered, because it waits for a person; see
/// ``BusRequest/answerLater()``.
@safe final class LateAnswer {
  // sd-bus counts references; this object owns one until `deinit`.
  private let message: OpaquePointer
  private weak var bus: Bus?
  private var isSent = false

  fileprivate init(_ message: OpaquePointer, on bus: Bus?) {
    unsafe self.message = unsafe sd_bus_message_ref(message)
    self.bus = bus
  }

  deinit { unsafe sd_bus_message_unref(message) }

  /// Sends the answer, once. It must have the types that the call promised.
  func send(_ write: (BusWriter) -> Void) {
    guard !isSent else { return }
    isSent = true
    let writer = unsafe BusWriter(message)
    write(writer)
    if writer.failure == 0 { unsafe bus?.send(message) }
  }
}

extension BusRequest {
  /// Lets the call go, so that nothing of it stays in memory, none of its descriptors stays open, and the next calls of
  /// its client are answered meanwhile. The call stays unanswered until the result is sent.
  ///
  /// - Returns: nil if the call was answered with an error instead.
  func answerLater() -> LateAnswer? {
    guard !isAnswered else { return nil }
    var made: OpaquePointer?
    guard unsafe sd_bus_message_new_method_return(message.message, &made) >= 0, let reply = unsafe made else {
      fail(.failed)
      return nil
    }
    defer { unsafe sd_bus_message_unref(reply) }
    unsafe sd_bus_message_sensitive(reply)
    if let refusal = pass(nil) {
      fail(refusal)
      return nil
    }
    let late = unsafe LateAnswer(reply, on: bus)
    giveUp()
    return late
  }
}
