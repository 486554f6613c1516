internal import Glibc
import VaultWire

/// The check that a daemon still runs when it leaves a call unanswered.
///
/// A call may wait for a person for as long as it asks to. But a daemon that is stopped, or whose machine hangs,
/// answers nobody, and the call would wait just as long for such a daemon. So after a part of the limit the client
/// makes another call on a separate connection, which every running daemon answers at once.
struct SignOfLife {
  let location: SocketLocation
  /// The time without any answer after which the client gives up.
  let limit: Duration
  /// Called with true when the daemon does not answer at once, and with false after that; nil if nobody wants to know.
  var whenSilent: ((Bool) -> Void)?

  /// The time before the daemon is asked. A person who waits learns sooner that the daemon is silent.
  var pause: Duration { whenSilent == nil ? limit / 2 : min(limit / 2, .seconds(2)) }
  /// The time that the daemon has to answer.
  private var patience: Duration { limit - pause }
  /// The time in which a daemon that runs usually answers.
  private static let usual = Duration.milliseconds(200)

  /// The time that a call with the limit `timeout` keeps trying to reach a daemon whose queue of clients is full: as
  /// long as it would wait for a silent daemon, but no longer than it waits for its answer.
  static func patience(of signOfLife: SignOfLife?, within timeout: Duration?, orAtLeast patience: Duration) -> Duration
  {
    guard let limit = signOfLife?.limit else { return patience }
    return max(patience, timeout.map { min($0, limit) } ?? limit)
  }

  /// Asks the daemon for an answer. Every answer counts, even a refusal. A daemon that has ended is not an error here,
  /// because the call's own connection reports the end.
  ///
  /// - Throws: ``ClientError/timedOut`` when the daemon does not answer.
  func check(_ interrupt: Interrupt?, _ cancellation: Int32?) throws(ClientError) {
    do throws(ClientError) {
      let deadline = Deadline(after: patience)
      let connection = try Connection(to: location, patience: patience, interrupt: interrupt)
      connection.cancellation = cancellation
      let question = try KeptConnection.message(.getInfo, more: false) { Wire.Empty().write(to: &$0) }
      try connection.send(question, until: deadline)
      if let whenSilent {
        defer { whenSilent(false) }
        do throws(ClientError) { try connection.wait(for: POLLIN, until: deadline.orAfter(Self.usual)) } catch {
          guard error == .timedOut else { throw error }
          whenSilent(true)
        }
        _ = try Response(from: connection, until: deadline)
      } else {
        _ = try Response(from: connection, until: deadline)
      }
    } catch {
      switch error {
      case .timedOut, .fault(.cancelled): throw error
      case .fault, .noRuntimeDirectory, .relativeRuntimeDirectory, .emptySocketPath, .foreignFolder, .impossibleSocket,
        .notUTF8, .unsafeSocket, .noDaemon, .daemonFailed, .disconnected, .protocolViolation, .tooLarge,
        .answerTooLarge, .notText, .system:
        return
      }
    }
  }
}
