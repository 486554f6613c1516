import Testing
import VaultModel

@testable import VaultService

@Suite("A prompt of the keyring") struct KeyringPromptTests {
  /// A prompt of a program, and its ends so far.
  private final class Prompted {
    private(set) var ends: [KeyringPrompt.End] = []
    private(set) var prompt: KeyringPrompt?
    var isConnected = true

    init(
      _ stand: KeyringStand, _ task: KeyringPrompt.Task, within limit: Int64? = nil, by program: Caller? = nil,
      _ line: Line? = nil
    ) throws {
      let program = program ?? stand.program
      let terms = AskedCall.Terms(
        program, .untilServed, about: AskedCall.About(.find, detail: "keyring prompt"),
        saying: { Said(purpose: "to unlock the keyring") }, isStillAsking: { [unowned self] in isConnected })
      prompt = try KeyringPrompt(
        task, stand.keyring, stand.rooms.rooms.asking, terms, line ?? Line(of: program.uid), within: limit
      ) { [unowned self] in ends.append($0) }
    }

    func begin() { prompt?.begin() }
  }

  @Test("ends at once if the program lacks nothing any more") func nothing() throws {
    let stand = try KeyringStand()
    let prompted = try Prompted(stand, .unlock([.collection(.login)]))
    #expect(prompted.ends.isEmpty)
    prompted.begin()
    #expect(prompted.ends == [.unlocked([.collection(.login)])])
  }

