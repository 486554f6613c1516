internal import VaultModel

/// The limit on the rate of new requests of each subject: as many at once as may wait, and then one in ten seconds.
struct RequestRates {
  /// The nanoseconds after which a subject may make one more request.
  static let interval: Int64 = 10 * 1_000_000_000
  /// The most strangers, and the most other subjects, that are counted separately. Beyond this number no new subject of
  /// that sort may ask until others have been quiet for a while.
  static let most = 512

  private var strangers = Counts()
  private var others = Counts()

  /// Counts one more request of a subject; false if the subject has asked too often.
  ///
  /// - Parameters:
  ///   - isStranger: true for a user without any right; see ``PendingRequest/isOfStranger``.
  ///   - now: the time in `CLOCK_BOOTTIME` nanoseconds.
  mutating func take(_ subject: Subject, isStranger: Bool, now: Int64) -> Bool {
    isStranger ? strangers.take(subject, now: now) : others.take(subject, now: now)
  }
}

/// The requests of subjects of one sort.
private struct Counts {
  /// The time at which a subject may again make its full number of requests at once, in `CLOCK_BOOTTIME` nanoseconds.
  private var full: [Subject: Int64] = [:]

  mutating func take(_ subject: Subject, now: Int64) -> Bool {
    if full.count >= RequestRates.most, full[subject] == nil {
      full = full.filter { $0.value > now }
      if full.count >= RequestRates.most { return false }
    }
    let next = max(full[subject] ?? now, now) + RequestRates.interval
    guard next - now <= Int64(Requests.mostOfOne) * RequestRates.interval else { return false }
    full[subject] = next
    return true
  }
}
