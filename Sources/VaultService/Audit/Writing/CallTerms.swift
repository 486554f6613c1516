internal import VaultModel

/// The terms on which one kind of call is answered. Each door has an exhaustive table of them for all of its calls.
package struct CallTerms: Sendable {
  /// The state of the log that a call needs to be answered, if the log is required.
  package enum Need: Sendable {
    /// The entry must be on the disk before the answer, and the call is not begun while no entry can be written.
    case log
    /// The entry must be on the disk before the answer, unless the store has failed its check, because nothing is ever
    /// written to such a store. For the calls that examine what is left of the store, and save it.
    case logUnlessFailed
    /// The entry must be on the disk before the answer, unless none could be written when the answer was made. To such
    /// a call everything is locked, so that its answer tells nothing.
    case logUnlessLocked
    /// The call needs no state of the log, so that a full disk keeps the vault neither open nor shut. An entry that can
    /// be written is nevertheless on the disk before the answer.
    case nothing
  }

  /// The time by which a call has its entry. If the call has no entry by then, the gate makes one.
  package enum Entry: Sendable {
    /// Before the first answer.
    case first
    /// Before the last answer: the call asks a person first.
    case last
    /// Right after the value was lent to the answer, unless the log is required.
    case withValue
    /// Never, unless the call is refused.
    case ofRefusals
    /// Never.
    case none
  }

  /// The name of the call, which is the subject matter in the gate's own entries.
  let name: StaticString
  let need: Need
  let entry: Entry

  package init(_ name: StaticString, needs need: Need, entry: Entry) {
    (self.name, self.need, self.entry) = (name, need, entry)
  }
}

/// A call, as far as the audit log is concerned. A passage belongs to the ``Caller`` of the call. A connection that
/// makes one call after the other has one passage for all of them; on any other connection each call has its own, see
/// ``Caller/forCall()``.
///
/// `@unchecked` is safe because a passage is used on the loop only.
final class Passage: @unchecked Sendable {
  /// The terms of the call; nil if no call is under way.
  private(set) var terms: CallTerms?
  /// The content of the gate's own entry, once the door has determined it.
  var action = AuditAction.call
  var item = ""
  var detail = ""
  var said = Said()
  /// The item, once it was found, and the version of it that is wanted.
  var id: ItemID?
  var version: Int?
  /// True if this content was forgotten, because it names an item.
  var hasForgotten = false
  /// True once an entry has the outcome of the call.
  var isRecorded = false
  /// False while an entry of the call may be only in memory.
  var isSettled = true
  /// True once an answer was sent.
  var isAnswered = false

  func begin(_ terms: CallTerms) {
    end()
    self.terms = terms
    (action, hasForgotten, isRecorded, isAnswered) = (.call, false, false, false)
  }

  /// Forgets the call, which has ended.
  func end() {
    terms = nil
    isSettled = true
    forgetContent()
  }

  /// True when the content may name an item.
  var mayHoldNames: Bool { !item.isEmpty || !detail.isEmpty }

  /// Drops the content, which may name an item.
  func forgetNames() {
    hasForgotten = terms != nil
    forgetContent()
  }

  private func forgetContent() {
    (item, detail) = ("", "")
    said = Said()
    (id, version) = (nil, nil)
  }

  /// True when the gate must make the entry now.
  ///
  /// - Parameters:
  ///   - refusal: the outcome of a refused call; nil for a call that is not refused.
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
