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
///
/// A session bus passes on replies that nobody waits for, and sd-bus takes any message with a call's number for the
/// reply to that call. So each call has a random number, which nobody can guess before the call is sent, and the sender
/// of the reply is checked.
@safe final class BusCall {
  private var then: ((Result<BusMessage, BusError>) -> Void)?
  // Owned by this object until the call ends. The slot holds an unowned pointer to this object, so this object releases
  // the slot before it goes away.
  private var slot: OpaquePointer?
  var onEnd: () -> Void = {}
  /// Makes the call once more.
  var again: () -> Void = {}
  private var destination = ""

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

  /// Queues the call; returns a negative errno when it cannot be made.
  func send(
    _ method: BusMethod, _ arguments: [BusValue], starts: Bool, limit: TimeAmount, on connection: OpaquePointer
  ) -> Int32 {
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
    let time = UInt64(limit.nanoseconds / 1000)
    let sealed = unsafe sd_bus_message_seal(message, UInt64(UInt32.random(in: Self.numbers)), time)
    if sealed < 0 { return sealed }
    destination = method.object.destination
    return unsafe sd_bus_call_async(
      connection, &slot, message,
      { message, call, _ in
        guard let message = unsafe message, let call = unsafe call else { return 0 }
        unsafe Unmanaged<BusCall>.fromOpaque(call).takeUnretainedValue().take(BusMessage(message))
        return 1
      }, Unmanaged.passUnretained(self).toOpaque(), time)
  }

  /// The numbers of calls. sd-bus numbers its other messages upward from the largest number so far, which must stay
  /// within 32 bits.
  private static let numbers: ClosedRange<UInt32> = 1 << 20...1 << 31

  private func take(_ reply: BusMessage) {
    guard isAnswer(reply) else {
      // This answer took the place of the true one, which is lost.
      unsafe sd_bus_slot_unref(slot)
      unsafe slot = nil
      if destination == BusMethod.Object.driver.destination { return again() }
      return finish(.failure(.denied("somebody else has answered the call")))
    }
    finish(reply.error.map { .failure($0) } ?? .success(reply))
  }

  /// True if a message comes from where the call went. sd-bus itself makes the error for a call that was not answered
  /// in time, which has no sender.
  private func isAnswer(_ reply: BusMessage) -> Bool {
    let driver = BusMethod.Object.driver.destination
    if destination == driver { return reply.isOfDriver }
    // The bus answers for a service that is not there.
    guard let sender = reply.sender, sender != driver else { return reply.error != nil }
    // The owner of a well-known name has a unique one.
    return destination.hasPrefix(":") ? sender == destination : sender.hasPrefix(":")
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
