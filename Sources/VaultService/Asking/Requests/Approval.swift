package import VaultModel
internal import VaultStore

/// The terms of an administrator's approval.
package struct ApprovalTerms: Hashable, Sendable {
  /// The number of uses; nil for any number.
  package var uses: Int?
  /// The seconds for which the approval counts, on the clock that continues during a sleep; nil for no end.
  package var seconds: Int64?
  /// True if the approval is only for the process that asked last, until any lock.
  package var isOfSession: Bool
  /// True if an ordinary grant is given instead.
  package var isForGood: Bool

  /// The default seconds for which an approval of one use counts, and an approval of several uses.
  static let (once, several): (Int64, Int64) = (300, 86_400)
  /// The highest numbers of seconds and of uses.
  static let (mostSeconds, mostUses): (Int64, Int) = (366 * 86_400, 1_000_000)

  /// - Throws: the refusal of terms that make no sense, with the name of the parameter.
  package init(
    uses: Int? = nil, seconds: Int64? = nil, isOfSession: Bool = false, isForGood: Bool = false
  ) throws(Refusal) {
    if let uses, !(1...Self.mostUses).contains(uses) || isForGood { throw .invalid("uses") }
    if let seconds, !(1...Self.mostSeconds).contains(seconds) { throw .invalid("for") }
    if isForGood, isOfSession { throw .invalid("session") }
    self.uses = uses
    self.seconds = seconds
    self.isOfSession = isOfSession
    self.isForGood = isForGood
    guard !isOfSession, !isForGood else { return }
    // Without other terms, an approval ends by itself.
    if uses == nil, seconds == nil { self.uses = 1 }
    if self.seconds == nil { self.seconds = self.uses == 1 ? Self.once : Self.several }
  }

  /// The terms in the words of the command line.
  var text: String {
    var words: [String] = []
    if isForGood { words.append("always") }
    if isOfSession { words.append("session") }
    if let uses { words.append(uses == 1 ? "once" : "\(uses) uses") }
    if let seconds { words.append("for \(seconds) s") }
    return words.joined(separator: ", ")
  }
}

/// A request that was approved, for as long as the approval counts. It is kept in memory only.
package struct Approval: Sendable {
  /// The number of the request.
  package let number: QuestionNumber
  package let target: RequestTarget
  package let right: Right
  /// The item that had the name when the request was approved. The approval does not count for another item with that
  /// name, or under another policy.
  let item: ItemBinding
  /// The number of uses that are left; nil for any number.
  package fileprivate(set) var uses: Int?
  /// The time at which the approval ends, in `CLOCK_BOOTTIME` nanoseconds; nil for no end.
  package let end: Int64?
  /// The only process that the approval is for, until any lock; nil for every process of the subject.
  package let process: Asker?
  /// The uid of the administrator who approved the request.
  package let by: UInt32

  /// - Parameter now: the time in `CLOCK_BOOTTIME` nanoseconds.
  init(_ request: PendingRequest, _ item: ItemBinding, _ terms: ApprovalTerms, by uid: UInt32, now: Int64) {
    (number, target, right, self.item) = (request.number, request.target, request.right, item)
    uses = terms.uses
    end = terms.seconds.map { now + $0 * 1_000_000_000 }
    process = terms.isOfSession ? request.asker : nil
    by = uid
  }

  /// True when the approval counts at a time, in `CLOCK_BOOTTIME` nanoseconds.
  func counts(at now: Int64) -> Bool { end.map { now < $0 } ?? true && uses != 0 }

  /// True when the approval gives the right to a caller, who is known to be its subject.
  func allows(_ right: Right, _ caller: Caller) -> Bool {
    Rights(self.right).contains(right) && process?.isSame(as: caller) != false
  }

  /// True when a new approval, of the same right on the same target for the same process, takes the place of this one.
  func isReplaced(by new: Approval) -> Bool { target == new.target && right == new.right && process == new.process }

  mutating func use() { uses = uses.map { $0 - 1 } }
}
