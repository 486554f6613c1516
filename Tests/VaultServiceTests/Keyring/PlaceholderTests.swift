import Testing
import VaultModel

@testable import VaultService

@Suite("A search that waits for an unlock") struct PlaceholderTests {
  private final class Program {}

  @Test("stands for its first match after the unlock, and for nothing without one") func matches() throws {
    let stand = try KeyringStand()
    try stand.make("2", "x", [("b", "2")])
    let first = try stand.make("1", "x", [("a", "1"), ("b", "1")])
    try stand.make("3", "x", [("a", "1")])
    try stand.restart()
    let program = Program()
    func path(_ attributes: [(key: String, value: String)], in collection: CollectionID? = nil) throws -> KeyringPath {
      try stand.keyring.placeholder(
        for: try KeyringStand.attributes(attributes), in: collection, program, stand.program)
    }
    let (found, missing) = (try path([("a", "1")]), try path([("a", "2")]))
    #expect(found.collection == missing.collection && found != missing)
    for path in [found, missing] {
      #expect(throws: KeyringFault.isLocked) { try stand.value(path) }
      #expect(!stand.keyring.serves(.item(path), stand.program))
      #expect(stand.keyring.mayBeServed(.item(path), stand.program))
      // libsecret takes an item whose properties cannot be read for none.
      let item = try stand.keyring.item(path, for: stand.program)
      #expect(item.isLocked && item.label == "" && item.attributes.entries.isEmpty)
      #expect(stand.keyring.changedItem(path, for: stand.program) == nil)
    }
    try stand.rooms.unlock()
    // The search is made in turns, and until then nobody can tell.
    for path in [found, missing] { #expect(throws: KeyringFault.isLocked) { try stand.value(path) } }
    #expect(stand.match([found, missing]) == [found, missing])
    #expect(try stand.value(found) == (try stand.value(first)))
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(missing) }
    #expect(stand.keyring.changedItem(found, for: stand.program)?.attributes["b"] == "1")
    #expect(stand.keyring.changedItem(missing, for: stand.program) == nil)
    for path in [found, missing] { #expect(stand.keyring.serves(.item(path), stand.program)) }
    stand.keyring.forgetSearches(of: program)
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(found) }
  }

