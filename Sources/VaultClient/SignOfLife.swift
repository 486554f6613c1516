import VaultWire

/// The check that a daemon which leaves a call unanswered still runs.
///
/// A call may wait for a person for as long as it says. A daemon that is stopped, or whose machine does not get on,
/// answers nobody, and such a call would wait for it as long. So a client that has waited for half of the time asks
/// something else, on a connection of its own, which every daemon that runs answers at once.
struct SignOfLife {
  let location: SocketLocation
  /// The time without any answer after which the daemon is given up.
  let limit: Duration

  /// The time to wait before the daemon is asked, and the time that it has to answer.
  var half: Duration { limit / 2 }

  /// Throws ``ClientError/timedOut`` where the daemon does not answer. Every answer counts, a refusal too, and so does
  /// a daemon that has ended: the connection of the call itself tells more then.
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
