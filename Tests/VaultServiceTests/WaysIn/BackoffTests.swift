import Testing

@testable import VaultService

@Suite("Backoff") struct BackoffTests {
  private let second: Int64 = 1_000_000_000
  private let caller = Backoff.Source(uid: 1000, method: "password")

  @Test("each failure doubles the wait, up to a minute") func doubling() {
    var backoff = Backoff()
    let waits = (0..<9).map { _ in backoff.charge(caller, now: 0) }
    #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60])
  }

  @Test("the wait runs from the failure and ends") func waitEnds() {
    var backoff = Backoff()
    _ = backoff.charge(caller, now: 5 * second)
    #expect(backoff.wait(for: caller, now: 5 * second) == second)
    #expect(backoff.wait(for: caller, now: 6 * second) == 0)
  }

  @Test("a success forgets the failures") func forgiven() {
    var backoff = Backoff()
    _ = backoff.charge(caller, now: 0)
    backoff.forgive(caller)
    #expect(backoff.wait(for: caller, now: 0) == 0)
    #expect(backoff.charge(caller, now: 0) == 1)
  }

  @Test("another uid and another method do not wait") func othersDoNotWait() {
    var backoff = Backoff()
    _ = backoff.charge(caller, now: 0)
    #expect(backoff.wait(for: .init(uid: 1001, method: "password"), now: 0) == 0)
    #expect(backoff.wait(for: .init(uid: 1000, method: "recovery"), now: 0) == 0)
  }

  @Test("the file brings the failures back") func fileRoundTrip() {
    var backoff = Backoff()
    for _ in 0..<3 { _ = backoff.charge(caller, now: 7) }
    _ = backoff.charge(.init(uid: 0, method: "recovery"), now: 7)
    #expect(Backoff(parsing: backoff.text(bootID: "a"), bootID: "a", now: 7) == backoff)
  }

  @Test(
    "after a restart of the machine the whole wait begins anew, however long the machine ran before",
    arguments: [1, 8, 500])
  func newBoot(uptime: Int64) {
    // By the clock of the earlier boot, the wait would be over at ten seconds, end soon after, or last for minutes.
    var backoff = Backoff()
    for _ in 0..<3 { _ = backoff.charge(caller, now: uptime * second) }
    var later = Backoff(parsing: backoff.text(bootID: "a"), bootID: "b", now: 10 * second)
    #expect(later.wait(for: caller, now: 10 * second) == 4 * second)
    #expect(later.charge(caller, now: 14 * second) == 8)
  }

  @Test("a file that was tampered with locks nobody out for longer than the count says") func noLockOut() {
    let backoff = Backoff(
      parsing: "1000 password 1 a \(Int64.max)\nrubbish\n1 2 3\n-1 x 1 a 1\n", bootID: "a", now: 0)
    #expect(backoff.failures.count == 1)
    #expect(backoff.wait(for: caller, now: 0) == second)
  }

  @Test(
    "absurd numbers are not counted on",
    arguments: [
      "1000 password \(Int.max) a \(Int64.max)", "1000 password \(Int.max) b 0", "1000 password 7 a \(Int64.min)",
      "* * \(Int.max) a \(Int64.max)",
    ])
  func absurd(_ line: String) {
    var backoff = Backoff(parsing: line + "\n", bootID: "a", now: 5)
    #expect((0...60 * second).contains(backoff.wait(for: caller, now: 5)))
    for _ in 0..<3 { #expect(backoff.charge(caller, now: 5) == 60) }
    #expect(backoff.wait(for: caller, now: 5) == 60 * second)
    #expect(Backoff(parsing: backoff.text(bootID: "a"), bootID: "a", now: 5) == backoff)
  }

  @Test(
    "a line that cannot be read may have been anybody's",
    arguments: [
      "rubbish", "1000 password", "-1 password 1 a 1", "1000 password -1 a 1", "1000 password 1 a 1 1",
      "* password 1 a 1",
      "1000 password 99999999999999999999 a 1",
    ])
  func unreadable(_ line: String) {
    let backoff = Backoff(parsing: line + "\n1001 password 1 a 0\n", bootID: "a", now: 5)
    #expect(backoff.wait(for: caller, now: 5) == 60 * second)
    #expect(backoff.wait(for: .init(uid: 1001, method: "password"), now: 5) == 0)
  }

  @Test("when nothing is known everyone waits once, and a success ends that for good") func suspected() {
    let now = 100 * second
    var backoff = Backoff(suspecting: now)
    #expect(backoff.wait(for: caller, now: now) == 60 * second)
    #expect(backoff.wait(for: caller, now: now + 60 * second) == 0)
    #expect(backoff.charge(caller, now: now + 60 * second) == 60)
    backoff.forgive(caller)
    for bootID in ["a", "b"] {
      var later = Backoff(parsing: backoff.text(bootID: "a"), bootID: bootID, now: now)
      #expect(later.wait(for: caller, now: now) == 0)
      #expect(later.charge(caller, now: now) == 1)
      let other = Backoff.Source(uid: 1000, method: "recovery")
      // The precaution against unknown attempts does not outlast a reboot of the machine.
      #expect(later.wait(for: other, now: now) == (bootID == "a" ? 60 * second : 0))
      #expect(later.charge(other, now: now) == 60)
    }
  }
}
