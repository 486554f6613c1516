import Testing
import VaultCore
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

  @Test("grants count on at the end without being read again, and are those of the new store") func grants() throws {
    let rooms = try RoomStand.unlocked(system: true)
    defer { rooms.end() }
    try rooms.set("own/1")
    try GrantTests.give(rooms, "user:990", "own/*", "get")
    let keychain = try rooms.vault.keychain()
    let (before, revision) = (rooms.access.book.sets, rooms.access.book.revision)
    try rooms.rekey()
    #expect(rooms.rooms.upkeep.rekeyProgress == nil)
    #expect(rooms.access.book.revision == revision && rooms.access.carried.isEmpty)
    for accessible in AccessClass.allCases {
      let stored = try keychain.grantSet(of: accessible)
      #expect(rooms.access.book.sets[accessible] == stored && before[accessible] != stored, "\(accessible)")
    }
    #expect(try GrantTests.isServed(rooms, "own/1", RoomStand.caller(990)))
    // The records in the new store are those in memory: one of them can be revoked, and stays so.
    _ = try rooms.access.revoke(try Subject(parsing: "user:990"), try ItemPattern("own/*"), for: rooms.administrator)
    try rooms.restart()
    try rooms.unlock(isRekeyed: true)
    rooms.run()
    #expect(throws: GrantTests.denied) { try GrantTests.isServed(rooms, "own/1", RoomStand.caller(990)) }
    #expect(try rooms.vault.keychain().verify().findings == [])
  }

  /// Runs a rekey, between whose steps a user without any right searches, and makes a state after so many of them. Then
  /// opens the vault again, and expects the store, the log and the state to be whole.
  ///
  /// - Parameter closed: the vault, of which a copy is rekeyed.
  /// - Returns: false if the rekey has fewer steps.
  private static func keeps(_ state: PendingState, after step: Int, of closed: RequestStand) throws -> Bool {
    let stand = try PendingState.copy(of: closed)
    let rooms = stand.rooms
    defer { rooms.end() }
    let (keychain, stranger) = (try rooms.vault.keychain(), RoomStand.caller(4711))
    let (old, words) = (keychain.publicKey, String(repeating: "x", count: 930))
    let note = "\(state) after step \(step)"
    var isThere: ((Bool) throws -> Bool)?
    var steps = 0
    try rooms.beginRekey()
    while rooms.rooms.upkeep.rekeyProgress != nil {
      if steps == step { isThere = try state.put(stand) }
      try rooms.items.begin(search: "number=\(steps) \(words)", for: stranger)
      #expect(try GrantTests.found(rooms, stranger).isEmpty)
      rooms.stepRekey()
      steps += 1
      try #require(steps < 300, "\(note): the rekey does not end")
    }
    guard let isThere else { return false }
    #expect(keychain.publicKey != old && rooms.vault.state.kind == .unlocked, "\(note)")
    #expect(try isThere(false), "\(note)")

    rooms.hands.pass(seconds: 61)
    rooms.run()
    rooms.access.storeUses()
    try rooms.restart()
    try rooms.unlock(isRekeyed: true)
    rooms.run()
    let again = try rooms.vault.keychain()
    #expect(again.isVerified, "\(note)")
    #expect(try again.verify().findings == [], "\(note)")
    #expect(try AuditTests.told(rooms).count { $0.hasPrefix("find ok number=") } == steps, "\(note)")
    #expect(try isThere(true), "\(note), after a restart")
    try rooms.set("later")
    return true
  }

  @Test(
    "is there afterwards, at whichever step it came, however much a stranger searches",
    arguments: PendingState.allCases)
  func everyStep(state: PendingState) throws {
    let closed = try PendingState.stand()
    closed.rooms.end()
    var step = 0
    while try Self.keeps(state, after: step, of: closed) { step += 1 }
    #expect(step > 5)
  }

  @Test(
    "deposits that an unlock is taking in are all taken in, before the takeover or after it", arguments: [1, 10, 100])
  func deposits(count: Int) throws {
    let rooms = try RoomStand.unlocked(system: true)
    defer { rooms.end() }
    try GrantTests.give(rooms, "user:990", "own/*", "deposit,set")
    rooms.vault.lock(because: .asked)
    for number in 0..<count {
      try DepositTests.leave(rooms, "own/\(number)", "value \(number)", by: RoomStand.caller(990))
    }
    // Each part takes in one deposit.
    rooms.hands.stride.value = DepositWork.part
    try rooms.unlock()
    rooms.hands.stride.value = 0
    var steps = 0
    try rooms.beginRekey()
    while rooms.rooms.upkeep.rekeyProgress != nil {
      rooms.stepRekey()
      // The rekey comes before the last of many deposits.
      for _ in 0..<(count < 100 ? 0 : 5) { _ = rooms.rooms.upkeep.rekey?.run(until: 0) }
      steps += 1
      try #require(steps < 1000, "the rekey does not end")
    }
    let waiting = try rooms.items.deposits().count { $0.isWaiting }
    #expect(waiting > 0 || count < 100, "all deposits were taken in before the takeover")
    rooms.run()
    for isRestarted in [false, true] {
      if isRestarted {
        try rooms.restart()
        try rooms.unlock(isRekeyed: true)
        rooms.run()
      }
      let left = try rooms.items.deposits()
      #expect(left.allSatisfy { !$0.isWaiting && $0.obstacle == nil })
      for number in 0..<count { #expect(try DepositTests.value(rooms, "own/\(number)") == "value \(number)") }
      #expect(try rooms.vault.keychain().verify().findings == [])
    }
  }
}
