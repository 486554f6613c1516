import Testing

@testable import VaultService

@Suite("Lock policy") struct LockPolicyTests {
  private let second: Int64 = 1_000_000_000

  @Test("a locked vault has no deadline") func noDeadlineWhileLocked() {
    var policy = LockPolicy(idleAfter: 300, maximumAge: 3600)
    #expect(policy.next == nil)
    policy.unlocked(at: 0, for: nil)
    policy.locked()
    #expect(policy.next == nil)
    #expect(policy.due(at: .max) == nil)
  }

  @Test("the earliest deadline wins and says why")
  func earliestWins() {
    var policy = LockPolicy(idleAfter: 300, maximumAge: 3600)
    policy.unlocked(at: 10 * second, for: nil)
    #expect(policy.next == .init(at: 310 * second, reason: .idle))
    policy.unlocked(at: 10 * second, for: 60)
    #expect(policy.next == .init(at: 70 * second, reason: .asked))
    policy = LockPolicy(idleAfter: nil, maximumAge: 20)
    policy.unlocked(at: 0, for: 60)
    #expect(policy.next == .init(at: 20 * second, reason: .age))
  }

  @Test("the time that was asked for is not cut short by the idle time, and by the maximum age it is")
  func askedForOutlastsIdle() {
    var policy = LockPolicy(idleAfter: 300, maximumAge: 12 * 3600)
    policy.unlocked(at: 0, for: 8 * 3600)
    #expect(policy.next == .init(at: 8 * 3600 * second, reason: .asked))
    policy.personAsked(at: 100 * second)
    policy.idleAfter = 60
    #expect(policy.due(at: 8 * 3600 * second - 1) == nil)
    policy.unlocked(at: 0, for: 24 * 3600)
    #expect(policy.next == .init(at: 12 * 3600 * second, reason: .age))
    policy.locked()
    policy.unlocked(at: 0, for: nil)
    #expect(policy.next?.reason == .idle)
  }

  @Test("a person's request moves the idle deadline and no other") func personMovesIdleOnly() {
    var policy = LockPolicy(idleAfter: 300, maximumAge: 400)
    policy.unlocked(at: 0, for: nil)
    policy.personAsked(at: 50 * second)
    #expect(policy.next == .init(at: 350 * second, reason: .idle))
    policy.personAsked(at: 200 * second)
    #expect(policy.next == .init(at: 400 * second, reason: .age))
  }

  @Test("an older request does not bring the idle deadline forward") func timeDoesNotGoBack() {
    var policy = LockPolicy(idleAfter: 300, maximumAge: nil)
    policy.unlocked(at: 100 * second, for: nil)
    policy.personAsked(at: 50 * second)
    #expect(policy.next?.at == 400 * second)
  }

  @Test("a deadline is due at its time and not before") func dueAtItsTime() {
    var policy = LockPolicy(idleAfter: 10, maximumAge: nil)
    policy.unlocked(at: 0, for: nil)
    #expect(policy.due(at: 10 * second - 1) == nil)
    #expect(policy.due(at: 10 * second)?.reason == .idle)
  }

  @Test("a warning comes before the next deadline, unless the whole time from its beginning is no longer than that")
  func warned() {
    let lead = 30 * second
    var policy = LockPolicy(idleAfter: 31, maximumAge: nil)
    #expect(policy.warning(lead) == nil)
    policy.unlocked(at: 0, for: nil)
    #expect(policy.warning(lead) == second)
    policy.idleAfter = 30
    #expect(policy.warning(lead) == nil)
    // The idle time begins with each use, and the other times with the unlock only.
    policy.personAsked(at: 20 * second)
    #expect(policy.warning(lead) == nil)
    policy.idleAfter = 31
    #expect(policy.warning(lead) == 21 * second)
    policy.maximumAge = 31
    #expect(policy.warning(lead) == second)
    policy.maximumAge = 30
    #expect(policy.warning(lead) == nil)
    policy = LockPolicy(idleAfter: 300, maximumAge: nil)
    policy.unlocked(at: 0, for: 31)
    policy.personAsked(at: 20 * second)
    #expect(policy.warning(lead) == second)
    policy.unlocked(at: 0, for: .max)
    #expect(policy.warning(lead) == nil)
  }

  @Test("a time too long for the clock is never reached") func hugeTimesDoNotOverflow() {
    var policy = LockPolicy(idleAfter: .max, maximumAge: nil)
    policy.unlocked(at: 5, for: .max)
    #expect(policy.due(at: .max - 1) == nil)
  }
}
