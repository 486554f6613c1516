import Testing
import VaultModel

@testable import VaultService

@Suite("What agents are told of") struct AttendanceMattersTests {
  @Test("presence is asked for once for an item and a session, and counts for that session alone") func presence()
    throws
  {
    let stand = try AttendanceStand()
    try stand.rooms.set("a", require: .password)
    let agent = try stand.attend()
    let (own, other) = (AttendanceStand.process(50), AttendanceStand.process(60))
    let calls = try [stand.askPresence("a", own), stand.askPresence("a", own), stand.askPresence("a", other)]
    #expect(calls.allSatisfy { $0.joined == "waits" })
    stand.turn()
    #expect(agent.take().sorted() == ["attending", "presence a 1", "presence a 2"])
    let number = try #require(calls[0].waiter?.inquiry)
    #expect(calls[1].waiter?.inquiry == number && calls[2].waiter?.inquiry != number)
    #expect(stand.attendance.session(of: number) == own.session)
    stand.attendance.isShown(number)
    #expect(agent.take() == ["withdrawn answered"] && calls[2].end == nil)
    #expect(stand.attendance.session(of: number) == nil)
    #expect(throws: Refusal.noSuchRequest(number)) {
      _ = try stand.attendance.item(of: number, for: AttendanceStand.process(10))
    }
  }

  @Test("a dismissal of presence is for that item, in all sessions of the user") func dismissedPresence() throws {
    let stand = try AttendanceStand()
    for name in ["a", "b"] { try stand.rooms.set(name, require: .password) }
    let agent = try stand.attend()
    let calls = [try stand.askPresence("a"), try stand.askPresence("a", AttendanceStand.process(60))]
    stand.turn()
    try stand.attendance.dismiss(try #require(agent.numbers.last), isUnable: false, for: AttendanceStand.process(10))
    #expect(calls.map(\.end) == [.dismissed, .dismissed])
    #expect(try stand.askPresence("a").joined == "dismissed")
    #expect(try stand.askPresence("b").joined == "waits")
    #expect(try stand.askPresence("a", AttendanceStand.process(61)).joined == "dismissed")
  }

  @Test("presence is asked for in bounded numbers, also by many sessions of one user") func flood() throws {
    let stand = try AttendanceStand()
    try stand.rooms.set("a", require: .password)
    let agent = try stand.attend()
    let calls = try (0..<100).map { try stand.askPresence("a", AttendanceStand.process(Int32(100 + $0))) }
    #expect(calls.count { $0.joined == "waits" } == 16 && calls.count { $0.joined == "nobody" } == 84)
    stand.rooms.hands.pass(seconds: 1)
    #expect(agent.take().count == 17)
    calls[0].leave()
    #expect(try stand.askPresence("a", AttendanceStand.process(300)).joined == "waits")
  }

  @Test("each use of a key is asked for by itself, and a no holds for that key") func confirmation() throws {
    let stand = try AttendanceStand()
    #expect(stand.askConfirmation("k").joined == "nobody")
    let agent = try stand.attend()
    let calls = [stand.askConfirmation("k"), stand.askConfirmation("k"), stand.askConfirmation("l")]
    stand.turn()
    #expect(agent.take() == ["attending", "confirmation 1", "confirmation 1", "confirmation 1"])
    #expect(Set(agent.numbers).count == 3 && agent.words.last == "a signature ")
    let numbers = calls.compactMap { $0.waiter?.inquiry }
    // An inquiry accepts an answer only from a process that was told of it, and only a confirmation.
    for other in [AttendanceStand.process(11), AttendanceStand.process(50), AttendanceStand.process(10, uid: 0)] {
      #expect(throws: Refusal.denied("this process was not asked")) {
        try stand.attendance.confirm(numbers[0], for: other)
      }
    }
    let call = stand.askUnlock(waitsAnyway: true)
    stand.turn()
    #expect(throws: Refusal.self) {
      try stand.attendance.confirm(try #require(call.waiter?.inquiry), for: AttendanceStand.process(10))
    }
    _ = agent.take()
    try stand.attendance.confirm(numbers[0], for: AttendanceStand.process(10))
    #expect(agent.take() == ["withdrawn answered"])
    #expect(throws: Refusal.noSuchRequest(numbers[0])) {
      try stand.attendance.confirm(numbers[0], for: AttendanceStand.process(10))
    }
    try stand.attendance.dismiss(numbers[1], isUnable: false, for: AttendanceStand.process(10))
    #expect(calls.map(\.end) == [nil, .dismissed, nil])
    #expect(stand.askConfirmation("k").joined == "dismissed")
    #expect(stand.askConfirmation("l").joined == "waits")
    // The number of waiting calls is limited.
    let many = (0..<20).map { _ in stand.askConfirmation("m") }
    #expect(many.count { $0.joined == "waits" } == 15)
  }

  @Test("the daemon's words for what a caller is about to do are kept apart from the caller's, and are one line")
  func tasks() throws {
    let stand = try AttendanceStand()
    stand.lock()
    let agent = try stand.attend()
    let said = Said(purpose: "own", task: "SSH login\n" + String(repeating: "x", count: 400))
    let joined = stand.attendance.join(.unlock, AttendanceStand.process(50), said) { _ in }
    stand.turn()
    let task = "SSH login\\u{a}" + String(repeating: "x", count: 286) + "…"
    #expect(agent.words == [task + " own"])
    withExtendedLifetime(joined) {}
  }

  @Test("when the first askers leave, those behind them are told of: nobody hides behind others") func ninth() throws {
    let stand = try AttendanceStand()
    stand.lock()
    let agent = try stand.attend()
    let first = (0..<8).map { stand.askUnlock(AttendanceStand.process(Int32(60 + $0))) }
    let last = stand.askUnlock(AttendanceStand.process(99))
    stand.turn()
    #expect(agent.askers.map(\.pid) == (60..<68).map { Int32($0) })
    for call in first { call.leave() }
    stand.rooms.hands.pass(seconds: 1)
    #expect(agent.askers.map(\.pid) == [99])
    withExtendedLifetime(last) {}
  }

  @Test("the item of a presence inquiry that has gone is looked at again by those who wait") func itemGone() throws {
    let stand = try AttendanceStand()
    try stand.rooms.set("a", require: .password)
    _ = try stand.attend()
    let call = try stand.askPresence("a")
    let number = try #require(call.waiter?.inquiry)
    var isMadeAgain = false
    let line = Line(of: 1)
    let attempt = Attempt(
      for: .question(number), in: stand.vault.waiting, line, within: nil, stand.rooms.hands.timer, late: {},
      goOn: { isMadeAgain = true })
    stand.attendance.happened(.item(try ItemName("b"), .deleted))
    stand.rooms.run()
    #expect(!isMadeAgain)
    stand.attendance.happened(.item(try ItemName("a"), .deleted))
    stand.rooms.run()
    #expect(isMadeAgain)
    withExtendedLifetime(attempt) {}
  }

  @Test("a request is told of to administrators alone, and never to the subject that asked") func approval() throws {
    let stand = try AttendanceStand(system: true)
    try stand.rooms.set("a")
    let agent = try stand.attend(AttendanceStand.process(10, uid: 0))
    let asker = AttendanceStand.process(50, uid: 990)
    let number = try Self.request(stand, asker)
    stand.turn()
    #expect(agent.take() == ["attending", "approval a 0"] && agent.numbers == [number])
    #expect(agent.askers.map(\.pid) == [50])
    let call = stand.askApproval(number, asker)
    #expect(call.joined == "waits")
    try stand.attendance.dismiss(number, isUnable: false, for: AttendanceStand.process(10, uid: 0))
    #expect(call.end == .dismissed && agent.take() == ["withdrawn dismissed"])
    // The request is still pending.
    #expect(stand.rooms.access.pendingRequests == 1)
    let late = try stand.attend(AttendanceStand.process(11, uid: 0))
    #expect(late.take() == ["attending"])
    stand.rooms.hands.pass(seconds: 60)
    let later = try stand.attend(AttendanceStand.process(12, uid: 0))
    #expect(later.take() == ["attending", "approval a 0"])
    _ = try stand.rooms.access.deny(number, isForGood: false, for: stand.rooms.administrator)
    #expect(later.take() == ["withdrawn answered"])
  }

  @Test("an agent of the user that asked hears nothing of it, though its user may answer others") func ownRequest()
    throws
  {
    let stand = try AttendanceStand(system: true)
    try stand.rooms.set("a")
    var own = AttendanceStand.process(10, uid: 990)
    own.groups.append(RoomStand.administrators)
    let agent = try stand.attend(own)
    let number = try Self.request(stand, AttendanceStand.process(50, uid: 990))
    stand.turn()
    #expect(agent.take() == ["attending"])
    #expect(stand.askApproval(number, AttendanceStand.process(50, uid: 990)).joined == "nobody")
    _ = try Self.request(stand, AttendanceStand.process(51, uid: 991))
    stand.rooms.hands.pass(seconds: 1)
    #expect(agent.take() == ["approval a 0"])
  }

  @Test("what nobody was told of yet nobody answers") func untold() throws {
    let stand = try AttendanceStand()
    try stand.rooms.set("a", require: .password)
    _ = try stand.attend()
    let call = try stand.askPresence("a")
    let number = try #require(call.waiter?.inquiry)
    func dismiss() throws(Refusal) {
      try stand.attendance.dismiss(number, isUnable: false, for: AttendanceStand.process(10))
    }
    #expect(throws: Refusal.denied("this process was not asked")) { try dismiss() }
    #expect(call.end == nil)
    stand.turn()
    try dismiss()
    #expect(call.end == .dismissed)
  }

  @Test("a finger is asked for by agents of users alone for whom a way in is") func fingers() throws {
    let stand = try AttendanceStand()
    try stand.rooms.set("a", require: .biometry)
    let agent = try stand.attend()
    let name = try ItemName("a")
    let caller = AttendanceStand.process(50)
    guard case .nobody = stand.attendance.join(.presence(name, .biometry), caller, Said(), giveUp: { _ in }) else {
      Issue.record("somebody is asked")
      return
    }
    stand.turn()
    #expect(agent.take() == ["attending"])
  }

  @Test("a request stays open where no agent can ask: who waits is refused") func unableApproval() throws {
    let stand = try AttendanceStand(system: true)
    try stand.rooms.set("a")
    let agent = try stand.attend(AttendanceStand.process(10, uid: 0))
    let asker = AttendanceStand.process(50, uid: 990)
    let number = try Self.request(stand, asker)
    let call = stand.askApproval(number, asker)
    stand.turn()
    _ = agent.take()
    try stand.attendance.dismiss(number, isUnable: true, for: AttendanceStand.process(10, uid: 0))
    #expect(call.end == .nobody && stand.askApproval(number, asker).joined == "nobody")
    stand.rooms.hands.pass(seconds: 1)
    #expect(agent.take() == [])
    let other = try stand.attend(AttendanceStand.process(11, uid: 0))
    #expect(other.take() == ["attending", "approval a 0"])
    #expect(stand.askApproval(number, asker).joined == "waits")
  }

  @Test("a number stands for one question: a request, its approval, or an inquiry") func numbers() throws {
    let stand = try AttendanceStand(system: true)
    try stand.rooms.set("a")
    _ = try stand.attend(AttendanceStand.process(10, uid: 0))
    let asker = AttendanceStand.process(50, uid: 990)
    let administrator = stand.rooms.administrator
    let request = try Self.request(stand, asker)
    /// Returns the number of an inquiry for which two numbers are drawn, the one of the request first.
    func inquiry(_ next: Int) throws -> (QuestionNumber, Waiter?) {
      var drawn = [request.value, next]
      stand.vault.questions.draw = { drawn.removeFirst() }
      let call = stand.askConfirmation("k")
      return (try #require(call.waiter?.inquiry), call.waiter)
    }
    let first = try inquiry(1)
    _ = try stand.rooms.access.approve(request, ApprovalTerms(), for: administrator)
    let second = try inquiry(2)
    try #require(try stand.rooms.items.get(ItemName("a"), for: asker) { _, _, _ in } == nil)
    let third = try inquiry(3)
    #expect([first.0, second.0, third.0] == [1, 2, 3])
    var drawn = [request.value, 1, 2, 3, 4]
    stand.vault.questions.draw = { drawn.removeFirst() }
    #expect(try Self.request(stand, asker) == 4)
    withExtendedLifetime([first.1, second.1, third.1]) {}
  }

  private static func request(_ stand: AttendanceStand, _ asker: Caller) throws -> QuestionNumber {
    let wait = try stand.rooms.items.get(try ItemName("a"), for: asker, Said(purpose: "to work")) { _, _, _ in }
    guard case .approval(let number) = try #require(wait) else { throw RequestStand.RequestStandError() }
    return number
  }

  @Test("a lock that hides names takes back what has a name, and keeps none") func hidden() throws {
    var settings = VaultSettings()
    settings.hideNames = true
    let stand = try AttendanceStand(settings)
    for name in ["a", "b"] { try stand.rooms.set(name, require: .password) }
    let agent = try stand.attend()
    let calls = try [stand.askPresence("a"), stand.askPresence("b")]
    stand.turn()
    let number = try #require(calls[1].waiter?.inquiry)
    try stand.attendance.dismiss(number, isUnable: false, for: AttendanceStand.process(10))
    _ = agent.take()
    stand.lock()
    #expect(agent.take().sorted() == ["notice locked", "withdrawn gone"])
    #expect(stand.attendance.inquiries.isEmpty && !stand.attendance.inquiries.mayHoldNames)
  }

  @Test("a lock that does not hide names leaves what has one") func shown() throws {
    let stand = try AttendanceStand()
    try stand.rooms.set("a", require: .password)
    let agent = try stand.attend()
    let call = try stand.askPresence("a")
    stand.turn()
    _ = agent.take()
    stand.lock()
    #expect(agent.take() == ["notice locked"] && call.end == nil)
  }

  @Test("a lock is warned of half a minute before, once for each deadline, and of none that comes sooner")
  func warning()
    throws
  {
    var settings = VaultSettings()
    settings.idle = 300
    let stand = try AttendanceStand(settings)
    var armed: Int64?
    stand.vault.hooks.arm = { armed = $0 }
    func passUntilArmed() {
      if let armed { stand.rooms.hands.pass(max(0, armed - stand.rooms.hands.now)) }
      stand.vault.timerFired()
    }
    let start = stand.rooms.hands.now
    stand.vault.armNext()
    #expect(armed == start + 300_000_000_000)
    let agent = try stand.attend()
    #expect(armed == start + 270_000_000_000)
    passUntilArmed()
    #expect(
      agent.take().map { $0.split(separator: " ").prefix(3).joined(separator: " ") } == [
        "attending", "notice locking idle",
      ])
    stand.vault.timerFired()
    #expect(agent.take() == [] && armed == start + 300_000_000_000)
    passUntilArmed()
    #expect(agent.take() == ["notice locked"])
    try stand.rooms.unlock()
    stand.leave(agent)
    #expect(armed == stand.rooms.hands.now + 300_000_000_000)

    settings.idle = 30
    let short = try AttendanceStand(settings)
    let other = try short.attend()
    short.rooms.hands.pass(seconds: 29)
    short.vault.timerFired()
    #expect(other.take() == ["attending"])
  }

  @Test("a failed check and a failed unlock are told of to administrators, the state to all") func notices() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend()
    _ = agent.take()
    stand.attendance.happened(.integrityFailed("a record is missing"))
    stand.vault.hooks.unlockFailed(AttendanceStand.process(70, uid: 990))
    #expect(agent.take() == ["notice integrity a record is missing", "notice failed-unlock 990"])
  }

  @Test("coming, going and dismissing are on the record") func record() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend(faces: ["terminal", "pinentry"])
    stand.lock()
    _ = stand.askUnlock(waitsAnyway: true)
    let call = stand.askUnlock()
    stand.turn()
    try stand.attendance.dismiss(try #require(agent.numbers.last), isUnable: false, for: AttendanceStand.process(10))
    #expect(call.end == .dismissed)
    stand.leave(agent)
    #expect(throws: Refusal.self) { _ = try stand.attend(AttendanceStand.process(10, uid: 2000)) }
    try stand.rooms.unlock()
    let told = try AuditTests.told(stand.rooms)
    #expect(told.contains("attend ok terminal pinentry") && told.contains("attend ok ended"), "\(told)")
    #expect(told.contains { $0.hasPrefix("attend denied") }, "\(told)")
    #expect(told.contains { $0.hasPrefix("dismiss ok unlock, number ") }, "\(told)")
  }
}
