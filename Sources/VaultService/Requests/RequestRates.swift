internal import VaultModel

/// The rate at which new requests of each subject come to be: as many at once as may wait, and then one in ten seconds.
struct RequestRates {
  /// The nanoseconds after which there may be one more.
  static let interval: Int64 = 10 * 1_000_000_000
  /// The most subjects that are told apart: beyond them no new one asks, until others have been quiet for a while.
  static let most = 1024

  /// The time at which all that a subject may ask at once is its again, `CLOCK_BOOTTIME` nanoseconds.
  private var full: [Subject: Int64] = [:]

  /// Takes one more of a subject; false when it has asked too often.
  ///
  /// - Parameter now: `CLOCK_BOOTTIME` nanoseconds.
  mutating func take(_ subject: Subject, now: Int64) -> Bool {
    if full.count >= Self.most, full[subject] == nil {
      full = full.filter { $0.value > now }
      if full.count >= Self.most { return false }
    }
    let next = max(full[subject] ?? now, now) + Self.interval
    guard next - now <= Int64(Requests.mostOfOne) * Self.interval else { return false }
    full[subject] = next
    return true
  }
}
