internal import CSystemd
internal import NIOCore

/// A method of an object on the bus.
struct BusMethod {
  struct Object {
    /// The bus itself.
    static let driver = Object(
      destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")

    var destination: String
    var path: String
    var interface: String

    func method(_ member: String) -> BusMethod { BusMethod(object: self, member: member) }
  }

  var object: Object
  var member: String
}

/// A call that waits for its reply. It ends once: with the reply, at the time limit, or with the connection.
@safe final class BusCall {
  private var then: ((Result<BusMessage, BusError>) -> Void)?
  // Owned by this object until the call ends. The slot holds an unowned pointer to this object, so this object releases
  // the slot before it goes away.
  private var slot: OpaquePointer?
  /// True for a call of the bus itself.
  private var isOfDriver = false
  /// Makes the call once more.
  var again: () -> Void = {}
  var onEnd: () -> Void = {}

  var isOver: Bool { then == nil }

  init(_ then: @escaping (Result<BusMessage, BusError>) -> Void) { self.then = then }

  deinit { unsafe sd_bus_slot_unref(slot) }

  func finish(_ result: Result<BusMessage, BusError>) {
    guard let then else { return }
    self.then = nil
    unsafe sd_bus_slot_unref(slot)
    unsafe slot = nil
    onEnd()
    (onEnd, again) = ({}, {})
    then(result)
  }

  private func take(_ reply: BusMessage) {
    guard reply.isOfDriver || !isOfDriver else {
      // Every program that knows a call's number can send a reply to it, and sd-bus takes the first one for the answer.
      // The bus's own reply comes to nobody then, so the bus is asked again.
      unsafe sd_bus_slot_unref(slot)
      unsafe slot = nil
      return again()
    }
    finish(reply.error.map { .failure($0) } ?? .success(reply))
  }

  /// Queues the call; returns a negative errno when it cannot be made.
  func send(
    _ method: BusMethod, _ arguments: [BusValue], starts: Bool, limit: TimeAmount, on connection: OpaquePointer
  ) -> Int32 {
    isOfDriver = method.object.destination == BusMethod.Object.driver.destination
    var made: OpaquePointer?
    let result = unsafe sd_bus_message_new_method_call(
      connection, &made, method.object.destination, method.object.path, method.object.interface, method.member)
    guard let message = unsafe made, result >= 0 else { return result }
    defer { unsafe sd_bus_message_unref(message) }
    for argument in arguments {
      let result = unsafe Self.append(argument, to: message)
      if result < 0 { return result }
    }
    unsafe sd_bus_message_set_auto_start(message, starts ? 1 : 0)
    return unsafe sd_bus_call_async(
      connection, &slot, message,
      { message, call, _ in
        guard let message = unsafe message, let call = unsafe call else { return 0 }
        unsafe Unmanaged<BusCall>.fromOpaque(call).takeUnretainedValue().take(BusMessage(message))
        return 1
      }, Unmanaged.passUnretained(self).toOpaque(), UInt64(limit.nanoseconds / 1000))
  }

  private static func append(_ value: BusValue, to message: OpaquePointer) -> Int32 {
    switch value {
    case .string(let text):
      return unsafe text.withCString { unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "s")), $0) }
    case .flag(let flag):
      var number: Int32 = flag ? 1 : 0
      return unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "b")), &number)
    case .unsigned(var number):
      return unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "u")), &number)
    }
  }
}
