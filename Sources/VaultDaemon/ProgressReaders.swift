internal import VaultAPI

/// Those who wait for the end of something that takes long, and are told now and then how far it is.
struct ProgressReaders {
  /// The number of readers that are told at once; the others soon after.
  private static let atOnce = 16

  private final class Reader {
    let connection: Connection
    /// The time at which to tell it again, `CLOCK_MONOTONIC` nanoseconds.
    var next: Int64 = 0

    init(_ connection: Connection) { self.connection = connection }
  }

  private var readers: [ObjectIdentifier: Reader] = [:]

  var isEmpty: Bool { readers.isEmpty }

  mutating func add(_ connection: Connection) { readers[ObjectIdentifier(connection)] = Reader(connection) }

  mutating func remove(_ id: ObjectIdentifier) { readers[id] = nil }

  /// Tells some of those who read and were not told for `interval` nanoseconds; `now` is `CLOCK_MONOTONIC`.
  func tell(_ progress: @autoclosure () -> some WireValue, every interval: Int64, now: Int64) {
    let due = readers.values.lazy.filter { $0.next <= now && $0.connection.isKeepingUp }.prefix(Self.atOnce)
    for reader in Array(due) {
      reader.next = now + interval
      reader.connection.reply(progress(), continues: true)
    }
  }

  /// All of them, who wait for this no more.
  mutating func takeAll() -> [Connection] {
    defer { readers = [:] }
    return readers.values.map(\.connection)
  }
}

extension Service {
  /// Answers calls that have waited for the same, each in a turn of its own.
  func answer(_ connections: [Connection], _ answer: @escaping (Connection) -> Void) {
    for connection in connections { turns.wait { [weak connection] in connection.map(answer) } }
  }
}
