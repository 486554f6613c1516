internal import VaultBytes
import VaultWire

/// The replies to one call made with `more` or `upgrade`, on a separate connection. Ending the stream closes that
/// connection.
struct ReplyStream: ~Copyable {
  /// The connection, for the bytes that follow the Varlink messages.
  let connection: Connection
  /// The replies that were received before anybody asked for the next one.
  let early: EarlyReplies
  private var first: Response?
  private var isOver = false

  /// Calls `method` and waits for its first reply until `timeout`. When the daemon goes away before the first byte of
  /// that reply, the call is repeated on a new connection, as `repetition` allows.
  init(
    _ method: MethodName, at location: SocketLocation, patience: Duration, timeout: Duration?,
    interrupt: Interrupt? = nil, cancellation: Int32? = nil, signOfLife: SignOfLife? = nil,
    repetition: inout Repetition,
    _ parameters: (inout JSONWriter) -> Void
  ) throws(ClientError) {
    let isUpgradeAlone = method.needsUpgrade && !method.needsMore
    let message = try KeptConnection.message(
      method, more: !isUpgradeAlone, upgrade: method.needsUpgrade, parameters)
    let busyPatience = SignOfLife.patience(of: signOfLife, within: timeout, orAtLeast: patience)
    while true {
      let connection = try Connection(
        to: location, patience: patience, whileBusy: busyPatience, interrupt: interrupt)
      (connection.cancellation, connection.signOfLife) = (cancellation, signOfLife)
      do throws(ClientError) {
        let deadline = Deadline(after: timeout)
        try connection.send(message, until: deadline)
        first = try Response(from: connection, until: deadline)
        self.connection = connection
        early = EarlyReplies(connection)
        return
      } catch {
        guard error == .disconnected, !connection.hasHeard, let pause = repetition.next() else { throw error }
        try connection.pause(pause)
      }
    }
  }

  /// Returns the next reply, and waits for it until `timeout` (nil: forever). Returns nil after the last one.
  mutating func next(timeout: Duration?) throws(ClientError) -> Response? {
    if isOver { return nil }
    let response: Response
    if let first = first.take() {
      response = first
    } else if let frame = try early.take() {
      response = try Response(frame)
    } else {
      response = try Response(from: connection, until: Deadline(after: timeout))
    }
    isOver = !response.reply.continues
    return response
  }
}
