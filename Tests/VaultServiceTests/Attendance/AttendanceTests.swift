import Testing
import VaultModel

@testable import VaultService

@Suite("Agents") struct AttendanceTests {
  @Test("are told once of ten who wait for an unlock, and that it was answered") func tenReaders() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend()
    stand.lock()
    #expect(agent.take() == ["attending", "notice locked"])
    let calls = (0..<10).map { stand.askUnlock(AttendanceStand.process(50 + $0)) }
    stand.turn()
    #expect(agent.take() == ["unlock 10"] && agent.askers.map(\.pid) == Array(50..<58))
    try stand.rooms.unlock()
    #expect(agent.take() == ["withdrawn answered", "notice unlocked"])
    #expect(calls.allSatisfy { $0.joined == "waits" && $0.end == nil })
  }

  @Test("tell of a dismissal to all who wait, and nobody is asked for the same for a minute") func dismissal() throws {
    let stand = try AttendanceStand()
    let agents = try [stand.attend(), stand.attend(AttendanceStand.process(11))]
    stand.lock()
    let calls = (0..<10).map { stand.askUnlock(AttendanceStand.process(50 + $0)) }
    stand.turn()
    for agent in agents { #expect(agent.take().last == "unlock 10") }
    let number = try #require(agents[0].numbers.last)
    try stand.attendance.dismiss(number, isUnable: false, for: AttendanceStand.process(11))
    for agent in agents { #expect(agent.take() == ["withdrawn dismissed"]) }
    #expect(calls.allSatisfy { $0.end == .dismissed })
    stand.rooms.hands.pass(seconds: 59)
    #expect(stand.askUnlock().joined == "dismissed" && agents[0].take() == [])
    stand.rooms.hands.pass(seconds: 1)
    #expect(stand.askUnlock().joined == "waits")
  }

  @Test("are done with a dismissal once the vault is unlocked otherwise") func dismissalEnds() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend()
    stand.lock()
    let call = stand.askUnlock()
    stand.turn()
    try stand.attendance.dismiss(try #require(agent.numbers.last), isUnable: false, for: AttendanceStand.process(10))
    #expect(call.end == .dismissed)
    try stand.rooms.unlock()
    stand.lock()
    #expect(stand.askUnlock().joined == "waits")
  }

  @Test("are wanted at once: with none there is nobody to ask") func nobody() throws {
    let stand = try AttendanceStand()
    try stand.rooms.set("a", require: .password)
    #expect(try stand.askPresence("a").joined == "nobody")
    stand.lock()
    #expect(stand.askUnlock().joined == "nobody")
  }

  @Test("that come later are told of the calls that wait anyway") func later() throws {
    let stand = try AttendanceStand()
    stand.lock()
    let call = stand.askUnlock(waitsAnyway: true)
    #expect(call.joined == "waits")
    let agent = try stand.attend()
    #expect(agent.take() == ["attending", "unlock 1"])
    stand.leave(agent)
    #expect(call.joined == "waits")
    let next = try stand.attend()
    #expect(next.take() == ["attending", "unlock 1"])
    call.leave()
    #expect(next.take() == ["withdrawn gone"])
  }

  @Test("are told after the minute of calls that came within it, and of older calls as well only with a new one")
  func putOff() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend()
    stand.lock()
    let call = stand.askUnlock(waitsAnyway: true)
    stand.turn()
    let number = try #require(agent.numbers.last)
    try stand.attendance.dismiss(number, isUnable: false, for: AttendanceStand.process(10))
    _ = agent.take()
    stand.rooms.hands.pass(seconds: 90)
    #expect(agent.take() == [])
    let later = stand.askUnlock(waitsAnyway: true)
    stand.turn()
    #expect(agent.take() == ["unlock 2"])
    try stand.attendance.dismiss(number, isUnable: false, for: AttendanceStand.process(10))
    _ = agent.take()
    stand.rooms.hands.pass(seconds: 30)
    let meanwhile = stand.askUnlock(waitsAnyway: true)
    #expect(meanwhile.joined == "dismissed")
    stand.rooms.hands.pass(seconds: 29)
    #expect(agent.take() == [])
    stand.rooms.hands.pass(seconds: 2)
    #expect(agent.take() == ["unlock 3"])
    for call in [call, later, meanwhile] { call.leave() }
    #expect(agent.take() == ["withdrawn gone"])
  }

  @Test("that begin to attend are told of calls that were put off and still wait, after the minute at the earliest")
  func putOffBefore() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend()
    stand.lock()
    let call = stand.askUnlock(waitsAnyway: true)
    stand.turn()
    try stand.attendance.dismiss(try #require(agent.numbers.last), isUnable: false, for: AttendanceStand.process(10))
    let early = try stand.attend(AttendanceStand.process(11))
    stand.rooms.hands.pass(seconds: 59)
    #expect(early.take() == ["attending"])
    stand.rooms.hands.pass(seconds: 2)
    #expect(early.take() == ["unlock 1"])
    let next = try stand.attend(AttendanceStand.process(12))
    #expect(next.take() == ["attending", "unlock 1"])
    call.leave()
    #expect(next.take() == ["withdrawn gone"])
  }

  @Test("are told again of calls that have not continued when a lock follows an unlock") func lockedAgain() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend()
    stand.lock()
    let call = stand.askUnlock()
    stand.turn()
    #expect(agent.take() == ["attending", "notice locked", "unlock 1"])
    try stand.rooms.unlock()
    stand.rooms.hands.pass(seconds: 1)
    #expect(agent.take() == ["withdrawn answered", "notice unlocked"])
    stand.lock()
    stand.rooms.hands.pass(seconds: 1)
    #expect(agent.take() == ["notice locked", "unlock 1"] && call.end == nil)
  }

  @Test("are told that nobody waits any more when the last call has ended") func gone() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend()
    stand.lock()
    let calls = [stand.askUnlock(), stand.askUnlock()]
    stand.turn()
    _ = agent.take()
    calls[0].leave()
    stand.rooms.hands.pass(seconds: 1)
    #expect(agent.take() == ["unlock 1"])
    calls[1].leave()
    #expect(agent.take() == ["withdrawn gone"])
  }

  @Test("are told of many inquiries in turns, each of them described once, and others have their turn in between")
  func turns() throws {
    let stand = try AttendanceStand(system: true)
    var described: [UInt32] = []
    for uid: UInt32 in 991...994 {
      let known = AttendanceStand.process(Int32(uid), uid: uid)
      let caller = Caller(
        door: .varlink, uid: uid, groups: [uid], pid: known.pid, started: known.started, unit: nil,
        session: known.session,
        memory: Caller.Memory(ancestry: {
          described.append(uid)
          return (nil, [])
        }))
      for name in ["a", "b"] {
        _ = try stand.rooms.items.get(ItemName(name), for: caller, Said(purpose: "to work")) { _, _, _ in }
      }
    }
    #expect(described == Array(991...994))
    stand.rooms.hands.stride.value = Turns.length
    let listeners = try (10..<13).map { try stand.attend(AttendanceStand.process($0, uid: 0)) }
    #expect(listeners.map { $0.told.count }.max() == 2)
    var order: [Int] = []
    for _ in 0..<3 {
      stand.rooms.turns.wait(Line(of: 5)) { order.append(listeners[0].told.count) }
      for _ in 0..<2 { stand.rooms.turns.turn() }
    }
    #expect(order.count == 3 && order[0] < order[2] && order[2] < 9)
    stand.rooms.run()
    for listener in listeners {
      #expect(listener.take().count == 9 && Set(listener.numbers).count == 8)
    }
    // The calls that wait for an approval are not described: the request names the process that asked last.
    let number = try #require(listeners[0].numbers.first)
    let waiter = stand.askApproval(
      number,
      Caller(
        door: .varlink, uid: 995, groups: [], pid: 5, started: 5, unit: nil, session: nil,
        memory: Caller.Memory(ancestry: {
          described.append(995)
          return (nil, [])
        })))
    stand.rooms.hands.pass(seconds: 1)
    stand.rooms.run()
    #expect(waiter.joined == "waits" && listeners[0].take().count == 1 && described == Array(991...994))
  }

  @Test("are not told in a later turn of an inquiry that is over by then") func overMeanwhile() throws {
    let stand = try AttendanceStand(system: true)
    let caller = AttendanceStand.process(60, uid: 990)
    for name in ["a", "b", "c"] {
      _ = try stand.rooms.items.get(ItemName(name), for: caller, Said(purpose: "to work")) { _, _, _ in }
    }
    stand.rooms.hands.stride.value = Turns.length
    let agent = try stand.attend(AttendanceStand.process(10, uid: 0))
    #expect(agent.take().count == 2)
    for request in stand.rooms.access.requests.pending {
      _ = try stand.rooms.access.deny(request.number, isForGood: false, for: stand.rooms.administrator)
    }
    stand.rooms.run()
    #expect(agent.take() == ["withdrawn answered"])
  }

  @Test("are told of changes no more than four times a second") func pace() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend()
    stand.lock()
    _ = agent.take()
    var calls: [AttendanceStand.Call] = []
    for _ in 0..<1000 {
      calls.append(stand.askUnlock())
      stand.rooms.hands.pass(1_000_000)
    }
    stand.rooms.hands.pass(seconds: 1)
    let told = agent.take()
    #expect((4...6).contains(told.count) && told.last == "unlock 1000", "\(told)")
  }

  @Test("of another process are asked nothing by it: it answers no inquiry that it was not told of") func otherProcess()
    throws
  {
    let stand = try AttendanceStand()
    try stand.rooms.set("a", require: .password)
    let agent = try stand.attend()
    let call = try stand.askPresence("a")
    stand.turn()
    let number = try #require(agent.numbers.last)
    var reused = AttendanceStand.process(10)
    reused.started = 11
    var unknown = AttendanceStand.process(10)
    unknown.started = nil
    for other in [AttendanceStand.process(12), reused, unknown, AttendanceStand.process(10, uid: 2000)] {
      let refusal = Refusal.denied("this process was not asked")
      #expect(throws: refusal) { try stand.attendance.dismiss(number, isUnable: false, for: other) }
      #expect(throws: refusal) { try stand.attendance.dismiss(number, isUnable: true, for: other) }
      #expect(throws: refusal) { _ = try stand.attendance.item(of: number, for: other) }
    }
    let none = QuestionNumber(number.value ^ 1)
    #expect(throws: Refusal.noSuchRequest(none)) {
      try stand.attendance.dismiss(none, isUnable: false, for: AttendanceStand.process(10))
    }
    #expect(call.end == nil)
    #expect(try stand.attendance.item(of: number, for: AttendanceStand.process(10)).name.text == "a")
  }

  @Test("ask until the last of them cannot: then who waits is told that there is nobody") func unable() throws {
    let stand = try AttendanceStand()
    let agents = try [stand.attend(), stand.attend(AttendanceStand.process(11))]
    stand.lock()
    let (asking, waiting) = (stand.askUnlock(), stand.askUnlock(waitsAnyway: true))
    stand.turn()
    let number = try #require(agents[0].numbers.last)
    try stand.attendance.dismiss(number, isUnable: true, for: AttendanceStand.process(10))
    #expect(asking.end == nil)
    // An agent that cannot ask receives no more of these questions.
    _ = agents.map { $0.take() }
    let third = stand.askUnlock()
    stand.rooms.hands.pass(seconds: 1)
    #expect(agents.map { $0.take() } == [[], ["unlock 3"]])
    stand.leave(agents[1])
    #expect([asking.end, third.end] == [.nobody, .nobody])
    #expect(stand.askUnlock().joined == "nobody")
    _ = waiting
  }

  @Test("that end before they were told of an inquiry end it as well") func endUntold() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend()
    stand.lock()
    let call = stand.askUnlock()
    stand.leave(agent)
    #expect(call.end == .nobody)
  }

  @Test("that do not read are ended, and those who wait with them") func deaf() throws {
    let stand = try AttendanceStand()
    let (deaf, other) = (try stand.attend(), try stand.attend(AttendanceStand.process(11)))
    stand.lock()
    let call = stand.askUnlock()
    deaf.reads = false
    stand.turn()
    #expect(stand.attendance.agents.count == 1 && call.end == nil && other.take().last == "unlock 1")
    other.reads = false
    _ = stand.askUnlock()
    stand.rooms.hands.pass(seconds: 1)
    #expect(stand.attendance.agents.isEmpty && call.end == .nobody)
  }

  @Test("are bounded, as are their words") func bounds() throws {
    let stand = try AttendanceStand(system: true)
    for faces in [
      [], ["a b"], ["A"], [""], ["\u{202E}"], [String(repeating: "a", count: 33)], Array(repeating: "a", count: 9),
    ] {
      #expect(throws: Refusal.invalid("faces")) {
        _ = try stand.attend(AttendanceStand.process(10, uid: 0), faces: faces)
      }
    }
    for pid in 1...8 { _ = try stand.attend(AttendanceStand.process(Int32(pid), uid: 0)) }
    let full = Refusal.busy("as many agents attend as the vault allows")
    #expect(throws: full) { _ = try stand.attend(AttendanceStand.process(9, uid: 0)) }
    for index in 0..<32 {
      var caller = AttendanceStand.process(Int32(20 + index), uid: UInt32(1000 + index / 8))
      caller.groups.append(RoomStand.administrators)
      if index < 24 { _ = try stand.attend(caller) } else { #expect(throws: full) { _ = try stand.attend(caller) } }
    }
    #expect(stand.attendance.agents.count == 32)
  }

  @Test("of a process that attends most often give way to another's, and of no other process") func several() throws {
    let stand = try AttendanceStand(system: true)
    let first = try stand.attend(AttendanceStand.process(1, uid: 0))
    let many = try (0..<7).map { _ in try stand.attend(AttendanceStand.process(2, uid: 0)) }
    for pid in 3...8 { _ = try stand.attend(AttendanceStand.process(Int32(pid), uid: 0)) }
    #expect(many.filter(\.isRefused).count == 6 && !first.isRefused)
    #expect(throws: Refusal.self) { _ = try stand.attend(AttendanceStand.process(9, uid: 0)) }
    #expect(stand.attendance.agents.count == 8 && !first.isRefused)
  }

  @Test("at the limit of one user push out an agent of that user alone") func ofOneUser() throws {
    let stand = try AttendanceStand(system: true)
    var other = AttendanceStand.process(20, uid: 1000)
    other.groups.append(RoomStand.administrators)
    let others = try (0..<3).map { _ in try stand.attend(other) }
    let own = try (0..<2).map { _ in try stand.attend(AttendanceStand.process(1, uid: 0)) }
    for pid in 2...7 { _ = try stand.attend(AttendanceStand.process(Int32(pid), uid: 0)) }
    _ = try stand.attend(AttendanceStand.process(8, uid: 0))
    #expect(own.count(where: \.isRefused) == 1 && !others.contains(where: \.isRefused))
    #expect(stand.attendance.agents.count == 8 + others.count)
  }

  @Test("are none of others than those whose answer counts, and the attempt is on the record") func standing() throws {
    let stand = try AttendanceStand()
    #expect(throws: Refusal.self) { _ = try stand.attend(AttendanceStand.process(10, uid: 2000)) }
    // A caller without a start time cannot be told from a later process with the same pid.
    #expect(throws: Refusal.self) { _ = try stand.attend(RoomStand.caller(session: 10)) }
    let agent = try stand.attend(AttendanceStand.process(10, executable: "/opt/app"))
    stand.rooms.access.add(.password, by: stand.rooms.administrator, with: [])
    _ = try stand.rooms.access.give(
      try Subject(parsing: "user:1000,exe:/opt/app"), try ItemPattern("x"), Rights(.get), until: nil,
      for: stand.rooms.administrator)
    #expect(agent.isRefused && stand.attendance.agents.isEmpty)
    #expect(throws: Refusal.self) { _ = try stand.attend(AttendanceStand.process(10, executable: "/opt/app")) }
  }
}
