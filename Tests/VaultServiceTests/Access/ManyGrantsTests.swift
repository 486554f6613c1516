import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("Many grants") struct ManyGrantsTests {
  private let caller = RoomStand.caller(990)

  private static func give(
    _ stand: RoomStand, _ pattern: String, _ rights: String = "get,find", to subject: String = "user:990",
    until: Int64? = nil
  ) throws {
    _ = try stand.access.give(
      try Subject(parsing: subject), try ItemPattern(pattern), try Rights(parsing: rights), until: until,
      for: stand.administrator)
  }

  private static func revoke(_ stand: RoomStand, _ pattern: String) throws {
    _ = try stand.access.revoke(
      try Subject(parsing: "user:990"), try ItemPattern(pattern), for: stand.administrator)
  }

  /// Makes a machine's vault with an item, and a grant for each of this many names.
  private static func many(_ count: Int) throws -> RoomStand {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/0")
    for number in 0..<count { try give(stand, "own/\(number)") }
    return stand
  }

  @Test("of a locked vault that hides names are opened for their caller alone") func hidden() throws {
    var settings = VaultSettings()
    settings.hideNames = true
    let stand = try RoomStand.unlocked(settings, system: true)
    for uid in [990, 991, 992] { try Self.give(stand, "own/\(uid)", to: "user:\(uid)") }
    try Self.give(stand, "own/both", to: "user:990,unit:a.service")
    stand.vault.lock(because: .asked)
    let keychain = try stand.vault.keychain()
    let hidden = HiddenGrants(keychain) { _, error in Issue.record("\(error)") }
    func opened(_ caller: Caller) -> [String] {
      let loaded = hidden.records(for: CallerParts(caller, isSystem: true), keychain)
      let patterns = loaded.values.flatMap { page in
        if case .stored(let records) = page { records.compactMap { $0.grant?.pattern.text } } else { ["changed"] }
      }
      // Each class that can be read has the same grants.
      return Set(patterns).sorted()
    }
    #expect(opened(RoomStand.caller(5)) == [])
    #expect(opened(RoomStand.caller(991)) == ["own/991"])
    #expect(opened(RoomStand.caller(990)) == ["own/990"])
    #expect(opened(RoomStand.caller(990, unit: "a.service")) == ["own/990", "own/both"])
    #expect(hidden.isCurrent(keychain))
    // With an unlock, the grants of other classes can be read as well.
    try stand.unlock()
    #expect(!hidden.isCurrent(keychain))
  }

  @Test("of a locked vault that hides names are opened once in a turn, and dropped with it") func hiddenTurn() throws {
    var settings = VaultSettings()
    settings.hideNames = true
    let stand = try RoomStand.unlocked(settings, system: true)
    try Self.give(stand, "own/1")
    stand.vault.lock(because: .asked)
    var work: [() -> Void] = []
    stand.vault.hooks.afterwards = { work.append($0) }
    let (one, other) = (RoomStand.caller(990), RoomStand.caller(990))
    func mayGet() throws -> Bool { stand.access.permit(one, on: try ItemName("own/1")).has(.get, .always) }
    #expect(try mayGet())
    let standing = try #require(one.memory.standing)
    #expect(try mayGet())
    #expect(one.memory.standing === standing)
    // Another connection of the same user needs no further opening, and has a standing of its own.
    let pending = work.count
    #expect(stand.access.permit(other, on: try ItemName("own/1")).has(.get, .always))
    #expect(work.count == pending && other.memory.standing != nil)
    for work in work { work() }
    #expect(one.memory.standing == nil && other.memory.standing == nil)
    // A lock does not wait for the end of the turn.
    #expect(try mayGet())
    stand.vault.lock(because: .asked)
    stand.access.hidesGrants = true
    #expect(one.memory.standing == nil)
  }

  @Test("of a locked vault that hides names are opened once for callers who differ in nothing that grants name")
  func sharedInTurn() throws {
    var settings = VaultSettings()
    settings.hideNames = true
    let stand = try RoomStand.unlocked(settings, system: true)
    try Self.give(stand, "own/1")
    try Self.give(stand, "ours/1", to: "group:5")
    try Self.give(stand, "ours/2", to: "user:990,group:6")
    stand.vault.lock(because: .asked)
    stand.vault.hooks.afterwards = { _ in }
    func standing(_ groups: [UInt32]) throws -> Standing {
      var caller = RoomStand.caller(990)
      caller.groups = groups
      let permit = stand.access.permit(caller, on: try ItemName("own/1"))
      #expect(permit.has(.get, .always))
      #expect(stand.access.permit(caller, on: try ItemName("ours/1")).has(.get, .always) == groups.contains(5))
      #expect(stand.access.permit(caller, on: try ItemName("ours/2")).has(.get, .always) == groups.contains(6))
      return try #require(caller.memory.standing)
    }
    let plain = try standing([990])
    #expect(try standing([990, 7, 8]) === plain && standing([8, 9]) === plain)
    for groups in [[5], [6], [5, 6], [990, 6, 5]] as [[UInt32]] { #expect(try standing(groups) !== plain) }
  }

  @Test("give callers with the same grants one standing, until the grants change") func sharedStanding() throws {
    for isSystem in [true, false] {
      let stand = try RoomStand.unlocked(system: isSystem)
      stand.access.add(.presence, by: stand.administrator, with: [])
      try Self.give(stand, "own/1")
      try Self.give(stand, "ours/1", to: "user:990,group:5")
      func standing(_ uid: UInt32, _ groups: [UInt32] = []) throws -> Standing {
        var caller = RoomStand.caller(uid)
        caller.groups = groups
        _ = stand.access.permit(caller, on: try ItemName("own/1"))
        return try #require(caller.memory.standing)
      }
      let first = try standing(990)
      #expect(try standing(990, [7]) === first)
      #expect(try standing(991) === standing(992, [5]) && standing(991) !== first)
      let ours = try standing(990, [5])
      #expect(ours !== first && ours.has(.get, now: 0))
      #expect(try standing(990, [6, 5]) === ours)
      try Self.give(stand, "own/2")
      #expect(try standing(990) !== first)
    }
  }

  @Test("are shared by standings that differ, and a question about them is no use") func sharedGrants() throws {
    let stand = try RoomStand.unlocked(system: true)
    for number in 0..<20 { try Self.give(stand, "ours/\(number)/**", to: "group:5") }
    for uid in 990...991 as ClosedRange<UInt32> { try Self.give(stand, "own/\(uid)", to: "user:\(uid)") }
    func standing(_ uid: UInt32) throws -> Standing {
      var caller = RoomStand.caller(uid)
      caller.groups = [5]
      #expect(stand.access.permit(caller, on: try ItemName("own/\(uid)")).has(.get, .always))
      #expect(!stand.access.permit(caller, on: try ItemName("own/5")).has(.get, .always))
      return try #require(caller.memory.standing)
    }
    let (one, other) = (try standing(990), try standing(991))
    for accessible in AccessClass.allCases {
      let entries = [one, other].map { Set(($0.grants[accessible]??.entries ?? []).map(ObjectIdentifier.init)) }
      #expect(entries.map(\.count) == [21, 21] && entries[0].intersection(entries[1]).count == 20)
    }
    let name = try ItemName("ours/7/x")
    stand.access.uses = [:]
    #expect(stand.access.permit(CallerParts(try Subject(parsing: "group:5"), groups: []), on: name).has(.get, .always))
    #expect(stand.access.uses.isEmpty)
    #expect(one.permit(on: name, now: 2000).has(.get, .always) && stand.access.uses.count == 1)
  }

  @Test("give a standing that ends with the last caller who has it") func endedStanding() throws {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "own/1")
    weak var standing: Standing?
    func call() throws {
      let callers = [RoomStand.caller(990), RoomStand.caller(990)]
      for caller in callers { _ = stand.access.permit(caller, on: try ItemName("own/1")) }
      standing = callers[0].memory.standing
      #expect(standing != nil && standing === callers[1].memory.standing)
    }
    try call()
    #expect(standing == nil)
  }

  @Test("do not make a caller ask as another one with the same grants") func askers() throws {
    let stand = try RoomStand.unlocked(system: true)
    for uid in [990, 991] as [UInt32] {
      let caller = RoomStand.caller(uid)
      let number = try stand.access.ask(.get, try ItemName("a"), for: caller, Said(purpose: "x"))
      let told = try stand.access.toldRequests(for: stand.administrator).pending.map(\.0)
      let subject = told.first { $0.number == number }?.target.subject.description
      #expect(subject == "user:\(uid)", "\(told)")
    }
  }

  // MARK: Listing

  @Test("are told a few at a time in order, each as it is when its place comes") func pages() throws {
    let stand = try RoomStand.unlocked(system: true)
    for name in ["b", "d", "f", "h"] { try Self.give(stand, name) }
    let reading = try stand.access.grants(.init(), for: stand.administrator)
    let first = try reading.next(2)
    #expect(first.grants.map(\.grant.pattern.text) == ["b", "d"] && !first.isOver)
    for name in ["a", "g"] { try Self.give(stand, name) }
    try Self.give(stand, "h", "set")
    try Self.revoke(stand, "f")
    let rest = try reading.next(9)
    #expect(
      rest.grants.map { "\($0.grant.pattern) \($0.grant.rights.names)" } == [
        #"g ["get", "find"]"#, #"h ["set"]"#,
      ])
    #expect(rest.isOver)
  }

  @Test("are told no further to whom they are not to be told any more, nor after a lock that hides names")
  func endOfPages() throws {
    let stand = try Self.many(3)
    let own = try stand.access.grants(.init(), for: caller)
    #expect(try own.next(1).grants.count == 1)
    try Self.revoke(stand, "own/1")
    let left = try own.next(9)
    #expect(left.grants.map(\.grant.pattern.text) == ["own/2"] && left.isOver)
    var settings = VaultSettings()
    settings.hideNames = true
    let hiding = try RoomStand.unlocked(settings, system: true)
    for name in ["a", "b"] { try Self.give(hiding, name) }
    let reading = try hiding.access.grants(.init(), for: hiding.administrator)
    #expect(try reading.next(1).grants.count == 1)
    hiding.vault.lock(because: .asked)
    try hiding.unlock()
    #expect(throws: Refusal.self) { try reading.next(9) }
  }

  @Test("that make a credential are told before those that do not") func credentials() throws {
    let stand = try RoomStand.unlocked(system: true)
    for credential in [nil, "b", "a"] as [String?] {
      _ = try stand.access.give(
        try Subject(parsing: "unit:x.service"), try ItemPattern("a"), try Rights(parsing: "get"),
        as: try credential.map { try CredentialID($0) }, until: nil, for: stand.administrator)
    }
    let reading = try stand.access.grants(.init(), for: stand.administrator)
    #expect(try reading.next(2).grants.map { $0.grant.credential?.text } == ["a", "b"])
    #expect(try reading.next(9).grants.map { $0.grant.credential?.text } == [nil])
  }

  @Test("are told no further to a process of the owner's that is held to its own grants from then on")
  func confinedMeanwhile() throws {
    let stand = try RoomStand.unlocked()
    let owner = stand.administrator
    stand.access.add(.presence, by: owner, with: [])
    let process = Caller(
      door: .varlink, uid: RoomStand.owner, groups: [RoomStand.owner], pid: 7, started: nil, unit: nil,
      userUnit: "x.service", session: nil, memory: Caller.Memory(executable: { nil }))
    for name in ["b", "d"] { try Self.give(stand, name, to: "unit:other.service") }
    let reading = try stand.access.grants(.init(), for: process)
    #expect(try reading.next(1).grants.count == 1)
    try Self.give(stand, "z", to: "unit:x.service")
    #expect(throws: Refusal.self) { try reading.next(9) }
  }

  // MARK: In memory

  @Test("count after each change as they do when all are read anew") func changes() throws {
    let stand = try RoomStand.unlocked(system: true)
    func counted() throws -> [String] {
      let book = stand.access.book
      let index = book.grants(for: CallerParts(caller, isSystem: true)).flatMap { accessible, entries in
        entries.map { "\(accessible.name) \($0.grant.pattern) \($0.grant.rights.names)" }
      }
      let all = book.all.map { "\($0.grant.subject) \($0.grant.pattern) \(book.counting.contains($0.id))" }
      return index.sorted() + all.sorted() + ["\(book.names(.group(5))) \(book.names(.unit("x.service")))"]
    }
    let changes: [() throws -> Void] = [
      { try Self.give(stand, "a") }, { try Self.give(stand, "a", "set") }, { try Self.give(stand, "b") },
      { try Self.give(stand, "a", to: "group:5") }, { try Self.give(stand, "a", to: "unit:x.service") },
      { try Self.revoke(stand, "a") },
      {
        for subject in ["group:5", "unit:x.service"] {
          _ = try stand.access.revoke(try Subject(parsing: subject), nil, for: stand.administrator)
        }
      }, { try Self.give(stand, "a") },
    ]
    for (number, change) in changes.enumerated() {
      try change()
      let now = try counted()
      try stand.restart()
      try stand.unlock()
      #expect(try now == counted(), "\(number)")
    }
  }

  @Test("are not read again at an unlock where the store has what is known, and are where it has something else")
  func known() throws {
    let stand = try Self.many(3)
    let revision = { stand.access.book.revision }
    func isReadAgain() throws -> Bool {
      stand.vault.lock(because: .asked)
      let before = revision()
      try stand.unlock()
      return revision() != before
    }
    #expect(try !isReadAgain())
    try Self.give(stand, "other")
    try Self.revoke(stand, "own/2")
    #expect(try !isReadAgain())
    let keychain = try stand.vault.keychain()
    let record = try #require(try keychain.grants(of: .always).first)
    try keychain.changeGrants(removing: [record.id], adding: [], now: 2000)
    #expect(try isReadAgain())
    #expect(!stand.access.book.all.contains { $0.id == record.id })
    // A grant that could not be removed from the store while locked is removed at the unlock.
    stand.vault.lock(because: .asked)
    try Self.revoke(stand, "other")
    try stand.unlock()
    for accessible in AccessClass.allCases {
      #expect(try !keychain.grants(of: accessible).contains { $0.grant?.pattern.text == "other" })
    }
  }

  @Test("for items whose names differ in their bytes alone stay two") func bytes() throws {
    let stand = try RoomStand.unlocked(system: true)
    let names = ["\u{E9}", "e\u{301}"]
    for name in names { try Self.give(stand, name) }
    try stand.restart()
    try stand.unlock()
    let told = stand.access.book.all.map { Array($0.grant.pattern.text.utf8) }
    #expect(Set(told) == Set(names.map { Array($0.utf8) }))
  }

  @Test("that end are searched until then by a caller who stays") func ending() throws {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "a/*", until: 2010)
    try Self.give(stand, "b/*")
    let areas = { stand.access.areas(.find, caller).areas }
    #expect(areas().count == 2 && areas().count == 2)
    stand.hands.wall.value = 2010
    #expect(areas() == [.folder("b")])
    try Self.give(stand, "c/*")
    #expect(areas().count == 2)
  }

  // MARK: An unlock

  /// Begins an unlock with a clock that ends each part after one look.
  private static func begin(_ stand: RoomStand, opened: @escaping () -> Void = {}) throws -> GrantsAhead {
    let keychain = try stand.vault.keychain()
    stand.hands.stride.value = GrantsAhead.part
    let ahead = GrantsAhead(stand.access, keychain, stand.runner, RoomStand.vaultKey())
    ahead.begin {
      opened()
      try? stand.unlock()
    }
    return ahead
  }

  @Test("are read in parts before an unlock opens anything, and nobody is answered by some of them") func ahead() throws
  {
    let stand = try Self.many(40)
    try stand.restart(withBootKey: false)
    let ahead = try Self.begin(stand)
    defer { withExtendedLifetime(ahead) {} }
    let name = try ItemName("own/0")
    var parts = 0
    while stand.vault.state.kind != .unlocked {
      parts += 1
      #expect(try stand.items.get(name, for: caller) { _, _, _ in } == .unlock)
      #expect(stand.access.book.all.isEmpty)
      try #require(stand.runner.isBusy)
      stand.runner.turn()
    }
    #expect(parts > 2)
    var isServed = false
    _ = try stand.items.get(name, for: caller) { _, _, _ in isServed = true }
    #expect(isServed && stand.access.book.all.count == 40)
  }

  @Test("are read once for an unlock: by the parts before it, and by nothing in it") func readOnce() throws {
    let stand = try Self.many(80)
    try stand.restart(withBootKey: false)
    let keychain = try stand.vault.keychain()
    var parts = 0
    let ahead = try Self.begin(stand) {
      // If grants were read from here on, none would be found, and none would count.
      try? keychain.database.connection.execute("DELETE FROM grants")
    }
    defer { withExtendedLifetime(ahead) {} }
    while stand.vault.state.kind != .unlocked, stand.runner.isBusy {
      parts += 1
      stand.runner.turn()
    }
    #expect(parts > 4 && stand.vault.state.kind == .unlocked)
    #expect(Set(stand.access.book.all.map(\.grant.pattern.text)) == Set((0..<80).map { "own/\($0)" }))
    // The grants read ahead are not kept for another unlock, because they may have changed by then.
    #expect(stand.access.readAhead.isEmpty)
  }

  @Test("that are revoked while an unlock reads them do not count") func revokedMeanwhile() throws {
    let stand = try Self.many(40)
    try stand.restart()
    let ahead = try Self.begin(stand)
    defer { withExtendedLifetime(ahead) {} }
    #expect(stand.vault.state.kind == .cold)
    try Self.revoke(stand, "own/0")
    stand.run()
    #expect(stand.vault.state.kind == .unlocked)
    #expect(stand.access.permit(caller, on: try ItemName("own/0")).anywhere.isEmpty)
    #expect(!stand.access.permit(caller, on: try ItemName("own/1")).anywhere.isEmpty)
  }

  @Test("are read no further after a lock, and the unlock opens nothing") func lockedMeanwhile() throws {
    let stand = try Self.many(40)
    try stand.restart(withBootKey: false)
    var isOpened = false
    let ahead = try Self.begin(stand) { isOpened = true }
    #expect(ahead.outlives(Lock(.whenUnlocked, because: .asked, isEffective: false)))
    stand.vault.lock(because: .asked)
    stand.run()
    #expect(!isOpened && stand.vault.state.kind == .cold && stand.access.book.all.isEmpty)
    #expect(!ahead.outlives(Lock(.whenUnlocked, because: .asked, isEffective: false)))
  }

  @Test("are sealed anew with the time of their use some at a time, in all by and by") func uses() throws {
    let stand = try Self.many(GrantUses.part + 2)
    for number in 0..<GrantUses.part + 2 {
      _ = stand.access.permit(caller, on: try ItemName("own/\(number)"))
    }
    #expect(stand.access.uses.count == GrantUses.part + 2)
    stand.vault.lock(because: .asked)
    try stand.unlock()
    #expect(stand.access.uses.count == 2)
    stand.run()
    #expect(stand.access.uses.isEmpty)
    let keychain = try stand.vault.keychain()
    for accessible in AccessClass.allCases {
      #expect(try keychain.grants(of: accessible).allSatisfy { $0.grant?.used == 2000 })
    }
  }
}
