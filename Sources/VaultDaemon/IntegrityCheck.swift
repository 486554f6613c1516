internal import VaultAPI
internal import VaultStore

/// The state of the check of all records beside the check itself, which is the keychain's.
struct IntegrityCheck {
  /// The time that the loop is kept from requests at a time when there are none, in nanoseconds.
  static let idleSlice: Int64 = 100_000
  /// The same time while there are some, of which the next one is on its way.
  static let busySlice: Int64 = 20_000
  /// The longest such time after requests that took long themselves: then it takes half as long as they took.
  static let longestSlice: Int64 = 150_000
  /// A turn of the loop that took less had no request, in nanoseconds.
  private static let emptyTurn: Int64 = 10_000
  /// The time after a request within which others are expected, in nanoseconds.
  private static let lull: Int64 = 2_000_000
  /// The number of records between two looks at the clock.
  static let stride = 16
  /// The number of records that are checked before an unlock is answered, so that of a small vault nothing is ever
  /// unverified.
  static let atOnce = 1024
  /// The time between two words to a reader about its progress, in nanoseconds.
  static let reportInterval: Int64 = 100_000_000

  var turns: LoopTurns?
  /// True when a turn was asked for.
  var isScheduled = false
  /// The time at which the last slice ended, `CLOCK_MONOTONIC` nanoseconds.
  var paused: Int64 = 0
  /// The time at which the loop had a request last, as far as a slice has seen, `CLOCK_MONOTONIC` nanoseconds.
  private var lastRequest: Int64 = 0
  /// The error with which the last check was given up; nil when one went on since.
  var problem: VaultError?
  /// The clients that asked for the result.
  var readers = ProgressReaders()
  /// The reports of the result that clients are being told.
  var reports: [ObjectIdentifier: VerifyReport] = [:]

  /// The time that the slice that begins now may take, in nanoseconds; it always takes one stride.
  mutating func slice(now: Int64) -> Int64 {
    let others = now - paused
    if others >= Self.emptyTurn { lastRequest = now }
    if now - lastRequest > Self.lull { return Self.idleSlice }
    return min(max(others / 2, Self.busySlice), Self.longestSlice)
  }
}

extension Wire.Integrity {
  init(_ integrity: IntegrityState) {
    switch integrity {
    case .unchecked: self.init(state: "unchecked")
    case .checking(let done, let total): self.init(state: "checking", done: done, total: total)
    case .ok: self.init(state: "ok")
    case .failed: self.init(state: "failed")
    }
  }
}
