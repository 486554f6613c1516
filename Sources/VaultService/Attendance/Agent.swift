internal import VaultModel

/// A program that puts questions to a person, for as long as it is connected.
package final class Agent {
  package let number: Int
  package let caller: Caller
  /// The agent's process, as described to people.
  package let process: Asker
  /// The interfaces through which the agent asks, in its own words.
  package let faces: [String]
  /// The time at which the agent connected, in Unix seconds.
  package let since: Int64
  /// Ends the agent's call, with the reason.
  let refused: (Refusal) -> Void
  /// Sends the agent an event; returns false if the agent is to be sent no more events.
  let send: (AttendanceEvent) -> Bool
  /// The numbers of the open inquiries that the agent was told of.
  var told: Set<QuestionNumber> = []
  /// The numbers of the inquiries that the agent is to be told of in one of the next turns.
  var due: Set<QuestionNumber> = []
  /// The numbers of the open inquiries that the agent was told of but cannot put to a person.
  var unable: Set<QuestionNumber> = []
  /// True while the file that the agent's process runs is being read.
  var isAwaited = false

  init(
    _ number: Int, _ caller: Caller, _ process: Asker, _ faces: [String], since: Int64,
    _ refused: @escaping (Refusal) -> Void, _ send: @escaping (AttendanceEvent) -> Bool
  ) {
    (self.number, self.caller, self.process, self.faces, self.since) = (number, caller, process, faces, since)
    (self.refused, self.send) = (refused, send)
  }

  /// True if `other` is the process that attends as this agent.
  func isProcess(of other: Caller) -> Bool {
    caller.uid == other.uid && caller.pid == other.pid && caller.started != nil && caller.started == other.started
  }
}

/// An event that agents are told of.
package enum AttendanceEvent {
  /// The first event, with the number of the agent.
  case attending(Int)
  case inquiry(ToldInquiry)
  case withdrawn(QuestionNumber, Withdrawal)
  case notice(Notice)

  /// The reasons why an inquiry is withdrawn.
  package enum Withdrawal: String, Sendable {
    case answered, dismissed
    /// Nobody waits for the inquiry any more, or a lock hides the name in it.
    case gone
  }

  /// A notice for a person.
  package enum Notice {
    /// The vault will lock by itself for this reason, at this time in Unix seconds.
    case locking(LockPolicy.Reason, at: Int64)
    case state(LockState)
    /// A person at this process tried to unlock the vault and was not recognized.
    case failedUnlock(Asker)
    /// The check of the store has failed, for this reason.
    case integrity(String)
  }
}
