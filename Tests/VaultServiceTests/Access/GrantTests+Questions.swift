import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

// The questions about grants, and searches that they decide.
extension GrantTests {
  @Test("answer what somebody may do, alike for items that are missing") func can() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/a")
    try Self.give(stand, "user:990", "own/*", "get")
    let subject = try Subject(parsing: "user:990")
    func can(_ subject: Subject?, _ right: Right, _ name: String, _ caller: Caller) throws -> Bool {
      try stand.access.can(subject, right, try ItemName(name), for: caller).isAllowed
    }
    for name in ["own/a", "own/missing"] {
      #expect(try can(subject, .get, name, stand.administrator))
      #expect(try can(subject, .use, name, stand.administrator))
      #expect(try !can(subject, .find, name, stand.administrator))
      #expect(try can(nil, .get, name, RoomStand.caller(990)) && can(subject, .get, name, RoomStand.caller(990)))
    }
    for name in ["a", "own/b/c"] { #expect(try !can(subject, .get, name, RoomStand.caller(990))) }
    #expect(throws: Refusal.denied("you may ask only about yourself")) {
      try can(subject, .get, "own/a", RoomStand.caller(991))
    }
    #expect(try can(try Subject(parsing: "user:0"), .admin, "own/a", stand.administrator))
  }

  @Test("are shown to administrators, and to others their own") func listing() throws {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "user:990", "own/*", "get")
    try Self.give(stand, "user:991", "other/*", "get,find")
    func told(_ filter: Access.GrantFilter, _ caller: Caller) throws -> [String] {
      try stand.access.grants(filter, for: caller).next(.max).grants.map { $0.grant.pattern.text }
    }
    #expect(try told(.init(), stand.administrator) == ["own/*", "other/*"])
    #expect(try told(.init(), RoomStand.caller(990)) == ["own/*"])
    #expect(try told(.init(), RoomStand.caller(992)) == [])
    #expect(try told(.init(subject: try Subject(parsing: "user:991")), stand.administrator) == ["other/*"])
    #expect(try told(.init(subject: try Subject(parsing: "user:991")), RoomStand.caller(990)) == [])
    #expect(try told(.init(name: try ItemName("own/a")), stand.administrator) == ["own/*"])
    // The time of use is recorded to within a day.
    try stand.set("own/a")
    stand.hands.wall.value += 100 * 86_400
    #expect(try told(.init(unused: 90 * 86_400), stand.administrator) == ["own/*", "other/*"])
    #expect(try Self.isServed(stand, "own/a", RoomStand.caller(990)))
    #expect(try told(.init(unused: 90 * 86_400), stand.administrator) == ["other/*"])
    stand.access.storeUses()
    try stand.restart()
    try stand.unlock()
    #expect(try told(.init(unused: 90 * 86_400), stand.administrator) == ["other/*"])
  }

  @Test("are known to be used also by uses that the audit log has only counted") func counted() throws {
    var settings = VaultSettings()
    settings.audit.size = 1 << 20
    let stand = try RoomStand.unlocked(settings, system: true)
    let caller = RoomStand.caller(990)
    try stand.set("own/a")
    try Self.give(stand, "user:990", "own/*", "get")
    func unused() throws -> Int {
      try stand.access.grants(.init(unused: 90 * 86_400), for: stand.administrator).next(.max).grants.count
    }
    // No two of these are equal, so that they use up the caller's part of the log.
    let long = String(repeating: "x", count: 100)
    for number in 0..<1000 { AuditTests.get(stand, "own/a", caller, for: "\(number) \(long)") }
    #expect(stand.vault.audit.counted != nil)
    #expect(try unused() == 0)
    stand.hands.wall.value += 100 * 86_400
    #expect(try unused() == 1)
    #expect(try Self.isServed(stand, "own/a", caller))
    #expect(try unused() == 0)
    let now = stand.hands.wall.value
    let last = try AuditTests.found(stand).filter { $0.caller?.uid == 990 && $0.time == now }
    #expect(last.allSatisfy { $0.repeats != nil }, "the use has an entry of its own")
    stand.access.storeUses()
    try stand.restart()
    try stand.unlock()
    #expect(try unused() == 0)
  }

  @Test("decide where a search looks, whose pages hold each item once") func searching() throws {
    let stand = try RoomStand.unlocked(system: true)
    for name in ["a/1", "a/2", "a/b/3", "a/b/4", "a/b/5", "c", "d/1", "e/x", "e/y"] { try stand.set(name) }
    for (pattern, rights) in [
      ("a/*", "find"), ("a/b/*", "find"), ("a/b/4", "find"), ("c", "find"), ("d/*", "get"), ("e/x", "find,get"),
    ] { try Self.give(stand, "user:990", pattern, rights) }
    let caller = RoomStand.caller(990)
    #expect(try Self.found(stand, caller) == ["a/1", "a/2", "a/b/3", "a/b/4", "a/b/5", "c", "e/x"])
    #expect(try Self.found(stand, caller, "name~a/b/*") == ["a/b/3", "a/b/4", "a/b/5"])
    #expect(try Self.found(stand, caller, "name=e/y").isEmpty)
    let walk = NameWalk(prefix: "")
    var names: [String] = []
    while true {
      let (found, isOver) = try stand.items.children(walk, until: .max, for: caller)
      names += found
      if isOver { break }
    }
    #expect(names.sorted() == ["a/", "c", "e/"])
    // Only an administrator finds items in the trash.
    _ = try stand.items.delete([try ItemName("c")], isForGood: false, for: stand.administrator)
    var trash = try Query(parsing: "")
    trash.isOfTrash = true
    #expect(try stand.items.find(trash, limit: 9, after: nil, until: .max, for: caller).items.isEmpty)
    #expect(try stand.items.find(trash, limit: 9, after: nil, until: .max, for: stand.administrator).items.count == 1)
  }

  @Test("that nobody has leave many changes at once refused alike, whether there are such items or not") func oracle()
    throws
  {
    let stand = try RoomStand.unlocked(system: true)
    // With the existing attributes, this is too much for one call.
    func long(_ count: Int) -> [String: String] {
      Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", String(repeating: "v", count: 1000)) })
    }
    for name in ["there/1", "there/2"] {
      let change = ItemChange(name: try ItemName(name), attributes: long(64))
      _ = try stand.items.set(change, .generated(.phrase(words: 4)), for: stand.administrator) { _ in true }
    }
    for folder in ["there", "missing"] {
      let changes = try (1...2).map {
        (
          change: ItemChange(name: try ItemName("\(folder)/\($0)"), attributes: long(2), update: true),
          value: NewValue.same
        )
      }
      do throws(BatchRefusal) {
        _ = try stand.items.set(changes, for: RoomStand.caller(990)) { _, _ in true }
        Issue.record("it was done")
      } catch { #expect(error.refusal == Self.denied && error.index == nil, "\(folder)") }
    }
  }

  @Test("that are taken back while a search is under way end it where they led, and nowhere else")
  func revokedWithinSearch() throws {
    let stand = try RoomStand.unlocked(system: true)
    let folders = ["a", "b", "c", "d"]
    for folder in folders { for number in 1...3 { try stand.set("\(folder)/\(number)") } }
    let caller = RoomStand.caller(990)
    for revoked in folders {
      for folder in folders { try Self.give(stand, "user:990", "\(folder)/*", "find") }
      let first = try stand.items.find(try Query(parsing: ""), limit: 2, after: nil, until: .max, for: caller)
      _ = try stand.access.revoke(
        try Subject(parsing: "user:990"), try ItemPattern("\(revoked)/*"), for: stand.administrator)
      let rest = try stand.items.find(
        try Query(parsing: ""), limit: 99, after: first.next, until: .max, for: caller)
      let names = (first.items + rest.items).map(\.name.text)
      let expected = folders.flatMap { folder in (1...3).map { "\(folder)/\($0)" } }
      #expect(Set(names).count == names.count)
      let before = first.items.map(\.name.text).filter { $0.hasPrefix(revoked) }
      #expect(Set(names) == Set(expected.filter { !$0.hasPrefix(revoked) } + before), "\(revoked)")
      #expect(rest.next == nil)
    }
  }

  @Test("tell who gets an item under a name") func whoMay() throws {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "unit:x.service", "iot/*", "get,watch")
    try Self.give(stand, "user:990", "**", "find")
    let told = stand.access.subjects(on: [try ItemName("iot/a")]).map { "\($0.subject) \($0.rights.names)" }
    #expect(told == ["unit:x.service [\"get\", \"watch\"]", "user:990 [\"find\"]"])
  }

  @Test("tell who gets any of many new items, once with all rights") func whoMayAny() throws {
    let stand = try RoomStand.unlocked(system: true)
    for (subject, pattern, rights) in [
      ("user:1", "a/1", "get"), ("user:1", "b/*", "find"), ("user:2", "a", "get"), ("user:3", "a/**", "watch"),
      ("user:4", "*", "get"), ("user:5", "**/2", "get"), ("user:6", "a-/*", "get"), ("user:7", "a0/*", "get"),
      ("user:8", "a", "get"), ("user:8", "a/?", "get"),
    ] { try Self.give(stand, subject, pattern, rights) }
    func told(_ names: String...) throws -> [String] {
      try stand.access.subjects(on: names.map { try ItemName($0) }).map { subject, rights in
        "\(subject) \(rights.names.joined(separator: ","))"
      }
    }
    let all = try told("b/3", "a/2", "a0/c/d", "a/1", "a-")
    #expect(
      all == ["user:1 get,find", "user:3 watch", "user:4 get", "user:5 get", "user:8 get"] && all == all.sorted())
    #expect(try told("x/1", "x/3").isEmpty && told().isEmpty)
    for name in ["b/3", "a/2", "a0/c/d", "a/1", "a-", "a0/e", "a", "a-/1"] {
      let one = Set(try told(name).map { $0.split(separator: " ")[0] })
      let among = Set(try told(name, "zz/y").map { $0.split(separator: " ")[0] })
      #expect(one == among, "\(name)")
    }
  }

  @Test("count as comparisons with the names of many new items, for whoever is told of them") func compared() throws {
    let stand = try RoomStand.unlocked(system: true)
    func changes(_ folder: String, _ count: Int) throws -> [(change: ItemChange, value: NewValue)] {
      try (0..<count).map { (ItemChange(name: try ItemName("\(folder)/\($0)")), .generated(.phrase(words: 4))) }
    }
    func isTooMuch(_ folder: String, _ count: Int, for caller: Caller) throws -> Bool {
      let new = try changes(folder, count)
      do throws(BatchRefusal) { _ = try stand.items.set(new, for: caller) { _, _ in true } } catch {
        if case .tooMuch = error.refusal { return true }
        throw error
      }
      return false
    }
    for number in 0..<200 { try Self.give(stand, "user:1", "x/**/\(number)*", "get") }
    try Self.give(stand, "user:990", "**", "set")
    #expect(try isTooMuch("x", 300, for: stand.administrator))
    #expect(try !isTooMuch("x", 150, for: stand.administrator))
    #expect(try !isTooMuch("y", 300, for: stand.administrator))
    #expect(try !isTooMuch("x/z", 300, for: RoomStand.caller(990)))
    // Long names count more than short ones, and so do long patterns with a star in the middle.
    let long = String(repeating: "n", count: 200)
    #expect(try isTooMuch("x/\(long)", 40, for: stand.administrator))
    #expect(try !isTooMuch("x/\(long)", 10, for: stand.administrator))
    for number in 0..<20 { try Self.give(stand, "user:1", "z/*\(long)\(number)", "get") }
    #expect(try isTooMuch("z/\(long)", 100, for: stand.administrator))
    #expect(try !isTooMuch("y/\(long)", 100, for: stand.administrator))
  }
}
