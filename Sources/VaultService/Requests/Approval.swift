package import VaultModel
internal import VaultStore

/// What an administrator says yes to.
package struct ApprovalTerms: Hashable, Sendable {
  /// The number of times that it counts; nil for any.
  package var uses: Int?
  /// The seconds for which it counts, on the clock that goes on in a sleep; nil for no end.
  package var seconds: Int64?
  /// True for the one process that asked last, until any lock.
  package var isOfSession: Bool
  /// True for an ordinary grant.
  package var isForGood: Bool

  /// The seconds for which an approval of one use, and one of several, counts unless it says otherwise.
  static let (once, several): (Int64, Int64) = (300, 86_400)
  /// The most seconds and uses.
  static let (mostSeconds, mostUses): (Int64, Int) = (366 * 86_400, 1_000_000)

  /// - Throws: the refusal of what is none: a parameter, by its name.
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
    // What nobody says ends by itself.
    if uses == nil, seconds == nil { self.uses = 1 }
    if self.seconds == nil { self.seconds = self.uses == 1 ? Self.once : Self.several }
  }

  /// In the words of the command line.
  var text: String {
    var words: [String] = []
    if isForGood { words.append("always") }
    if isOfSession { words.append("session") }
    if let uses { words.append(uses == 1 ? "once" : "\(uses) uses") }
    if let seconds { words.append("for \(seconds) s") }
    return words.joined(separator: ", ")
  }
}

/// A request that was approved, for as long as that counts. It is in memory alone.
package struct Approval: Sendable {
  /// That of the request.
  package let number: Int
  package let target: RequestTarget
  package let right: Right
  /// The item that had the name when it was approved: it counts for no other that gets the name, nor under another
  /// policy.
  let item: ItemBinding
  /// How often it counts yet; nil for any.
  package fileprivate(set) var uses: Int?
  /// The time from which on it counts no more, `CLOCK_BOOTTIME` nanoseconds; nil for none.
  package let end: Int64?
  /// The one process that it is for, until any lock; nil for each that is the subject.
  package let process: Asker?
  /// The uid that approved it.
  package let by: UInt32

  /// - Parameter now: `CLOCK_BOOTTIME` nanoseconds.
  init(_ request: PendingRequest, _ item: ItemBinding, _ terms: ApprovalTerms, by uid: UInt32, now: Int64) {
    (number, target, right, self.item) = (request.number, request.target, request.right, item)
    uses = terms.uses
    end = terms.seconds.map { now + $0 * 1_000_000_000 }
    process = terms.isOfSession ? request.asker : nil
    by = uid
  }

  /// True when it counts at a time, `CLOCK_BOOTTIME` nanoseconds.
  func counts(at now: Int64) -> Bool { end.map { now < $0 } ?? true && uses != 0 }

  /// True when it lets a caller that is its subject do that to its item.
  func allows(_ right: Right, _ caller: Caller) -> Bool {
    Rights(self.right).contains(right) && process?.isSame(as: caller) != false
  }

  mutating func use() { uses = uses.map { $0 - 1 } }
}
