import VaultWire

/// Monitors a vault across restarts of its daemon, and where a connection ends for another reason.
struct Listener: Sendable {
  /// The time between two attempts to reach a daemon: the first one, and the longest.
  private static let pauses = (first: Duration.milliseconds(20), longest: Duration.seconds(1))

  let location: SocketLocation
  let timeout: Duration?
  /// The time to go without a daemon; nil means for ever.
  let patience: Duration?
  /// Ends it.
  let interrupt: Interrupt

  /// Hands over the events until `each` says false or the interrupt is raised. `isFirst` marks the very first one.
  ///
  /// Each connection begins with the present state, and then goes on behind the last event that was handed over; where that is
  /// not possible its first event has `missed`. Before the first unlock after its start, a daemon may not know yet what the
  /// caller may watch. It answers that it is locked, and is asked again until it knows.
  func run(_ each: (Vault.Event, _ isFirst: Bool) -> Bool) throws(ClientError) {
    var deadline = Deadline(after: patience)
    var place = Place()
    var pause = Self.pauses.first
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
        // The daemon says that nothing more will come, which is no lost connection.
        return
      } catch {
        if interrupt.isRaised { return }
        let isLocked = if !hasHeard, case .fault(.locked) = error { true } else { false }
        // However long a daemon was there, the time without one begins now.
        if hasHeard || isLocked { deadline = Deadline(after: patience) }
        guard isLocked || Self.mayPass(error) && !deadline.hasPassed else { throw error }
        // A daemon that hangs up at once must not be called in a tight loop.
        if hasHeard { pause = Self.pauses.first }
      }
      interrupt.wait(pause)
      pause = min(pause * 2, Self.pauses.longest)
    }
  }

  /// True for what another attempt may not meet.
  private static func mayPass(_ error: ClientError) -> Bool {
    switch error {
    case .disconnected, .noDaemon, .timedOut, .fault(.tooManyConnections), .fault(.tooManyRequests): true
    case .fault, .noRuntimeDirectory, .relativeRuntimeDirectory, .impossibleSocket, .notUTF8, .unsafeSocket,
      .daemonFailed, .protocolViolation, .tooLarge,
      .answerTooLarge, .notText, .system:
      false
    }
  }

  /// The place in the stream of events up to which they were handed over.
  private struct Place {
    /// Nil at the beginning, and where the daemon is an older one, which tells none.
    private(set) var cursor: String?
    private var hasBegun = false

    /// Moves to an event, which gets `missed` where nobody vouches for what was before it; true for the very first one.
    mutating func move(to event: inout Vault.Event, beginning: Bool) -> Bool {
      defer { (cursor, hasBegun) = (event.cursor, true) }
      if beginning, hasBegun, cursor == nil || event.cursor == nil { event.missed = true }
      return !hasBegun
    }
  }
}
