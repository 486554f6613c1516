import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("Request rate") struct RequestRateTests {
  @Test("a second's worth may come at once, then the rate holds") func burstThenRate() {
    let rate = RequestRate(perSecond: 10, now: 0)
    let burst = (0..<12).map { _ in rate.take(now: 0) }
    #expect(burst == Array(repeating: true, count: 10) + [false, false])
    #expect(rate.delay(now: 0) == 100_000_000)
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
}
