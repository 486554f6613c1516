import Testing
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("What the service keeps in memory during a rekey") struct RekeyStateTests {
  @Test("requests, approvals, uses of grants and counts of the log are there afterwards") func kept() throws {
    let stand = try RequestStand(items: ["a", "b", "c"])
    let rooms = stand.rooms
    try stand.approve(try stand.number("a"), uses: 2)
    #expect(try stand.ask("a") == .served)
    let waiting = try stand.number("b")
    let service = RoomStand.caller(991)
    _ = try rooms.access.give(
      try Subject(parsing: "user:991"), try ItemPattern("c"), try Rights(parsing: "get"), until: nil,
      for: rooms.administrator)
    rooms.hands.pass(seconds: 5)
    for _ in 0..<5 { AuditTests.get(rooms, "c", service) }
    let used = rooms.hands.wall.value
    let keychain = try rooms.vault.keychain()
    let old = keychain.publicKey

    try rooms.rekey()
    #expect(rooms.rooms.upkeep.rekeyProgress == nil && keychain.publicKey != old)
    #expect(try stand.ask("a") == .served)
    #expect(try stand.ask("a") != .served, "an approval for two uses counted anew")
    try stand.approve(waiting)
    #expect(try stand.ask("b") == .served)
    let grants = rooms.access.book.all.map { rooms.access.told($0.id, $0.grant).grant }
    #expect(grants.compactMap(\.used) == [used])
    AuditTests.get(rooms, "c", service)
    rooms.hands.pass(seconds: 61)
    let gets = try AuditTests.told(rooms).filter { $0.hasPrefix("get ok c") }
    #expect(gets == ["get ok c", "get ok c ×4", "get ok c"])
    #expect(try keychain.verify().isOK)
  }
}
