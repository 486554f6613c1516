import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("Request rate") struct RequestRateTests {
  @Test("a second's worth may come at once, then the rate holds") func burstThenRate() {
    let rate = RequestRate(perSecond: 10, now: 0)
    let burst = (0..<12).map { _ in rate.take(now: 0) }
    #expect(burst == Array(repeating: true, count: 10) + [false, false])
    #expect(rate.delay(now: 0) == 100_000_000)
    #expect(rate.delay(now: 30_000_000) == 70_000_000 && rate.delay(now: 200_000_000) == 0)
    let later = rate.take(now: 100_000_000)
    #expect(later)
    let again = rate.take(now: 100_000_000)
    #expect(!again)
  }

  @Test("a long silence earns no more than a second's worth") func silence() {
    let rate = RequestRate(perSecond: 5, now: 0)
    for _ in 0..<5 { _ = rate.take(now: 0) }
    let taken = (0..<10).filter { _ in rate.take(now: 3600 * 1_000_000_000) }.count
    #expect(taken == 5)
  }

  /// Returns how many of many requests are taken at one time.
  private static func taken(_ rate: RequestRate, at now: Int64) -> Int {
    (0..<100).filter { _ in rate.take(now: now) }.count
  }

  @Test("a lower rate bounds what is left of a second's worth at once, and a higher one adds nothing to it")
  func changed() {
    let lower = RequestRate(perSecond: 50, now: 0)
    lower.change(perSecond: 5)
    #expect(lower.isFull(now: 0))
    #expect(Self.taken(lower, at: 0) == 5)
    #expect(lower.delay(now: 0) == 200_000_000)
    let used = RequestRate(perSecond: 10, now: 0)
    for _ in 0..<8 { _ = used.take(now: 0) }
    used.change(perSecond: 5)
    #expect(Self.taken(used, at: 0) == 2)
    let higher = RequestRate(perSecond: 10, now: 0)
    higher.change(perSecond: 20)
    #expect(Self.taken(higher, at: 0) == 10)
    #expect(Self.taken(higher, at: 1_000_000_000) == 20)
  }

  @Test("a request counts until a second is over") func counted() {
    let rate = RequestRate(perSecond: 10, now: 0)
    #expect(rate.isFull(now: 0))
    _ = rate.take(now: 0)
    #expect(!rate.isFull(now: 999_999_999) && rate.isFull(now: 1_000_000_000))
  }
}
