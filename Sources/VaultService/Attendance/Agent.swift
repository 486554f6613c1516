internal import VaultModel

/// A program that puts questions to a person, for as long as it is connected.
package final class Agent {
  package let number: Int
  package let caller: Caller
  /// Its process, as people are told of it.
  package let process: Asker
  /// The ways in which it asks, in its own words.
  package let faces: [String]
  /// The time at which it came, Unix seconds.
  package let since: Int64
  /// Ends its call where it may attend no more.
  let refused: () -> Void
  /// Sends it what happens; false when it is to be told no more.
  let send: (AttendanceEvent) -> Bool
  /// The inquiries that it was told of and that are open, and those of them that it cannot put to anybody.
  var told: Set<Int> = []
  var unable: Set<Int> = []

  init(
    _ number: Int, _ caller: Caller, _ process: Asker, _ faces: [String], since: Int64, _ refused: @escaping () -> Void,
    _ send: @escaping (AttendanceEvent) -> Bool
  ) {
    (self.number, self.caller, self.process, self.faces, self.since) = (number, caller, process, faces, since)
    (self.refused, self.send) = (refused, send)
  }

  /// True for the very process that attends.
  func isProcess(of other: Caller) -> Bool {
    caller.uid == other.uid && caller.pid == other.pid && caller.started != nil && caller.started == other.started
  }
}

/// Something that agents are told.
package enum AttendanceEvent {
  /// The first, with the number of the agent.
  case attending(Int)
  case inquiry(ToldInquiry)
  case withdrawn(Int, Withdrawal)
  case notice(Notice)

  /// The reasons why an inquiry is taken back.
  package enum Withdrawal: String, Sendable {
    case answered, dismissed
    /// Nobody waits for it any more, or a lock hides its name.
    case gone
  }

  /// What a person should hear of.
  package enum Notice {
    /// It will lock by itself, for that reason, at that time, Unix seconds.
    case locking(LockPolicy.Reason, at: Int64)
    case state(LockState)
    /// Somebody was not recognised.
    case failedUnlock(Asker)
    /// The check of the store failed.
    case integrity(String)
  }
}