  @Test("that found nothing is made anew when it is asked again while nobody can tell, as an item may have come since")
  func again() throws {
    let stand = try KeyringStand()
    try stand.restart()
    let program = Program()
    func path() throws -> KeyringPath {
      try stand.keyring.placeholder(
        for: try KeyringStand.attributes([("a", "1")]), in: nil, program, stand.program)
    }
    let first = try path()
    #expect(try path() == first)
    try stand.rooms.unlock()
    stand.match([first])
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(first) }
    try stand.make("1", "x", [("a", "1")])
    stand.vault.lock(because: .sleep)
    #expect(stand.keyring.hidesItems())
    let second = try path()
    #expect(second != first && !stand.keyring.serves(.item(second), stand.program))
    try stand.rooms.unlock()
    stand.match([second])
    #expect(try stand.value(second) == "text/plain 1")
  }

  @Test("stands for a shared item if no own one matches, as the search itself does") func shared() throws {
    var settings = VaultSettings()
    settings.keyring.shares = [try ItemPattern("iot/*")]
    let stand = try KeyringStand(settings)
    var change = ItemChange(name: try ItemName("iot/lamp"), kind: .password)
    change.attributes = ["room": "hall"]
    _ = try stand.rooms.rooms.items.set(change, .bytes(count: 1), for: stand.program) { out in
      out.storeBytes(of: UInt8(ascii: "x"), toByteOffset: 0, as: UInt8.self)
      return true
    }
    try stand.restart()
    let program = Program()
    let path = try stand.keyring.placeholder(
      for: try KeyringStand.attributes([("room", "hall")]), in: nil, program, stand.program)
    try stand.rooms.unlock()
    stand.match([path])
    #expect(stand.keyring.serves(.item(path), stand.program))
    #expect(try stand.value(path).isEmpty == false)
    // The owner's item is not the program's to change.
    #expect(throws: KeyringFault.readOnly) { try stand.keyring.delete(path, for: stand.program) }
    withExtendedLifetime(program) {}
  }

  @Test("stands for an item of the session as well") func ofSession() throws {
    let stand = try KeyringStand()
    try stand.make("s", "x", [("a", "1")], in: .session)
    stand.vault.lock(because: .sleep)
    let program = Program()
    let path = try stand.keyring.placeholder(
      for: try KeyringStand.attributes([("a", "1")]), in: nil, program, stand.program)
    #expect(throws: KeyringFault.isLocked) { try stand.value(path) }
    try stand.rooms.unlock()
    stand.match([path])
    #expect(try stand.value(path) == "text/plain s")
    #expect(try stand.keyring.item(path, for: stand.program).attributes["a"] == "1")
    try stand.keyring.set(KeyringStand.secret("t"), of: path, for: stand.program)
    #expect(try stand.value(path) == "text/plain t")
    try stand.keyring.delete(path, for: stand.program)
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(path) }
    #expect(try stand.find(in: .session).isEmpty)
    withExtendedLifetime(program) {}
  }

  @Test("is taken up by the next daemon at its path, and tells nothing without the vault's key")
  func nextDaemon() throws {
    let stand = try KeyringStand()
    let found = try stand.make("v", "x", [("a", "1")])
    try stand.restart()
    let program = Program()
    let attributes = try KeyringStand.attributes([("a", "1")])
    let paths = try [nil, CollectionID.login].map {
      try stand.keyring.placeholder(for: attributes, in: $0, program, stand.program)
    }
    let kept = try paths.map { try #require(stand.keyring.sealedSearch(at: $0, of: stand.program)) }
    #expect(kept.map(\.isEverywhere) == [true, false] && kept[0].sealed != kept[1].sealed)
    #expect(stand.keyring.sealedSearch(at: found, of: stand.program) == nil)
    try stand.restart()
    for (path, search) in zip(paths, kept) {
      #expect(stand.keyring.takeUp(search, at: path, program, stand.program))
      // Nothing takes a path that is in use, or one of an item.
      #expect(!stand.keyring.takeUp(search, at: path, program, stand.program))
      #expect(!stand.keyring.takeUp(search, at: found, program, stand.program))
    }
    let forged = KeyringPath(.login, "q7")
    #expect(
      stand.keyring.takeUp(
        KeptSearch(isEverywhere: true, sealed: [1, 2, 3]), at: forged, program, stand.program))
    try stand.rooms.unlock()
    for path in paths {
      stand.match([path])
      #expect(try stand.value(path) == "text/plain v")
    }
    // Nobody can say that there is no match for what nobody can open.
    #expect(stand.match([forged]) == [])
    #expect(throws: KeyringFault.isLocked) { try stand.value(forged) }
  }

  @Test("forgets with a lock that hides names which shared item it stands for") func forgotten() throws {
    var settings = VaultSettings()
    settings.hideNames = true
    settings.keyring.shares = [try ItemPattern("iot/*")]
    let stand = try KeyringStand(settings)
    try stand.rooms.set("iot/lamp")
    stand.vault.lock(because: .idle)
    let program = Program()
    let path = try stand.keyring.placeholder(for: KeyringAttributes(), in: .shared, program, stand.program)
    try stand.rooms.unlock()
    stand.match([path])
    #expect(try stand.keyring.item(path, for: stand.program).label == "iot/lamp")
    #expect(stand.keyring.placeholders.outlives(Lock(.names, because: .idle, isEffective: true)))
    stand.vault.lock(because: .idle)
    #expect(!stand.keyring.placeholders.outlives(Lock(.names, because: .idle, isEffective: true)))
    try stand.rooms.unlock()
    stand.match([path])
    #expect(try stand.keyring.item(path, for: stand.program).label == "iot/lamp")
  }

  @Test("means nothing to another program, and is the same for the same search") func own() throws {
    let stand = try KeyringStand()
    try stand.restart()
    let (one, other) = (Program(), Program())
    func path(_ value: String, _ program: Program, in collection: CollectionID? = nil) throws -> KeyringPath {
      try stand.keyring.placeholder(
        for: try KeyringStand.attributes([("a", value)]), in: collection, program, stand.program)
    }
    let first = try path("1", one)
    #expect(try path("1", one) == first && path("2", one) != first && path("1", other) != first)
    #expect(try path("1", one, in: .login) != first)
    let stranger = AttendanceStand.process(77)
    try stand.rooms.unlock()
    stand.match([first])
    #expect(throws: KeyringFault.noSuchObject) { try stand.keyring.item(first, for: stranger) }
    #expect(!stand.keyring.mayBeServed(.item(first), stranger) && stand.keyring.serves(.item(first), stand.program))
  }

  @Test("stands for an item that is served before one that is locked, as programs list them") func served() throws {
    let stand = try KeyringStand()
    let name = try stand.make("1", "x", [("a", "1")]).element
    try stand.make("2", "x", [("a", "1")])
    var change = ItemChange(name: try ItemName("secret-service/login/\(name)"), update: true)
    change.require = .password
    _ = try stand.rooms.items.set(change, .same, for: stand.rooms.administrator) { _ in false }
    try stand.restart()
    let program = Program()
    let path = try stand.keyring.placeholder(
      for: try KeyringStand.attributes([("a", "1")]), in: nil, program, stand.program)
    try stand.rooms.unlock()
    stand.match([path])
    #expect(try stand.value(path) == "text/plain 2")
    withExtendedLifetime(program) {}
  }

  @Test("gives way to later ones once it was looked for") func givesWay() throws {
    let stand = try KeyringStand()
    try stand.restart()
    let program = Program()
    func path(_ text: String) throws -> KeyringPath {
      try stand.keyring.placeholder(
        for: try KeyringStand.attributes([("a", text + String(repeating: "x", count: 60_000))]), in: nil, program,
        stand.program)
    }
    let paths = try (0..<17).map { try path("\($0)") }
    try stand.rooms.unlock()
    stand.match([paths[3]])
    _ = try path("17")
    #expect(!stand.keyring.isPlaceholder(paths[3], of: stand.program))
    #expect(stand.keyring.isPlaceholder(paths[0], of: stand.program))
    // Then the oldest one gives way. A program that asks again and again is never refused.
    _ = try path("18")
    #expect(!stand.keyring.isPlaceholder(paths[0], of: stand.program))
    #expect(stand.keyring.isPlaceholder(paths[1], of: stand.program))
    withExtendedLifetime(program) {}
  }

  @Test("is never refused to a program that repeats a search while names are hidden") func repeated() throws {
    var settings = VaultSettings()
    settings.hideNames = true
    let stand = try KeyringStand(settings)
    try stand.restart()
    let program = Program()
    var last: KeyringPath?
    for _ in 0..<3000 {
      last = try stand.keyring.placeholder(
        for: try KeyringStand.attributes([("a", "1")]), in: nil, program, stand.program)
    }
    #expect(stand.keyring.isPlaceholder(try #require(last), of: stand.program))
    let waiting = stand.keyring.unmatched(of: program)
    #expect(waiting.count < 3000 && waiting.last == last)
    // All that wait are made at the unlock.
    try stand.rooms.unlock()
    #expect(stand.match(waiting).count == waiting.count)
    #expect(stand.keyring.unmatched(of: program).isEmpty)
  }

  @Test("that cannot be made keeps no other from being made") func faults() throws {
    let stand = try KeyringStand()
    let found = try stand.make("v", "x", [("a", "1")])
    // The copy in the clear tells of a collection that is not in the vault.
    var directory = KeyringDirectory()
    directory.made = [.made(KeyringID(number: 7))]
    try KeyringFile(directory: stand.vault.directory).write(directory)
    try stand.restart()
    let program = Program()
    let attributes = try KeyringStand.attributes([("a", "1")])
    let gone = try stand.keyring.placeholder(for: attributes, in: directory.made[0], program, stand.program)
    let unopened = KeyringPath(.login, "q7")
    let forged = KeptSearch(isEverywhere: true, sealed: [1, 2, 3])
    #expect(stand.keyring.takeUp(forged, at: unopened, program, stand.program))
    let path = try stand.keyring.placeholder(for: attributes, in: nil, program, stand.program)
    try stand.rooms.unlock()
    #expect(stand.match([gone, unopened, path]) == [gone, path])
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(gone) }
    #expect(throws: KeyringFault.isLocked) { try stand.value(unopened) }
    #expect(try stand.keyring.resolve(path, for: stand.program) == found)
    #expect(stand.keyring.unmatched(of: program) == [unopened])
  }

  @Test("waits while there is no store, in memory that is wiped") func noStore() throws {
    let stand = try KeyringStand()
    let found = try stand.make("v", "x", [("a", "1")])
    stand.vault.closeStore()
    let program = Program()
    let path = try stand.keyring.placeholder(
      for: try KeyringStand.attributes([("a", "1")]), in: nil, program, stand.program)
    #expect(stand.keyring.sealedSearch(at: path, of: stand.program) == nil)
    stand.vault.openStore(because: .start)
    try stand.rooms.unlock()
    stand.match([path])
    #expect(try stand.keyring.resolve(path, for: stand.program) == found)
  }

  @Test("has another path in each daemon: a path of an earlier one stands for nothing") func another() throws {
    let stand = try KeyringStand()
    let program = Program()
    func path() throws -> KeyringPath {
      try stand.restart()
      return try stand.keyring.placeholder(for: KeyringAttributes(), in: nil, program, stand.program)
    }
    #expect(try path() != path())
  }

  @Test("is limited in size for each program") func limit() throws {
    let stand = try KeyringStand()
    try stand.restart()
    let (one, other) = (Program(), Program())
    let attributes = try KeyringStand.attributes([("a", String(repeating: "x", count: 60_000))])
    func make(_ number: Int) throws {
      let attributes = try KeyringStand.attributes([("a", "\(number)" + String(repeating: "x", count: 60_000))])
      _ = try stand.keyring.placeholder(for: attributes, in: nil, one, stand.program)
    }
    for number in 0..<30 { try make(number) }
    #expect(stand.keyring.unmatched(of: one).count == 17)
    _ = try stand.keyring.placeholder(for: attributes, in: nil, other, stand.program)
    #expect(stand.keyring.unmatched(of: one).count == 17 && stand.keyring.unmatched(of: other).count == 1)
    // All connections of a process have a limit together.
    let many = (0..<6).map { _ in Program() }
    for program in many {
      for number in 0..<17 {
        let attributes = try KeyringStand.attributes([("a", "\(number)" + String(repeating: "x", count: 60_000))])
        _ = try stand.keyring.placeholder(for: attributes, in: nil, program, AttendanceStand.process(77))
      }
    }
    let counts = many.map { stand.keyring.unmatched(of: $0).count }
    #expect(counts.reduce(0, +) == Placeholders.mostOfHolder / 60_700, "\(counts)")
    #expect(counts.allSatisfy { $0 > 5 } && stand.keyring.unmatched(of: one).count == 17, "\(counts)")
  }
}
