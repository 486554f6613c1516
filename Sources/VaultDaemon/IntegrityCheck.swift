internal import VaultAPI
internal import VaultStore

/// What belongs to the check of all records beside the check itself, which is the keychain's.
struct IntegrityCheck {
  /// Who asked for the result.
  final class Reader {
    let connection: Connection
    /// When to tell it again how far the check is, `CLOCK_MONOTONIC` nanoseconds.
    var nextReport: Int64 = 0

    init(_ connection: Connection) { self.connection = connection }
  }

  /// How long the loop is kept from requests at a time, in nanoseconds: less than a request takes to come and go.
  static let slice: Int64 = 50_000
  /// How many records between two looks at the clock.
  static let stride = 16
  /// How many records are checked before an unlock is answered, so that of a small vault nothing is ever unverified.
  static let atOnce = 256
  /// How often a reader hears how far it is, in nanoseconds.
  static let reportInterval: Int64 = 100_000_000

  var turns: LoopTurns?
  /// Whether a turn was asked for.
  var isScheduled = false
  var readers: [ObjectIdentifier: Reader] = [:]
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
