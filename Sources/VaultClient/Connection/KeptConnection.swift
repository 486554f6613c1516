internal import VaultBytes
import VaultWire

/// Keeps one connection for calls that follow each other, and reconnects when necessary.
final class KeptConnection {
  let location: SocketLocation
  private var connection: Connection?

  init(to location: SocketLocation) { self.location = location }

  /// Calls `method` and returns its one reply.
  ///
  /// If the daemon goes away before it answers, the call is repeated on a new connection, as ``Repetition`` allows.
  /// That is done only if repeating changes nothing (`again`), or if the daemon cannot have received the whole call. So
  /// a restart of the daemon goes unnoticed. A call also fails if the daemon gives no sign of life. For a call that
  /// changes something, it is then unknown if the change was made, as after `timeout`.
  ///
  /// - Parameter meanwhile: called whenever the call was sent, before its reply is read. The time limit for the reply
  ///   begins after it.
  func call(
    _ method: MethodName, again: Bool, patience: Duration, timeout: Duration?, _ signOfLife: SignOfLife?,
    _ meanwhile: () -> Void, _ parameters: (inout JSONWriter) -> Void
  ) throws(ClientError) -> Response {
    let message = try KeptConnection.message(method, more: false, parameters)
    let busyPatience = SignOfLife.patience(of: signOfLife, within: timeout, orAtLeast: patience)
    var repetition = Repetition()
    while true {
      let connection = try take(patience: patience, whileBusy: busyPatience)
      connection.signOfLife = signOfLife
      do throws(ClientError) {
        try connection.send(message, until: Deadline(after: timeout))
        meanwhile()
        let response = try connection.receiveOnly(until: Deadline(after: timeout))
        self.connection = connection
        return response
      } catch {
        if case .fault = error { self.connection = connection }
        guard error == .disconnected, again || !connection.mayHaveArrived, let pause = repetition.next() else {
          throw error
        }
        try connection.pause(pause)
      }
    }
  }

  static func message(
    _ method: MethodName, more: Bool, upgrade: Bool = false, _ parameters: (inout JSONWriter) -> Void
  ) throws(ClientError) -> SecretBuffer {
    var writer = JSONWriter()
    writer.call(method, more: more, upgrade: upgrade, parameters: parameters)
    let limit = FrameReader.defaultLimit
    guard writer.byteCount - 1 <= limit else { throw .tooLarge(limit: limit) }
    return writer.take()
  }

  /// The kept connection if it is still good, or else a new one.
  private func take(patience: Duration, whileBusy busyPatience: Duration) throws(ClientError) -> Connection {
    defer { connection = nil }
    if let connection, !connection.isStale { return connection }
    return try Connection(to: location, patience: patience, whileBusy: busyPatience, interrupt: nil)
  }
}
