/// Somebody who waits for the end of something that takes long, and is told now and then how far it is.
package struct Reader<Progress, Outcome> {
  /// Tells it from others.
  package let id: ObjectIdentifier
  /// True when it reads what it is told.
  package let isKeepingUp: () -> Bool
  package let tell: (Progress) -> Void
  package let end: (Result<Outcome, Refusal>) -> Void

  package init(
    _ id: ObjectIdentifier, isKeepingUp: @escaping () -> Bool, tell: @escaping (Progress) -> Void,
    end: @escaping (Result<Outcome, Refusal>) -> Void
  ) {
    self.id = id
    self.isKeepingUp = isKeepingUp
    self.tell = tell
    self.end = end
  }
}

/// All who wait for the same. One that is told may leave meanwhile: a struct would then be changed while it is.
final class Readers<Progress, Outcome> {
  /// The number of readers that are told at once; the others soon after.
  private static var atOnce: Int { 16 }

  private struct Entry {
    let reader: Reader<Progress, Outcome>
    /// The time at which to tell it again, `CLOCK_MONOTONIC` nanoseconds.
    var next: Int64 = 0
  }

  private var entries: [ObjectIdentifier: Entry] = [:]

  var isEmpty: Bool { entries.isEmpty }

  func add(_ reader: Reader<Progress, Outcome>) { entries[reader.id] = Entry(reader: reader) }

  func remove(_ id: ObjectIdentifier) { entries[id] = nil }

  /// Tells some of those who read and were not told for `interval` nanoseconds; `now` is `CLOCK_MONOTONIC`.
  func tell(_ progress: @autoclosure () -> Progress, every interval: Int64, now: Int64) {
    guard !entries.isEmpty else { return }
    let due = entries.values.lazy.filter { $0.next <= now && $0.reader.isKeepingUp() }.prefix(Self.atOnce)
    for entry in Array(due) {
      entries[entry.reader.id]?.next = now + interval
      entry.reader.tell(progress())
    }
  }

  /// Tells all of them the end, each in a turn of its own: they wait no more.
  func end(_ outcome: Result<Outcome, Refusal>, in turns: Turns?) {
    for entry in takeAll() {
      if let turns { turns.wait { entry.end(outcome) } } else { entry.end(outcome) }
    }
  }

  /// All of them, who wait for this no more.
  func takeAll() -> [Reader<Progress, Outcome>] {
    defer { entries = [:] }
    return entries.values.map(\.reader)
  }
}
