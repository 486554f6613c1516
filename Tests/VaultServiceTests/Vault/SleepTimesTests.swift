import Testing
import VaultModel

@testable import VaultService

/// Grants of limited time that end while the machine sleeps: no timer runs then, and the vault may not have noticed the
/// sleep yet.
@Suite("Times that go on in a sleep") struct SleepTimesTests {
  private static let almost: Int64 = 599_999_999_999

  @Test("an approval ends by them") func approval() throws {
    let stand = try RequestStand()
    try stand.approve(try stand.number("a"), uses: 100, seconds: 900)
    stand.rooms.hands.pass(seconds: 300)
    stand.rooms.hands.sleep(Self.almost)
    #expect(try stand.ask("a", for: nil) == .served)
    stand.rooms.hands.sleep(1)
    #expect(try stand.ask("a", for: nil) == RequestStand.denied)
    #expect(try stand.access.toldRequests(for: RoomStand.caller()).approvals.isEmpty)
  }

  @Test("a denial is over by them, and so is the pause after many requests") func denial() throws {
    let stand = try RequestStand()
    try stand.deny(try stand.number("a"))
    stand.rooms.hands.pass(seconds: 20)
    stand.rooms.hands.sleep(39_999_999_999)
    let refusal = "an administrator has denied this; it may be requested again in \(Seconds.format(60))"
    #expect(try stand.ask("a") == .refused(.denied(refusal)))
    stand.rooms.hands.sleep(1)
    _ = try stand.number("a")
    for index in 0..<100 { _ = try stand.ask("many/\(index)") }
    #expect(try stand.ask("b") == RequestStand.denied)
    stand.rooms.hands.sleep(seconds: 11)
    _ = try stand.number("b")
  }

  @Test("a proof of presence counts for no longer") func presence() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a", require: .userPresence)
    func isServed() -> Bool {
      var isLent = false
      _ = try? stand.items.get(ItemName("a"), for: RoomStand.caller()) { _, _, _ in isLent = true }
      return isLent
    }
    stand.access.add(.presence, by: RoomStand.caller(), with: [])
    stand.hands.pass(seconds: 20)
    stand.hands.sleep(39_999_999_999)
    #expect(isServed())
    stand.hands.sleep(1)
    #expect(!isServed())
  }

  @Test("a dismissal is over by them") func dismissal() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend()
    stand.lock()
    let call = stand.askUnlock()
    stand.turn()
    try stand.attendance.dismiss(try #require(agent.numbers.last), isUnable: false, for: AttendanceStand.process(10))
    #expect(call.end == .dismissed)
    stand.rooms.hands.sleep(59_999_999_999)
    #expect(stand.askUnlock().joined == "dismissed")
    stand.rooms.hands.sleep(1)
    #expect(stand.askUnlock().joined == "waits")
  }
}
