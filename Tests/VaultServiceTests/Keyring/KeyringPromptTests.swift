import Testing
import VaultModel

@testable import VaultService

@Suite("A prompt of the keyring") struct KeyringPromptTests {
  /// A prompt of a program, and its ends so far.
  final class Prompted {
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
    #expect(prompted.ends.isEmpty && agent.take().last == "withdrawn dismissed")
    let second = try stand.attendance.attend(AttendanceStand.process(11))
    #expect(second.take() == ["attending", "unlock 1"])
    // The third one comes while nobody is asked.
    try stand.attendance.attendance.dismiss(number, isUnable: false, for: try #require(second.agent).caller)
    let third = try stand.attendance.attend(AttendanceStand.process(12))
    #expect(third.take() == ["attending"])
    stand.rooms.hands.pass(seconds: 61)
    stand.rooms.run()
    #expect(third.take() == ["unlock 1"] && prompted.ends.isEmpty)
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
    let agent = try stand.attendance.attend()
    try stand.keyring.lock(for: stand.program)
    let all = try (0..<8).map { _ in try Prompted(stand, .unlock([.collection(.login)])) }
    for prompted in all { prompted.begin() }
    stand.attendance.turn()
    #expect(agent.told.last == "unlock 8" && agent.numbers.count == 1)
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
    #expect(prompted.prompt?.awaited == "approval" && prompted.ends.isEmpty)
    let (access, administrator) = (stand.rooms.access, stand.rooms.administrator)
    access.add(.password, by: administrator, with: [])
    _ = try access.give(
      try Subject(parsing: "user:4711"), try ItemPattern("secret-service/login/*"), try Rights(parsing: "find,get"),
      until: nil, for: administrator)
    stand.rooms.run()
    #expect(prompted.ends == [.unlocked([.item(path)])])
  }

  @Test("outlasts its request, which others of its subject push out, and makes it again") func pushedOut() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    let program = AttendanceStand.process(60, uid: 4711)
    let prompted = try Prompted(stand, .unlock([.item(path)]), by: program)
    prompted.begin()
    #expect(prompted.prompt?.awaited == "approval")
    let requests = RequestStand(stand.rooms)
    let number = try #require(requests.pending.first).number
    let others = try (0..<15).map { try requests.number("other/\($0)", program) }
    #expect(requests.pending.map(\.number) == [number] + others)
    stand.rooms.hands.pass(seconds: 10)
    let last = try requests.number("other/15", program)
    stand.rooms.run()
    // So soon, the subject may make no further request.
    #expect(requests.pending.map(\.number) == others + [last])
    #expect(prompted.prompt?.awaited == "later" && prompted.ends.isEmpty)
    stand.rooms.hands.pass(seconds: 16)
    stand.rooms.run()
    #expect(prompted.prompt?.awaited == "approval" && prompted.ends.isEmpty)
    #expect(requests.pending.last?.target.name.text == "secret-service/login/\(path.element)")
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
