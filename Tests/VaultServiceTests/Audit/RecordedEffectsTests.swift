import Testing
import VaultModel

@testable import VaultService

/// The changes that an administrator makes to rights, on a disk that may fill up with each write.
@Suite("A change of rights, where the log is required") struct RecordedEffectsTests {
  /// A change, with the action of its entry.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let action: String
    let make: @Sendable (RequestStand) throws -> Void

    init(_ title: String, _ action: String, _ make: @escaping @Sendable (RequestStand) throws -> Void) {
      (testDescription, self.action, self.make) = (title, action, make)
    }
  }

  private static func give(_ stand: RequestStand, _ pattern: String) throws {
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern(pattern), try Rights(parsing: "get"), until: nil,
      for: stand.rooms.administrator)
  }

  private static let changes = [
    Change("an approval", "approve") { try $0.approve($0.pending[0].number) },
    Change("an approval for good", "approve") { try $0.approve($0.pending[0].number, always: true) },
    Change("a denial", "deny") { try $0.deny($0.pending[0].number) },
    Change("a denial for good", "deny") { try $0.deny($0.pending[0].number, always: true) },
    Change("a denial that is forgotten", "deny") { stand in
      let target = stand.access.requests.denials[0].target
      try stand.access.forgetDenial(of: target, for: stand.rooms.administrator)
    },
    Change("a denial for good that is forgotten", "deny") { stand in
      let target = try #require(stand.access.book.denied.keys.first)
      try stand.access.forgetDenial(of: target, for: stand.rooms.administrator)
    },
    Change("a grant", "grant") { try give($0, "new") },
    Change("a clock that is set back", "clock") { stand in
      _ = try stand.access.repairClock(for: stand.rooms.administrator)
    },
    Change("a grant that is revoked", "revoke") { stand in
      _ = try stand.access.revoke(try Subject(parsing: "user:990"), nil, for: stand.rooms.administrator)
    },
  ]

  /// The rights, and the requests for them, that count now.
  private static func state(_ stand: RequestStand) -> [String] {
    let (requests, book) = (stand.access.requests, stand.access.book)
    return requests.pending.map { "pending \($0.target.name)" }
      + requests.approvals.map { "approved \($0.target.name)" }
      + requests.denials.map { "denied \($0.target.name)" }
      + book.denied.keys.map { "denied for good \($0.name)" }.sorted()
      + book.all.map { "granted \($0.grant.subject) \($0.grant.pattern.text)" }.sorted()
      + book.revoked.map { "still stored \($0)" }
      + ["newest time \(stand.rooms.vault.newestTime)"]
  }

  /// The patterns of the grants that a kill leaves.
  private static func granted(_ stand: RoomStand) -> [String] {
    stand.access.book.all.map { "\($0.grant.subject) \($0.grant.pattern.text)" }.sorted()
  }

  /// The entries of an action that was done, as a kill leaves them.
  private static func done(_ action: String, _ stand: RequestStand) throws -> Int {
    try AuditTests.told(stand.rooms.afterKill()).count { $0.hasPrefix("\(action) ok ") }
  }

  @Test("takes effect together with its entry, or not at all and has none that says so", arguments: changes)
  func together(_ change: Change) throws {
    var (hasFailed, isDone) = (false, false)
    for writes in 0..<64 where !isDone {
      var settings = VaultSettings()
      settings.audit.mode = .required
      var disk: SmallDisk?
      let stand = try RequestStand(settings, items: ["a", "b", "c"]) { disk = SmallDisk($0) }
      defer { stand.rooms.vault.closeStore() }
      try Self.give(stand, "old")
      try stand.deny(try stand.number("b"))
      try stand.deny(try stand.number("c"), always: true)
      _ = try stand.number("a")
      stand.rooms.hands.wall.value += 100
      try stand.rooms.set("d")
      stand.rooms.hands.wall.value -= 100
      stand.rooms.run()
      let (state, known) = (Self.state(stand), try Self.done(change.action, stand))
      disk?.fill(after: writes)
      do { try change.make(stand) } catch is Refusal {
        hasFailed = true
        #expect(Self.state(stand) == state, "after \(writes) writes")
        disk?.free()
        #expect(stand.rooms.vault.audit.write())
        #expect(try Self.done(change.action, stand) == known, "after \(writes) writes")
        continue
      }
      #expect(Self.state(stand) != state)
      #expect(try Self.done(change.action, stand) == known + 1, "after \(writes) writes")
      // A kill leaves what counts now.
      #expect(try Self.granted(stand.rooms.afterKill()) == Self.granted(stand.rooms), "after \(writes) writes")
      isDone = disk?.refused == 0
    }
    #expect(hasFailed && isDone)
  }

  @Test("is counted beyond its part of the log only if it was made") func counted() throws {
    var disk: SmallDisk?
    let stand = try RoomStand.unlocked(AuditFilling.small(.required), system: true) { disk = SmallDisk($0) }
    defer { stand.vault.closeStore() }
    AuditFilling.fill(stand, .grant, .ok, stand.administrator)
    try AuditFilling.give(stand, "user:990", "old")
    func times() throws -> [String: Int] {
      try AuditFilling.times(stand, .grant, .ok, by: stand.administrator.uid)
    }
    for writes in 0..<2 {
      let before = try times()
      disk?.fill(after: writes)
      #expect(throws: Refusal.self, "after \(writes) writes") {
        try AuditFilling.give(stand, "user:990", "new \(writes)")
      }
      disk?.free()
      #expect(try times() == before, "after \(writes) writes")
    }
    let before = try times()
    try AuditFilling.give(stand, "user:990", "new")
    #expect(try times() != before)
  }

  @Test("that revokes a grant which cannot be removed yet says so in its entry", arguments: [true, false])
  func notStored(isRequired: Bool) throws {
    var settings = VaultSettings()
    if isRequired { settings.audit.mode = .required }
    let stand = try RequestStand(settings)
    try Self.give(stand, "old")
    stand.rooms.vault.lock(because: .asked)
    let revoked = try stand.access.revoke(try Subject(parsing: "user:990"), nil, for: stand.rooms.administrator)
    #expect(revoked.unstored != nil)
    try stand.rooms.unlock()
    var filter = AuditFilter()
    filter.action = .revoke
    let entry = try #require(try AuditTests.found(stand.rooms, filter).last)
    #expect(entry.outcome == .ok && entry.detail == "not stored yet")
    try Self.give(stand, "new")
    _ = try stand.access.revoke(
      try Subject(parsing: "user:990"), try ItemPattern("new"), for: stand.rooms.administrator)
    #expect(try AuditTests.found(stand.rooms, filter).last?.detail == "new")
  }
}
