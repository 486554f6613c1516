import Testing
import VaultModel

@testable import VaultService

// Prompts for what a search finds once it can be made.
extension KeyringPromptTests {
  @Test("for a search by a program that may not find anything asks for that right, and then for what it has found")
  func mayNotFind() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v", "label", [("a", "1")])
    let confined = AttendanceStand.process(60, executable: "/usr/bin/confined")
    let (access, administrator) = (stand.rooms.access, stand.rooms.administrator)
    access.add(.password, by: administrator, with: [])
    _ = try access.give(
      try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/confined"), try ItemPattern("else/*"), Rights(.get),
      until: nil, for: administrator)
    #expect(stand.keyring.mayMiss(confined, in: nil) && !stand.keyring.mayMiss(stand.program, in: nil))
    final class Program {}
    let program = Program()
    let (found, missing) = try (
      stand.keyring.placeholder(for: KeyringStand.attributes([("a", "1")]), in: nil, program, confined),
      stand.keyring.placeholder(for: KeyringStand.attributes([("a", "2")]), in: nil, program, confined)
    )
    let prompted = try [found, missing].map { path in try Prompted(stand, .unlock([.item(path)]), by: confined) }
    for one in prompted { one.begin() }
    stand.rooms.run()
    #expect(prompted.map(\.prompt?.awaited) == ["approval", "approval"])
    for name in ["secret-service/login/*", "secret-service/login/\(path.element)"] {
      let request = try #require(access.toldRequests(for: administrator).pending.first?.request)
      #expect(request.target.name.text == name)
      access.add(.password, by: administrator, with: [])
      _ = try access.approve(request.number, try ApprovalTerms(isForGood: true), for: administrator)
      stand.rooms.run()
    }
    #expect(prompted.map(\.ends) == [[.unlocked([.item(found)])], [.unlocked([.item(missing)])]])
    #expect(try stand.keyring.resolve(found, for: confined) == path)
    #expect(throws: KeyringFault.noSuchObject) { try stand.keyring.resolve(missing, for: confined) }
    withExtendedLifetime(program) {}
  }

  @Test("for a search of all collections asks for each in which the program may not find items, but for the session")
  func mayNotFindEverywhere() throws {
    let stand = try KeyringStand()
    let work = try stand.keyring.makeCollection("Work", isStandard: false, for: stand.program)
    let path = try stand.make("v", "label", [("a", "1")], in: work)
    let confined = AttendanceStand.process(60, executable: "/usr/bin/confined")
    let (access, administrator) = (stand.rooms.access, stand.rooms.administrator)
    access.add(.password, by: administrator, with: [])
    _ = try access.give(
      try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/confined"), try ItemPattern("secret-service/login/*"),
      try Rights(parsing: "get,set,find"), until: nil, for: administrator)
    #expect(stand.keyring.mayMiss(confined, in: nil) && !stand.keyring.mayMiss(confined, in: .login))
    final class Program {}
    let program = Program()
    let found = try stand.keyring.placeholder(
      for: KeyringStand.attributes([("a", "1")]), in: nil, program, confined)
    let prompted = try Prompted(stand, .unlock([.item(found)]), by: confined)
    prompted.begin()
    stand.rooms.run()
    #expect(prompted.prompt?.awaited == "approval")
    for name in ["secret-service/\(work.element)/*", "secret-service/\(work.element)/\(path.element)"] {
      let request = try #require(access.toldRequests(for: administrator).pending.first?.request)
      #expect(request.target.name.text == name)
      access.add(.password, by: administrator, with: [])
      _ = try access.approve(request.number, try ApprovalTerms(isForGood: true), for: administrator)
      stand.rooms.run()
    }
    #expect(prompted.ends == [.unlocked([.item(found)])])
    #expect(try stand.keyring.resolve(found, for: confined) == path)
    #expect(!stand.keyring.mayMiss(confined, in: nil))
    withExtendedLifetime(program) {}
  }

  @Test("for an item whose record is damaged rests and tries again, as for one that a search may miss")
  func damaged() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v", "x", [("a", "1")])
    try stand.rooms.edit("UPDATE heads SET sealed = zeroblob(length(sealed))")
    try stand.rooms.unlock()
    let target = KeyringTarget.item(path)
    #expect(!stand.keyring.serves(target, stand.program) && stand.keyring.mayBeServed(target, stand.program))
    #expect(throws: KeyringFault.isLocked) { try stand.value(path) }
    #expect(try stand.find([("a", "1")]).isEmpty && stand.keyring.mayMiss(stand.program, in: nil))
    let prompted = try Prompted(stand, .unlock([target, .collection(.login)]))
    prompted.begin()
    stand.rooms.hands.pass(seconds: 16)
    stand.rooms.run()
    #expect(prompted.ends.isEmpty && prompted.prompt?.awaited == "later")
    // While names are hidden, only an unlock lets anybody tell more.
    stand.vault.lock(because: .sleep)
    stand.rooms.hands.pass(seconds: 60)
    stand.rooms.run()
    #expect(prompted.prompt?.awaited == "unlock")
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends.isEmpty && prompted.prompt?.awaited == "later")
  }

  @Test("for what a program searched makes the search in turns, and ends with the item") func searched() throws {
    let stand = try KeyringStand()
    try stand.make("v", "x", [("a", "1")])
    try stand.restart()
    let paths = try ["1", "2"].map {
      try stand.keyring.placeholder(
        for: try KeyringStand.attributes([("a", $0)]), in: nil, stand, stand.program)
    }
    let prompted = try Prompted(stand, .unlock(paths.map { .item($0) }))
    prompted.begin()
    #expect(prompted.prompt?.awaited == "unlock")
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends == [.unlocked(paths.map { .item($0) })])
    #expect(try stand.value(paths[0]) == "text/plain v")
  }

  @Test("keeps the searches that it is for from giving way") func held() throws {
    let stand = try KeyringStand()
    try stand.restart()
    func path(_ number: Int) throws -> KeyringPath {
      let attributes = try KeyringStand.attributes([("a", "\(number)" + String(repeating: "x", count: 60_000))])
      return try stand.keyring.placeholder(for: attributes, in: nil, stand, stand.program)
    }
    let paths = try (0..<17).map { try path($0) }
    let prompted = try Prompted(stand, .unlock([.item(paths[0])]))
    prompted.begin()
    for number in 17..<60 { _ = try path(number) }
    #expect(stand.keyring.isPlaceholder(paths[0], of: stand.program))
    prompted.prompt?.dismiss()
    for number in 60..<80 { _ = try path(number) }
    #expect(!stand.keyring.isPlaceholder(paths[0], of: stand.program))
  }

  @Test("rests while one of its searches cannot be made, although the vault is unlocked, and tries again")
  func unmade() throws {
    let stand = try KeyringStand()
    let found = try stand.make("v", "x", [("a", "1")])
    try stand.restart()
    let unopened = KeyringPath(.login, "q7")
    let forged = KeptSearch(isEverywhere: true, sealed: [1, 2, 3])
    #expect(stand.keyring.takeUp(forged, at: unopened, stand, stand.program))
    let path = try stand.keyring.placeholder(
      for: try KeyringStand.attributes([("a", "1")]), in: nil, stand, stand.program)
    let prompted = try Prompted(stand, .unlock([.item(unopened), .item(path)]))
    prompted.begin()
    #expect(prompted.prompt?.awaited == "unlock")
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends.isEmpty && prompted.prompt?.awaited == "later")
    #expect(try stand.keyring.resolve(path, for: stand.program) == found)
    // A lock comes, and no unlock is waited for after the next one.
    stand.vault.lock(because: .sleep)
    stand.rooms.hands.pass(seconds: 16)
    stand.rooms.run()
    #expect(prompted.prompt?.awaited == "unlock")
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends.isEmpty && prompted.prompt?.awaited == "later")
    // The path stands for nothing any more, and then the prompt lacks nothing.
    stand.keyring.forgetSearches(of: stand)
    stand.rooms.hands.pass(seconds: 16)
    stand.rooms.run()
    #expect(prompted.ends.count == 1)
  }

  @Test("waits for no item that a search has found and that is gone") func goneMatch() throws {
    let stand = try KeyringStand()
    try stand.make("v", "x", [("a", "1")])
    try stand.restart()
    let path = try stand.keyring.placeholder(
      for: try KeyringStand.attributes([("a", "1")]), in: nil, stand, stand.program)
    try stand.rooms.unlock()
    stand.match([path])
    let item = try stand.keyring.resolve(path, for: stand.program)
    try stand.keyring.delete(item, for: stand.program)
    let prompted = try Prompted(stand, .unlock([.item(path)]))
    prompted.begin()
    #expect(prompted.ends == [.unlocked([])])
  }
}
