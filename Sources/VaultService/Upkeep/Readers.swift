/// A caller who waits for the end of long work, and is told its progress now and then.
package struct Reader<Progress, Outcome> {
  /// The identity of the reader.
  package let id: ObjectIdentifier
  /// Returns true if the reader has read what it was sent.
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

/// All readers of the same work. It is a class, because a reader that is being told may leave: a struct would then be
/// changed during its own call.
final class Readers<Progress, Outcome> {
  /// The number of readers that are told at once; the others are told soon after.
  private static var atOnce: Int { 16 }

  private struct Entry {
    let reader: Reader<Progress, Outcome>
    /// The time at which to tell this reader again, in `CLOCK_MONOTONIC` nanoseconds.
    var next: Int64 = 0
  }

  private var entries: [ObjectIdentifier: Entry] = [:]

  var isEmpty: Bool { entries.isEmpty }

  func add(_ reader: Reader<Progress, Outcome>) { entries[reader.id] = Entry(reader: reader) }

  func remove(_ id: ObjectIdentifier) { entries[id] = nil }

  /// Tells the progress to some of the readers who keep up and were not told for `interval` nanoseconds.
  ///
  /// - Parameter now: the time in `CLOCK_MONOTONIC` nanoseconds.
  func tell(_ progress: @autoclosure () -> Progress, every interval: Int64, now: Int64) {
    guard !entries.isEmpty else { return }
    let due = entries.values.lazy.filter { $0.next <= now && $0.reader.isKeepingUp() }.prefix(Self.atOnce)
    for entry in Array(due) {
      entries[entry.reader.id]?.next = now + interval
      entry.reader.tell(progress())
    }
  }

  /// Tells all readers the end, and removes them. Each reader is told in a turn of its own; without `turns`, at once.
  func end(_ outcome: Result<Outcome, Refusal>, in turns: Turns?) {
    for entry in takeAll() {
      if let turns { turns.wait { entry.end(outcome) } } else { entry.end(outcome) }
    }
  }

  /// Removes all readers, and returns them.
  func takeAll() -> [Reader<Progress, Outcome>] {
    defer { entries = [:] }
    return entries.values.map(\.reader)
  }
}
