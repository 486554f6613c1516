import VaultWire

/// The check that a daemon still runs when it leaves a call unanswered.
///
/// A call may wait for a person for as long as it asks to. But a daemon that is stopped, or whose machine hangs,
/// answers nobody, and such a call would wait for it for just as long. So after half of the limit the client makes
/// another call on a separate connection, which every running daemon answers at once.
struct SignOfLife {
  let location: SocketLocation
  /// The time without any answer after which the client gives up.
  let limit: Duration

  /// The time before the daemon is asked, and the time that it has to answer.
  var half: Duration { limit / 2 }

  /// Asks the daemon for an answer. Every answer counts, even a refusal. A daemon that has ended is not an error here,
  /// because the connection of the call itself tells more then.
  ///
  /// - Throws: ``ClientError/timedOut`` when the daemon does not answer.
  func check(_ interrupt: Interrupt?, _ cancellation: Int32?) throws(ClientError) {
    do throws(ClientError) {
      let connection = try Connection(to: location, patience: half, interrupt: interrupt)
      connection.cancellation = cancellation
      let question = try KeptConnection.message(.getInfo, more: false) { Wire.Empty().write(to: &$0) }
      _ = try connection.exchange(question, Deadline(after: half))
    } catch {
      switch error {
      case .timedOut, .fault(.cancelled): throw error
      default: return
      }
    }
  }
}
