internal import VaultModel

/// The limit on the rate of new requests of each subject: as many at once as may wait, and then one in ten seconds.
struct RequestRates {
  /// The nanoseconds after which a subject may make one more request.
  static let interval: Int64 = 10 * 1_000_000_000
  /// The most subjects that are counted separately. Beyond this number no new subject may ask until others have been
  /// quiet for a while.
  static let most = 1024

  /// The time at which a subject may again make its full number of requests at once, in `CLOCK_BOOTTIME` nanoseconds.
  private var full: [Subject: Int64] = [:]

  /// Counts one more request of a subject; false if the subject has asked too often.
  ///
  /// - Parameter now: the time in `CLOCK_BOOTTIME` nanoseconds.
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