  @Test("waits without an agent and without an end, and ends with an unlock by any way") func unlock() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    try stand.keyring.lock(for: stand.program)
    let targets = [KeyringTarget.item(path), .collection(.login), .item(KeyringPath(.login, "0123456789abcdef"))]
    let prompted = try Prompted(stand, .unlock(targets))
    prompted.begin()
    stand.rooms.hands.pass(seconds: 86_400)
    stand.rooms.run()
    #expect(prompted.ends.isEmpty)
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends == [.unlocked(Array(targets.prefix(2)))])
  }

  @Test("stays open when a person puts the question off, and the person is asked again by the next agent")
  func putOff() throws {
    let stand = try KeyringStand()
    stand.attendance.lock()
    try stand.keyring.lock(for: stand.program)
    let agent = try stand.attendance.attend()
    let prompted = try Prompted(stand, .unlock([.collection(.login)]))
    prompted.begin()
    stand.rooms.hands.pass(seconds: 1)
    stand.rooms.run()
    let number = try #require(agent.numbers.last)
    try stand.attendance.attendance.dismiss(number, isUnable: false, for: try #require(agent.agent).caller)
    stand.rooms.hands.pass(seconds: 600)
    stand.rooms.run()
    #expect(prompted.ends.isEmpty)
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends == [.unlocked([.collection(.login)])])
  }

  @Test("ends once as dismissed if the program drops it, and asks nobody any more") func dropped() throws {
    let stand = try KeyringStand()
    try stand.keyring.lock(for: stand.program)
    let prompted = try Prompted(stand, .unlock([.collection(.login)]))
    prompted.begin()
    prompted.prompt?.dismiss()
    prompted.prompt?.dismiss()
    #expect(prompted.ends == [.dismissed])
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends == [.dismissed])
  }

  @Test("ends as dismissed at its own time limit, if it has one") func late() throws {
    let stand = try KeyringStand()
    try stand.keyring.lock(for: stand.program)
    let prompted = try Prompted(stand, .unlock([.collection(.login)]), within: 120_000_000_000)
    prompted.begin()
    stand.rooms.hands.pass(seconds: 119)
    #expect(prompted.ends.isEmpty)
    stand.rooms.hands.pass(seconds: 2)
    #expect(prompted.ends == [.dismissed])
  }

  @Test("makes a collection, or deletes an item, once the vault is unlocked") func tasks() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    try stand.keyring.lock(for: stand.program)
    let (made, deleted) = (
      try Prompted(stand, .makeCollection(label: "Work", isStandard: true)), try Prompted(stand, .delete(path))
    )
    made.begin()
    deleted.begin()
    #expect(made.ends.isEmpty && deleted.ends.isEmpty)
    try stand.rooms.unlock()
    stand.rooms.run()
    guard case .made(let collection)? = made.ends.first else {
      Issue.record("no collection was made: \(made.ends)")
      return
    }
    #expect(stand.keyring.collection(alias: "default") == collection)
    #expect(deleted.ends == [.deleted])
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(path) }
  }

  @Test("deletes a collection with its items once the vault is unlocked, unless its program has ended")
  func removal() throws {
    let stand = try KeyringStand()
    let made = try (0..<2).map { try stand.keyring.makeCollection("\($0)", isStandard: false, for: stand.program) }
    for collection in made { for number in 0..<20 { try stand.make("\(number)", in: collection) } }
    try stand.keyring.lock(for: stand.program)
    let (stays, goes) = (try Prompted(stand, .remove(made[0])), try Prompted(stand, .remove(made[1])))
    stays.begin()
    goes.begin()
    #expect(goes.prompt?.kind == .delete && goes.prompt?.awaited == "unlock")
    stays.isConnected = false
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(goes.ends == [.deleted] && stays.ends.isEmpty)
    #expect(stand.keyring.collections == [.login, made[0], .session])
    #expect(try stand.find().count == 20)
  }

  @Test("goes on deleting a collection after a lock that comes meanwhile") func interruptedRemoval() throws {
    let stand = try KeyringStand()
    let made = try stand.keyring.makeCollection("Work", isStandard: false, for: stand.program)
    for number in 0..<40 { try stand.make("\(number)", in: made) }
    try stand.keyring.lock(for: stand.program)
    let prompted = try Prompted(stand, .remove(made))
    prompted.begin()
    var isLocked = false
    let announce = stand.vault.hooks.announce
    stand.vault.hooks.announce = { [unowned stand] event in
      announce(event)
      guard !isLocked, case .item(_, .deleted, _, _, _) = event else { return }
      isLocked = true
      try? stand.keyring.lock(for: stand.program)
    }
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(isLocked && prompted.ends.isEmpty && prompted.prompt?.awaited == "unlock")
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends == [.deleted] && stand.keyring.collections == [.login, .session])
  }

  @Test("waits for an unlock to delete a collection that is open and has an item that is not") func partlyLocked()
    throws
  {
    let stand = try KeyringStand()
    let made = try stand.keyring.makeCollection("Work", isStandard: false, for: stand.program)
    let path = try stand.make("v", in: made)
    var change = ItemChange(name: try ItemName("secret-service/\(made.element)/\(path.element)"), update: true)
    change.accessible = .whenUnlocked
    _ = try stand.rooms.items.set(change, .same, for: stand.rooms.administrator) { _ in false }
    stand.vault.lock(because: .idle)
    #expect(!stand.keyring.isLocked(made, for: stand.program))
    let prompted = try Prompted(stand, .remove(made))
    prompted.begin()
    stand.rooms.run()
    #expect(prompted.ends.isEmpty && prompted.prompt?.awaited == "unlock")
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends == [.deleted])
  }

  @Test("to delete ends as dismissed if the program may read and not delete, and its own call is refused")
  func deletionDenied() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    let reader = AttendanceStand.process(60, executable: "/usr/bin/reader")
    stand.rooms.access.add(.password, by: stand.rooms.administrator, with: [])
    _ = try stand.rooms.access.give(
      try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/reader"), try ItemPattern("secret-service/login/*"),
      try Rights(parsing: "get,set,find"), until: nil, for: stand.rooms.administrator)
    #expect { try stand.keyring.delete(path, for: reader) } throws: {
      if case .refused(.denied)? = $0 as? KeyringFault { true } else { false }
    }
    try stand.keyring.lock(for: stand.program)
    let prompted = try Prompted(stand, .delete(path), by: reader)
    prompted.begin()
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends == [.dismissed])
  }

  @Test("of many programs is one question, which one unlock answers for all") func many() throws {
    let stand = try KeyringStand()
    try stand.keyring.lock(for: stand.program)
    let all = try (0..<8).map { _ in try Prompted(stand, .unlock([.collection(.login)])) }
    for prompted in all { prompted.begin() }
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(all.allSatisfy { $0.ends == [.unlocked([.collection(.login)])] })
  }

  // MARK: What ends no prompt

  /// A stand with an item that requires presence, in the collection of shared items.
  private static func withPresence(_ names: [String] = ["bank/a"]) throws -> (KeyringStand, [KeyringTarget]) {
    var settings = VaultSettings()
    settings.keyring.shares = [try ItemPattern("bank/*")]
    let stand = try KeyringStand(settings)
    for name in names { try stand.rooms.set(name, require: .password) }
    let hits = try stand.find(in: .shared)
    #expect(hits.count == names.count && hits.allSatisfy(\.isLocked))
    return (stand, hits.map { .item($0.path) })
  }

  @Test("for presence waits without an agent, is put off, and asks again at the next unlock and the next attendance")
  func presence() throws {
    let (stand, targets) = try Self.withPresence()
    let prompted = try Prompted(stand, .unlock(targets))
    prompted.begin()
    #expect(prompted.ends.isEmpty && prompted.prompt?.awaited == "presence")
    func putOff(_ agent: AttendanceStand.Listener) throws {
      let number = try #require(agent.numbers.last)
      try stand.attendance.attendance.dismiss(number, isUnable: false, for: try #require(agent.agent).caller)
      stand.rooms.hands.pass(seconds: 600)
      stand.rooms.run()
    }
    let first = try stand.attendance.attend()
    stand.attendance.turn()
    #expect(first.take() == ["attending", "presence bank/a 1"])
    try putOff(first)
    #expect(first.take() == ["withdrawn dismissed"] && prompted.ends.isEmpty)
    let second = try stand.attendance.attend(AttendanceStand.process(11))
    stand.rooms.hands.pass(seconds: 1)
    #expect(second.take() == ["attending", "presence bank/a 1"])
    try putOff(second)
    stand.attendance.lock()
    try stand.rooms.unlock()
    stand.rooms.run()
    stand.rooms.hands.pass(seconds: 1)
    #expect(second.take().contains("presence bank/a 1"))
    #expect(prompted.ends.isEmpty)
  }

  @Test("ends with presence that the session has shown for something else") func shownElsewhere() throws {
    let (stand, targets) = try Self.withPresence()
    let prompted = try Prompted(stand, .unlock(targets))
    prompted.begin()
    stand.rooms.access.add(.password, by: stand.program, with: [])
    stand.rooms.run()
    #expect(prompted.ends == [.unlocked(targets)])
  }

  @Test("waits while there are too many questions, and is asked once there is room") func full() throws {
    let (stand, targets) = try Self.withPresence((0..<9).map { "bank/\($0)" })
    let all = try targets.map { try Prompted(stand, .unlock([$0])) }
    for prompted in all { prompted.begin() }
    #expect(all.map(\.prompt?.awaited) == Array(repeating: "presence", count: 8) + ["later"])
    all[0].prompt?.dismiss()
    stand.rooms.hands.pass(seconds: 16)
    stand.rooms.run()
    #expect(all[8].prompt?.awaited == "presence" && all[8].ends.isEmpty)
  }

  @Test("outlasts a denied request, and ends with a grant") func denied() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    let program = AttendanceStand.process(60, uid: 4711)
    let prompted = try Prompted(stand, .unlock([.item(path)]), by: program)
    prompted.begin()
    #expect(prompted.prompt?.awaited == "approval")
    let number = try #require(stand.rooms.access.requests.pending.first).number
    _ = try stand.rooms.access.deny(number, isForGood: false, for: stand.rooms.administrator)
    stand.rooms.run()
    #expect(prompted.prompt?.awaited == "later" && prompted.ends.isEmpty)
    // A minute later it may be requested again.
    stand.rooms.hands.pass(seconds: 120)
    stand.rooms.run()
    #expect(prompted.prompt?.awaited == "approval")
  }

  @Test("asks nobody to unlock the vault for a program without rights, and names its collection truly")
  func rightsFirst() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    let programs = [60, 61].map { AttendanceStand.process($0, executable: "/usr/bin/program\($0)") }
    let (access, administrator) = (stand.rooms.access, stand.rooms.administrator)
    for (program, pattern) in zip([60, 61], ["else/*", "secret-service/login/*"]) {
      access.add(.password, by: administrator, with: [])
      _ = try access.give(
        try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/program\(program)"), try ItemPattern(pattern),
        Rights(parsing: "find,get,set"), until: nil, for: administrator)
    }
    // The class of an item that a lock closes.
    var change = ItemChange(name: try ItemName("secret-service/login/\(path.element)"), update: true)
    change.accessible = .whenUnlocked
    _ = try stand.rooms.items.set(change, .same, for: administrator) { _ in false }
    try stand.keyring.lock(for: stand.program)
    let targets: [KeyringTarget] = [.item(path), .collection(.login), .collection(.session)]
    #expect(programs.allSatisfy { stand.keyring.isLocked(.session, for: $0) })
    let all = try programs.map { program in try targets.map { try Prompted(stand, .unlock([$0]), by: program) } }
    for prompted in all.joined() { prompted.begin() }
    #expect(all[0].map(\.prompt?.awaited) == ["approval", "approval", "approval"])
    #expect(all[1].map(\.prompt?.awaited) == ["unlock", "unlock", "approval"])
    let told = try access.toldRequests(for: administrator).pending
    #expect(told.allSatisfy { !$0.isMissing })
    let item = "secret-service/login/\(path.element)"
    #expect(
      told.map(\.request.target.name.text).sorted() == [
        "secret-service/login/*", item, "secret-service/session/*", "secret-service/session/*",
      ])
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(all[0].map(\.ends) == [[], [], []])
    #expect(all[1].map(\.ends) == [[.unlocked([targets[0]])], [.unlocked([targets[1]])], []])
  }

  @Test("for a whole collection is approved for good only, by a grant for its items") func wholeCollection() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    let confined = AttendanceStand.process(60, executable: "/usr/bin/confined")
    let subject = try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/confined")
    let (access, administrator) = (stand.rooms.access, stand.rooms.administrator)
    access.add(.password, by: administrator, with: [])
    _ = try access.give(subject, try ItemPattern("else/*"), Rights(.get), until: nil, for: administrator)
    let prompted = try Prompted(stand, .unlock([.collection(.login)]), by: confined)
    prompted.begin()
    for _ in [Right.find, .get, .set] {
      let number = try #require(access.requests.pending.first).number
      #expect(throws: Refusal.self) { try access.approve(number, try ApprovalTerms(), for: administrator) }
      access.add(.password, by: administrator, with: [])
      _ = try access.approve(number, try ApprovalTerms(isForGood: true), for: administrator)
      stand.rooms.run()
    }
    #expect(prompted.ends == [.unlocked([.collection(.login)])])
    // The program makes no second key, because it finds the first one.
    #expect(try stand.find(for: confined).map(\.path) == [path])
    #expect(access.permit(confined, on: try ItemName("secret-service/login/0123456789abcdef")).has(.set, .whenUnlocked))
  }

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

  @Test("keeps no name through a lock that hides names, and waits for the unlock instead") func hidden() throws {
    let settings = { () -> VaultSettings in
      var settings = VaultSettings()
      settings.hideNames = true
      return settings
    }()
    let stand = try KeyringStand(settings)
    let path = try stand.make("v")
    let prompted = try Prompted(stand, .unlock([.item(path)]), by: AttendanceStand.process(60, uid: 4711))
    let made = try Prompted(stand, .makeCollection(label: "Work", isStandard: false))
    prompted.begin()
    #expect(prompted.prompt?.tellsName == true)
    stand.attendance.lock()
    made.begin()
    #expect(prompted.prompt?.tellsName == false)
    stand.rooms.run()
    #expect(prompted.prompt?.awaited == "unlock" && prompted.ends.isEmpty)
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.prompt?.awaited == "approval")
    guard case .made(let collection)? = made.ends.first else { throw MissingEnd() }
    #expect(try stand.keyring.describe(collection, for: stand.program).label == "Work")
  }

  private struct MissingEnd: Error {}

  // MARK: The book

  @Test("is in the book from its making to its end, and is refused there by an administrator alone")
  func refused() throws {
    let stand = try KeyringStand()
    try stand.keyring.lock(for: stand.program)
    let prompted = try Prompted(stand, .unlock([.collection(.login)]))
    let book = stand.vault.prompts
    let number = try #require(prompted.prompt).number
    #expect(book.all.count == 1 && book.begun.isEmpty)
    func refuse(_ caller: Caller) throws { _ = try book.refuse(number, for: caller, stand.rooms.access) }
    #expect(throws: Refusal.noSuchRequest(number)) { try refuse(stand.rooms.administrator) }
    prompted.begin()
    #expect(book.begun.count == 1)
    #expect(throws: Refusal.self) { try refuse(AttendanceStand.process(60, uid: 4711)) }
    try refuse(stand.rooms.administrator)
    #expect(prompted.ends == [.dismissed] && book.all.isEmpty)
    #expect(throws: Refusal.noSuchRequest(number)) { try refuse(stand.rooms.administrator) }
  }

  /// The prompts of a locked vault, of several programs.
  private final class Crowd {
    let stand: KeyringStand
    private let line: Line
    private var all: [Prompted] = []

    init() throws {
      stand = try KeyringStand()
      line = Line(of: stand.program.uid)
    }

    /// Makes a prompt of the portal.
    func makeForPortal(_ program: Caller) throws -> Prompted {
      all.append(try Prompted(stand, .fulfill(try AppWish("app", stand.keyring) { _ in }), by: program, line))
      all[all.count - 1].begin()
      return all[all.count - 1]
    }

    /// Makes a prompt of a process.
    func make(_ pid: Int32, executable: String? = nil, begun: Bool = true) throws -> Prompted {
      let program = executable.map { AttendanceStand.process(pid, executable: $0) } ?? AttendanceStand.process(pid)
      let made = try Prompted(stand, .unlock([.collection(.login)]), by: program, line)
      all.append(made)
      if begun { made.begin() }
      return made
    }
  }

  @Test("of the process that has most gives way when there are too many, first one that was not begun")
  func mostGivesWay() throws {
    let crowd = try Crowd()
    try crowd.stand.keyring.lock(for: crowd.stand.program)
    let browser = try crowd.make(70)
    let most = KeyringPrompts.own + KeyringPrompts.shared
    let flood = try (0..<most).map { try crowd.make(71, begun: $0 != 5) }
    #expect(flood.allSatisfy { $0.ends.isEmpty })
    let later = try (0..<2).map { _ in try crowd.make(71) }
    #expect(flood[5].ends == [.dismissed] && flood[0].ends == [.dismissed] && flood[1].ends.isEmpty)
    #expect((later + [browser]).allSatisfy { $0.ends.isEmpty })
    #expect(crowd.stand.vault.prompts.all.count == most + 1)
  }

  @Test("of a program with few gives way to no other, and such a program always gets one") func few() throws {
    let crowd = try Crowd()
    try crowd.stand.keyring.lock(for: crowd.stand.program)
    let browser = try (0..<3).map { _ in try crowd.make(70) }
    // Many processes that each have fewer than the browser, and then many that have more.
    let (small, large) = (
      try (0..<520).flatMap { number in try (0..<2).map { _ in try crowd.make(1000 + Int32(number)) } },
      try (0..<70).flatMap { number in
        try (0..<2 * KeyringPrompts.own).map { _ in try crowd.make(2000 + Int32(number)) }
      }
    )
    #expect(browser.allSatisfy { $0.ends.isEmpty } && small.allSatisfy { $0.ends.isEmpty })
    #expect(large.contains { $0.ends == [.dismissed] })
    let second = try crowd.make(80)
    #expect(second.ends.isEmpty && browser.allSatisfy { $0.ends.isEmpty })
  }

  @Test("of a program that is held to its grants counts with those of all its processes") func confined() throws {
    let crowd = try Crowd()
    let stand = crowd.stand
    stand.rooms.access.add(.password, by: stand.rooms.administrator, with: [])
    _ = try stand.rooms.access.give(
      try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/forks"), try ItemPattern("other/*"),
      try Rights(parsing: "get"), until: nil, for: stand.rooms.administrator)
    try stand.keyring.lock(for: stand.program)
    let browser = try (0..<2 * KeyringPrompts.own).map { _ in try crowd.make(70) }
    let flood = try (0..<KeyringPrompts.shared + 100).map {
      try crowd.make(1000 + Int32($0), executable: "/usr/bin/forks")
    }
    #expect(browser.allSatisfy { $0.ends.isEmpty })
    #expect(flood.first?.ends == [.dismissed] && flood.last?.ends.isEmpty == true)
  }

  @Test("of the portal takes no place from others, and loses none") func ofPortal() throws {
    let crowd = try Crowd()
    let program = AttendanceStand.process(90)
    try crowd.stand.keyring.lock(for: crowd.stand.program)
    let portal = try (0..<64).map { _ in try crowd.makeForPortal(program) }
    for pid in 1000..<Int32(1080) { for _ in 0..<2 * KeyringPrompts.own { _ = try crowd.make(pid) } }
    #expect(portal.allSatisfy { $0.ends.isEmpty })
    let browser = try crowd.make(70)
    #expect(try crowd.makeForPortal(program).ends.isEmpty && browser.ends.isEmpty)
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

  @Test("ends after two minutes for three programs, for others after a set time or never") func limits() throws {
    let minute: Int64 = 60_000_000_000
    for name in ["secret-tool", "git-credential-libsecret", "docker-credential-secretservice"] {
      #expect(PromptLimits().limit(of: "/usr/bin/\(name)") == 2 * minute)
    }
    #expect(PromptLimits().limit(of: "/usr/bin/chromium") == nil && PromptLimits().limit(of: nil) == nil)
    let set = try PromptLimits(parsing: "10m chrome=off secret-tool=1m")
    #expect(set.limit(of: "/opt/chrome") == nil && set.limit(of: "/opt/other") == 10 * minute)
    #expect(set.limit(of: "secret-tool") == minute && set.limit(of: nil) == 10 * minute)
  }

  @Test("ends as dismissed if an unlocked vault does not give what it is for") func refusedMaking() throws {
    let stand = try KeyringStand()
    let program = AttendanceStand.process(60, executable: "/usr/bin/setter")
    stand.rooms.access.add(.password, by: stand.rooms.administrator, with: [])
    _ = try stand.rooms.access.give(
      try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/setter"),
      try ItemPattern("secret-service/login/*"), try Rights(parsing: "get,set,find"), until: nil,
      for: stand.rooms.administrator)
    let prompted = try Prompted(stand, .makeCollection(label: "Work", isStandard: false), by: program)
    prompted.begin()
    stand.rooms.run()
    #expect(prompted.ends == [.dismissed])
  }
}
