internal import VaultBytes
import VaultWire

/// One reply that is not an error, with the frame that holds its secrets.
struct Response: ~Copyable {
  let frame: Frame
  let reply: Reply

  /// Receives the next message of `connection`.
  ///
  /// - Throws: ``ClientError/fault(_:)`` for an error in the message.
  init(from connection: Connection, until deadline: Deadline) throws(ClientError) {
    try self.init(try connection.receive(until: deadline))
  }

  /// Reads a message.
  ///
  /// - Throws: ``ClientError/fault(_:)`` for an error in the message.
  init(_ frame: consuming Frame) throws(ClientError) {
    let reply: Reply
    let fault: Fault?
    do {
      reply = try Reply(frame)
      fault = try reply.error.map { name throws(ParameterError) in try Fault(frame, error: name, reply.parameters) }
    } catch {
      throw .protocolViolation("parameter \(error.parameter)")
    }
    if let fault { throw .fault(fault) }
    self.frame = frame
    self.reply = reply
  }

  /// Returns the parameters as `type`.
  borrowing func decode<T: WireValue>(_ type: T.Type = T.self) throws(ClientError) -> T {
    do { return try T(frame, reply.parameters) } catch { throw .protocolViolation("parameter \(error.parameter)") }
  }
}
