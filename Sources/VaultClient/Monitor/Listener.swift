import VaultWire

/// Monitors a vault, and reconnects when its daemon restarts or a connection ends for another reason.
struct Listener: Sendable {
  /// The pause between two attempts to reach a daemon: the first one, and the longest.
  private static let pauses = (first: Duration.milliseconds(20), longest: Duration.seconds(1))

  let location: SocketLocation
  let timeout: Duration?
  /// The time to go without a daemon; nil means forever.
  let patience: Duration?
  /// Ends the monitoring.
  let interrupt: Interrupt

  /// Passes the events to `each`, until `each` returns false or the interrupt is raised. `isFirst` marks the very first
  /// event.
  ///
  /// Each connection begins with the present state and continues after the last event that was passed on. If that is
  /// not possible, its first event has `missed`. Before the first unlock after its start, a daemon may not know yet
  /// what the caller may watch. It then answers that the vault is locked, and is asked again until it knows.
  ///
  /// A daemon that was reached once may restart with a socket that only its own user may connect to, until somebody
  /// opens the socket to others (vaultd(8), The system vault). The listener waits for that as for a missing daemon.
  func run(_ each: (Vault.Event, _ isFirst: Bool) -> Bool) throws(ClientError) {
    var deadline = Deadline(after: patience)
    var place = Place()
    var pause = Self.pauses.first
    var wasReached = false
    while true {
      var hasHeard = false
      do throws(ClientError) {
        var repetition = Repetition()
        var replies = try ReplyStream(
          .monitor, at: location, patience: .zero, timeout: timeout, interrupt: interrupt, repetition: &repetition
        ) { Wire.MonitorParameters(after: place.cursor).write(to: &$0) }
        while let response = try replies.next(timeout: nil) {
          var event: Vault.Event = try response.decode()
          let isFirst = place.move(to: &event, beginning: !hasHeard)
          hasHeard = true
          guard each(event, isFirst) else { return }
        }
        // The daemon says that no more events will come. This is not a lost connection.
        return
      } catch {
        if interrupt.isRaised { return }
        let isLocked = if !hasHeard, case .fault(.locked) = error { true } else { false }
        // The time without a daemon begins now, however long there was one.
        if hasHeard || isLocked { deadline = Deadline(after: patience) }
        wasReached = wasReached || hasHeard || isLocked
        let mayPass = Self.mayPass(error) || wasReached && error.isBarred
        guard isLocked || mayPass && !deadline.hasPassed else { throw error }
        // A daemon that hangs up at once must not be called in a tight loop.
        if hasHeard { pause = Self.pauses.first }
      }
      interrupt.wait(pause)
      pause = min(pause * 2, Self.pauses.longest)
    }
  }

  /// Returns true for an error that another attempt may avoid.
  private static func mayPass(_ error: ClientError) -> Bool {
    switch error {
    case .disconnected, .noDaemon, .timedOut, .fault(.tooManyConnections), .fault(.tooManyRequests): true
    case .fault, .noRuntimeDirectory, .relativeRuntimeDirectory, .emptySocketPath, .foreignFolder, .impossibleSocket,
      .notUTF8, .unsafeSocket, .daemonFailed, .protocolViolation, .tooLarge, .answerTooLarge, .notText, .system:
      false
    }
  }

  /// The place in the stream of the last event that was passed on.
  private struct Place {
    /// Nil at the beginning, and with an older daemon, which sends no cursor.
    private(set) var cursor: String?
    private var hasBegun = false

    /// Moves to an event. Sets its `missed` when nothing proves that no event was lost before it. Returns true for the
    /// very first event.
    mutating func move(to event: inout Vault.Event, beginning: Bool) -> Bool {
      defer { (cursor, hasBegun) = (event.cursor, true) }
      if beginning, hasBegun, cursor == nil || event.cursor == nil { event.missed = true }
      return !hasBegun
    }
  }
}
