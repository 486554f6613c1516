import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

// The beginning and the end of grants, and their way back from the store.
extension GrantTests {
  @Test("count again after a restart, in each class once its key is there") func states() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/a")
    try stand.set("own/always", accessible: .always)
    try Self.give(stand, "user:990", "own/*", "get,find,watch")
    let caller = RoomStand.caller(990)
    try stand.restart(withBootKey: false)
    for name in ["own/a", "own/always", "other"] {
      #expect(try stand.items.get(try ItemName(name), for: caller) { _, _, _ in } == .unlock)
    }
    #expect(stand.items.mayWatchAnything(caller) == nil)
    try stand.restart()
    #expect(try Self.isServed(stand, "own/always", caller))
    #expect(try stand.items.get(try ItemName("own/a"), for: caller) { _, _, _ in } == .unlock)
    #expect(try stand.items.get(try ItemName("other"), for: caller) { _, _, _ in } == .unlock)
    #expect(stand.items.mayWatchAnything(caller) == true)
    try stand.unlock()
    #expect(try Self.isServed(stand, "own/a", caller))
    #expect(throws: Self.denied) { try Self.isServed(stand, "other", caller) }
    stand.vault.lock(because: .asked)
    #expect(try stand.items.get(try ItemName("own/a"), for: caller) { _, _, _ in } == .unlock)
    #expect(throws: Self.denied) { try Self.isServed(stand, "other", caller) }
    #expect(try Self.found(stand, caller) == ["own/a", "own/always"])
  }

  @Test("are forgotten by a lock that hides names, which names them too") func hiddenNames() throws {
    var settings = VaultSettings()
    settings.hideNames = true
    let stand = try RoomStand.unlocked(settings, system: true)
    try stand.set("own/a")
    try stand.set("own/boot", accessible: .always)
    try Self.give(stand, "user:990", "own/*", "get,find")
    stand.vault.lock(because: .asked)
    let caller = RoomStand.caller(990)
    #expect(stand.access.book.all.isEmpty && !AccessClass.allCases.contains(where: stand.access.book.knows))
    #expect(try stand.items.get(try ItemName("other"), for: caller) { _, _, _ in } == .unlock)
    // Items that need no unlock are served by grants that are read again and not kept.
    #expect(try Self.isServed(stand, "own/boot", caller))
    #expect(stand.access.book.all.isEmpty && caller.memory.standing == nil)
    #expect(throws: Refusal.locked(stand.vault.state)) { try stand.access.grants(.init(), for: stand.administrator) }
    // A revoked grant no longer counts, though nobody can tell yet which one it was.
    let (_, unstored) = try stand.access.revoke(
      try Subject(parsing: "user:990"), try ItemPattern("own/*"), for: stand.administrator)
    #expect(unstored != nil)
    #expect(try !Self.isServed(stand, "own/boot", caller))
    try stand.unlock()
    #expect(throws: Self.denied) { try Self.isServed(stand, "own/boot", caller) }
    try Self.give(stand, "user:990", "own/*", "get,find")
    #expect(try Self.isServed(stand, "own/a", caller))
    try stand.restart()
    #expect(stand.access.book.all.isEmpty)
    #expect(try Self.isServed(stand, "own/boot", caller))
  }

  @Test("are revoked at once, and taken out of the store at the next unlock where it is locked") func revoking() throws
  {
    let stand = try RoomStand.unlocked(system: true)
    let caller = RoomStand.caller(990)
    try stand.set("own/a", accessible: .always)
    try Self.give(stand, "user:990", "own/*", "get")
    try Self.give(stand, "user:990", "own/a", "get")
    stand.vault.lock(because: .asked)
    let pattern = try ItemPattern("own/*")
    let (revoked, unstored) = try stand.access.revoke(
      try Subject(parsing: "user:990"), pattern, for: stand.administrator)
    #expect(revoked.count == 1 && unstored == "the vault is locked")
    // The other grant still counts.
    #expect(try Self.isServed(stand, "own/a", caller))
    let all = try stand.access.revoke(try Subject(parsing: "user:990"), nil, for: stand.administrator)
    #expect(all.revoked.count == 1)
    #expect(throws: Self.denied) { try Self.isServed(stand, "own/a", caller) }
    try stand.unlock()
    #expect(throws: Self.denied) { try Self.isServed(stand, "own/a", caller) }
    try stand.restart()
    try stand.unlock()
    #expect(stand.access.book.all.isEmpty)
    #expect(throws: Refusal.noSuchGrant("user:990")) {
      _ = try stand.access.revoke(try Subject(parsing: "user:990"), nil, for: stand.administrator)
    }
  }

  @Test("that were revoked while locked are there again after a restart before the next unlock") func unstored() throws
  {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "user:990", "own/*", "get")
    stand.vault.lock(because: .asked)
    _ = try stand.access.revoke(try Subject(parsing: "user:990"), nil, for: stand.administrator)
    try stand.restart()
    try stand.unlock()
    // The grants for items of the classes whose keys were in memory are gone.
    #expect(stand.access.book.all.count == 1)
    #expect(try Keychain.classes(of: stand).map(\.count) == [1, 0, 0])
  }

  @Test("are replaced by another for the same subject and items") func replacing() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("a")
    try Self.give(stand, "user:990", "a", "get,find")
    let old = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("a"), Rights(.find), until: nil, for: stand.administrator)
    #expect(old?.rights.names == ["get", "find"])
    #expect(throws: Self.denied) { try Self.isServed(stand, "a", RoomStand.caller(990)) }
    #expect(stand.access.book.all.count == 1)
    #expect(try Keychain.classes(of: stand).map(\.count) == [1, 1, 1])
  }

  @Test(
    "of weaker classes alone count no more once a stronger class is known: somebody with the boot key put them there")
  func forged() throws {
    func record(_ user: Int, _ rights: Rights) throws -> GrantRecord {
      GrantRecord(
        .grant(
          Grant(
            subject: try Subject(parsing: "user:\(user)"), pattern: try ItemPattern("**"), rights: rights, created: 1)))
    }
    func counts(_ book: GrantBook, _ user: UInt32) -> Int {
      book.grants(for: CallerParts(RoomStand.caller(user), isSystem: true)).values.reduce(0) { $0 + $1.count }
    }
    let (real, forged) = (try record(990, Rights(.get)), try record(666, .all))
    // The first forgery adds a record, the second replaces the content of one.
    var edited = real
    edited.content = forged.content
    for records in [[real, forged], [edited]] {
      var book = GrantBook()
      book.load(.always, records)
      #expect(counts(book, 666) == 1)
      book.load(.whenUnlocked, [real])
      book.load(.afterFirstUnlock, [real])
      #expect(counts(book, 666) == 0)
      #expect(counts(book, 990) == (records.count == 2 ? 3 : 2))
      #expect(!book.counting.contains(forged.id))
      // Classes that differ from what was stored have no say in this.
      book.load([
        .whenUnlocked: .changed([real], because: .corrupt("")), .afterFirstUnlock: .changed([], because: .corrupt("")),
      ])
      #expect(counts(book, 666) == 1)
    }
    // If a class lost the record that all grants wait to be confirmed, its grants do not count, either.
    var book = GrantBook()
    book.load(.always, [real])
    book.load(.whenUnlocked, [real, GrantRecord(.unconfirmed(since: 1))])
    #expect(counts(book, 990) == 0)
  }

  @Test("that differ in one class alone do not count there, whichever stronger class is known") func edited() throws {
    func grant(_ pattern: String, _ rights: Rights) throws -> GrantRecord.Content {
      .grant(
        Grant(subject: try Subject(parsing: "user:990"), pattern: try ItemPattern(pattern), rights: rights, created: 1))
    }
    let real = GrantRecord(try grant("a", Rights(.get)))
    let parts = CallerParts(RoomStand.caller(990), isSystem: true)
    for content in [try grant("a", .all), try grant("**", Rights(.get))] {
      var edited = real
      edited.content = content
      // The classes are in order from the strongest to the weakest.
      for (place, weaker) in AccessClass.allCases.enumerated() {
        for stronger in AccessClass.allCases.prefix(place) {
          var book = GrantBook()
          book.load(stronger, [real])
          book.load(weaker, [edited])
          let found = book.grants(for: parts)
          #expect(found[weaker]?.isEmpty == true, "\(weaker) beside \(stronger)")
          #expect(found[stronger]?.map(\.grant.rights) == [Rights(.get)], "\(stronger) beside \(weaker)")
        }
      }
    }
  }

  @Test("are revoked also where nobody can read them yet: they never come to count") func coming() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/a")
    for pattern in ["own/*", "own/a"] { try Self.give(stand, "user:990", pattern, "get") }
    try Self.give(stand, "user:991", "own/*", "get")
    try stand.restart(withBootKey: false)
    let subject = try Subject(parsing: "user:990")
    let (revoked, unstored) = try stand.access.revoke(subject, try ItemPattern("own/*"), for: stand.administrator)
    #expect(revoked.isEmpty && unstored == "the vault is locked")
    try stand.unlock()
    #expect(stand.access.book.all.map(\.grant.pattern.text).sorted() == ["own/*", "own/a"])
    #expect(try Keychain.classes(of: stand).map(\.count) == [2, 2, 2])
    _ = try stand.access.revoke(subject, nil, for: stand.administrator)
    #expect(throws: Self.denied) { try Self.isServed(stand, "own/a", RoomStand.caller(990)) }
    #expect(try Self.isServed(stand, "own/a", RoomStand.caller(991)))
    // A later grant counts.
    try Self.give(stand, "user:990", "own/*", "get")
    #expect(try Self.isServed(stand, "own/a", RoomStand.caller(990)))
  }
}

extension Keychain {
  /// Returns the grants in the store for items of each class.
  fileprivate static func classes(of stand: RoomStand) throws -> [[GrantRecord]] {
    let keychain = try stand.vault.keychain()
    return try AccessClass.allCases.map { try keychain.grants(of: $0).filter { $0.grant != nil } }
  }
}
