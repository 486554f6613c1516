internal import VaultModel

/// The terms on which one kind of call is answered: each door has an exhaustive table of them for all of its calls.
package struct CallTerms: Sendable {
  /// The state of the log without which a call is not answered, where the log is required.
  package enum Need: Sendable {
    /// The entry has to be on the disk before the answer, and nothing is begun while none can be written.
    case log
    /// The same, but of a store that has failed its check, to which nothing is ever written again: for the calls that
    /// find out what is left of it, and save that.
    case logUnlessFailed
    /// None, so that a full disk keeps the vault neither open nor shut. An entry that can be written is on the disk
    /// before the answer all the same.
    case nothing
  }

  /// The time at which the entry of a call is there. Where it is not, the gate makes one.
  package enum Entry: Sendable {
    /// Before the first answer.
    case first
    /// Before the last answer: the call asks a person first.
    case last
    /// Right after the value was lent to the answer, unless the log is required.
    case withValue
    /// The call leaves none, unless it is refused.
    case ofRefusals
    /// The call leaves none.
    case none
  }

  /// The name of the call, which the gate's own entries have as what they are about.
  let name: StaticString
  let need: Need
  let entry: Entry

  package init(_ name: StaticString, needs need: Need, entry: Entry) {
    (self.name, self.need, self.entry) = (name, need, entry)
  }
}

/// The call that a caller is making, as far as the audit log is concerned. Each connection makes one at a time.
struct Passage {
  /// Nil where no call is under way.
  var terms: CallTerms?
  /// The content of the gate's own entry, once the door has found out.
  var action = AuditAction.call
  var item = ""
  var detail = ""
  var said = Said()
  /// True once an entry says what has come of the call.
  var isRecorded = false
  /// False while an entry of it may be in memory alone.
  var isSettled = true
  /// True once something was answered.
  var isAnswered = false

  /// True where the gate has to make the entry now.
  ///
  /// - Parameters:
  ///   - refusal: what the call is refused with, if it is.
  ///   - isLast: true for the last answer.
  func wantsEntry(_ refusal: AuditOutcome?, isLast: Bool) -> Bool {
    guard let terms, !isRecorded else { return false }
    switch terms.entry {
    case .none: return false
    case .ofRefusals, .withValue: return refusal != nil
    case .first: return true
    case .last: return isLast
    }
  }
}
