internal import CLinux
internal import CSystemd
internal import Glibc
internal import VaultProcess

/// A connection to the session's message bus that belongs to one thread, which waits on it.
///
/// sd-bus gets no callbacks: each message comes out of ``next(until:by:)``, and the caller checks who sent it.
@safe final class DesktopBus {
  // Owned by this object until `deinit`.
  private let connection: OpaquePointer

  /// Begins to connect; the calls wait for the bus's greeting.
  ///
  /// - Parameter address: the address of the bus; nil for the session's own.
  init(_ address: String?) throws(FaceError) {
    var made: OpaquePointer?
    var result: Int32
    if let address {
      result = unsafe sd_bus_new(&made)
      // sd-bus copies the address.
      if result >= 0 { result = unsafe sd_bus_set_address(made, address) }
      if result >= 0 { result = unsafe sd_bus_set_bus_client(made, 1) }
      if result >= 0 { result = unsafe sd_bus_start(made) }
    } else {
      result = unsafe sd_bus_open_user(&made)
    }
    guard result >= 0, let made = unsafe made else {
      unsafe sd_bus_unref(made)
      throw .unavailable("there is no session bus (\(SystemText.of(-result)))")
    }
    unsafe connection = made
  }

  // No flush is needed: sd-bus writes each message when it is sent, unless the bus does not read.
  deinit { unsafe sd_bus_close_unref(connection) }

  /// Sends a method call; returns the number by which its reply is known.
  func send(
    to destination: String, _ path: String, _ interface: String, _ member: String,
    _ arguments: (DesktopMessage) throws(FaceError) -> Void
  ) throws(FaceError) -> UInt64 {
    var made: OpaquePointer?
    let result = unsafe sd_bus_message_new_method_call(connection, &made, destination, path, interface, member)
    guard result >= 0, let made = unsafe made else { throw .unavailable("\(member): \(SystemText.of(-result))") }
    let message = unsafe DesktopMessage(owning: made)
    try arguments(message)
    var cookie: UInt64 = 0
    let sent = unsafe message.withPointer { unsafe sd_bus_send(connection, $0, &cookie) }
    guard sent >= 0 else { throw .unavailable("\(member): \(SystemText.of(-sent))") }
    return cookie
  }

  /// Waits for a message.
  ///
  /// - Parameters:
  ///   - withdrawal: ends the wait with ``FaceError/withdrawn``.
  ///   - deadline: `CLOCK_MONOTONIC` microseconds; nil for no end.
  func next(until withdrawal: Withdrawal?, by deadline: UInt64?) throws(FaceError) -> DesktopMessage {
    while true {
      // The check comes before each message, so that a flood of messages cannot keep a question from being withdrawn.
      if let withdrawal, withdrawal.isRaised { throw .withdrawn }
      var message: OpaquePointer?
      let result = unsafe sd_bus_process(connection, &message)
      guard result >= 0 else { throw .unavailable("the session bus went away (\(SystemText.of(-result)))") }
      if let message = unsafe message { return unsafe DesktopMessage(owning: message) }
      if let deadline, Clock.now() >= deadline { throw .unavailable("no answer in time") }
      if result == 0 { try wait(withdrawal, deadline) }
    }
  }

  private func wait(_ withdrawal: Withdrawal?, _ deadline: UInt64?) throws(FaceError) {
    let descriptor = unsafe sd_bus_get_fd(connection)
    let events = unsafe sd_bus_get_events(connection)
    var due = UInt64.max
    guard unsafe descriptor >= 0 && events >= 0 && sd_bus_get_timeout(connection, &due) >= 0 else {
      throw .unavailable("the session bus went away")
    }
    due = min(due, deadline ?? .max)
    let now = Clock.now()
    let pause = due == .max ? -1 : Int32(clamping: due > now ? (due - now + 999) / 1000 : 0)
    var polled = [
      pollfd(fd: descriptor, events: Int16(events), revents: 0),
      pollfd(fd: withdrawal?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&polled, 2, pause)
  }
}
