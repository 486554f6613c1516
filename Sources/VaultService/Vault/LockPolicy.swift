/// The times at which an unlocked vault locks by itself: pure arithmetic over `CLOCK_BOOTTIME` nanoseconds.
///
/// There are three deadlines, and the earliest one counts. Only a person's request moves the idle deadline. Nothing
/// moves the deadline of the maximum age. The time asked for at the unlock (`vault unlock --for`) replaces the idle
/// deadline, because a person who gives a time does not intend to stay at the machine.
package struct LockPolicy: Sendable {
  /// The reason for which the vault will lock, in the words that `Status` uses.
  package enum Reason: String, Sendable {
    case idle, age, asked
  }

  package struct Deadline: Hashable, Sendable {
    /// The time of the deadline, in `CLOCK_BOOTTIME` nanoseconds.
    package var at: Int64
    package var reason: Reason
  }

  /// The seconds without a person's request before a lock; nil for never.
  package var idleAfter: Int64? { didSet { refresh() } }
  /// The seconds after the unlock before a lock; nil for never.
  package var maximumAge: Int64? { didSet { refresh() } }
  /// The earliest deadline; nil while the vault is locked, or if nothing limits the unlock. It is stored, because every
  /// request reads it.
  package private(set) var next: Deadline?

  private var unlockedAt: Int64?
  private var lastPerson: Int64 = 0
  private var askedFor: Int64?

  package init(idleAfter: Int64?, maximumAge: Int64?) {
    self.idleAfter = idleAfter
    self.maximumAge = maximumAge
  }

  /// Starts the deadlines.
  ///
  /// - Parameter seconds: the time that the person asked for; nil for none.
  package mutating func unlocked(at now: Int64, for seconds: Int64?) {
    unlockedAt = now
    lastPerson = now
    askedFor = seconds
    refresh()
  }

  /// Moves the idle deadline, never the others.
  package mutating func personAsked(at now: Int64) {
    lastPerson = max(lastPerson, now)
    refresh()
  }

  /// Forgets the deadlines.
  package mutating func locked() {
    unlockedAt = nil
    askedFor = nil
    refresh()
  }

  /// The time of a warning `lead` nanoseconds before the next deadline; nil if the whole time before that deadline is
  /// not longer than `lead`.
  package func warning(_ lead: Int64) -> Int64? {
    guard let next, let unlockedAt, next.at != .max else { return nil }
    let start = next.reason == .idle ? lastPerson : unlockedAt
    return next.at - start > lead ? next.at - lead : nil
  }

  /// The deadline that has passed at `now`; nil for none.
  package func due(at now: Int64) -> Deadline? {
    guard let next, next.at <= now else { return nil }
    return next
  }

  private mutating func refresh() {
    guard let unlockedAt else {
      next = nil
      return
    }
    let candidates = [
      askedFor == nil ? idleAfter.map { Deadline(at: Self.after($0, lastPerson), reason: .idle) } : nil,
      maximumAge.map { Deadline(at: Self.after($0, unlockedAt), reason: .age) },
      askedFor.map { Deadline(at: Self.after($0, unlockedAt), reason: .asked) },
    ]
    next = candidates.compactMap { $0 }.min { $0.at < $1.at }
  }

  /// The time `seconds` after `start`, in nanoseconds. A time beyond the range of `Int64` becomes the largest number,
  /// which is never reached.
  package static func after(_ seconds: Int64, _ start: Int64) -> Int64 {
    let (span, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (end, further) = start.addingReportingOverflow(span)
    return overflow || further ? .max : end
  }
}
