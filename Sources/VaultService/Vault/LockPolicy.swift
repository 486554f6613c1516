/// The times at which an unlocked vault locks by itself: pure arithmetic over `CLOCK_BOOTTIME` nanoseconds.
///
/// Three deadlines: idle, which only a person's request moves; the maximum age, which nothing moves; and the time
/// asked for at the unlock (`vault unlock --for`), which takes the place of idle: whoever says for how long does not mean
/// to sit there. The earliest one wins.
package struct LockPolicy: Sendable {
  /// The reason why the vault will lock, in the words `Status` uses.
  package enum Reason: String, Sendable {
    case idle, age, asked
  }

  package struct Deadline: Hashable, Sendable {
    /// `CLOCK_BOOTTIME`, nanoseconds.
    package var at: Int64
    package var reason: Reason
  }

  /// Seconds without a person's request, or nil for never.
  package var idleAfter: Int64? { didSet { refresh() } }
  /// Seconds after the unlock, or nil for never.
  package var maximumAge: Int64? { didSet { refresh() } }
  /// The earliest deadline, or nil while locked or when nothing limits the unlock. Kept, because every request asks.
  package private(set) var next: Deadline?

  private var unlockedAt: Int64?
  private var lastPerson: Int64 = 0
  private var askedFor: Int64?

  package init(idleAfter: Int64?, maximumAge: Int64?) {
    self.idleAfter = idleAfter
    self.maximumAge = maximumAge
  }

  /// Starts the deadlines; `seconds` is what the person asked for, if anything.
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

  /// The time of a warning that comes `lead` nanoseconds before the next deadline; nil where all the time that led to that is not
  /// longer.
  package func warning(_ lead: Int64) -> Int64? {
    guard let next, let unlockedAt, next.at != .max else { return nil }
    let start = next.reason == .idle ? lastPerson : unlockedAt
    return next.at - start > lead ? next.at - lead : nil
  }

  /// The deadline that has passed at `now`, if one has.
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

  /// A time too far to count in nanoseconds is never reached.
  package static func after(_ seconds: Int64, _ start: Int64) -> Int64 {
    let (span, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (end, further) = start.addingReportingOverflow(span)
    return overflow || further ? .max : end
  }
}
