import Testing
import VaultModel

@testable import VaultService

@Suite("A call that waits for a person") struct AskedCallTests {
  /// A call that ends itself once every event of a list has come, and the outcome so far.
  private final class Asked {
    /// The events for which the call waits, one after the other.
    var waits: [Wait]
    private(set) var events: [Wait?] = []
    private(set) var refusals: [Refusal] = []
    var isConnected = true
    /// True while the door is not ready for the call.
    var isBlocked = false
    /// Has the call made again, once the door is ready.
    private(set) var whenReady: (() -> Void)?
    private(set) var call: AskedCall?
    private(set) var isWaiting = false
    private let last: () throws(Refusal) -> Wait?

    /// - Parameter last: makes the call once every event has come; without it, the call is answered then.
    init(
      _ stand: AttendanceStand, _ waits: [Wait], _ patience: Patience, _ caller: Caller = AttendanceStand.process(50),
      last: @escaping () throws(Refusal) -> Wait? = { nil }
    )
      throws
    {
      (self.waits, self.last) = (waits, last)
      let (about, asking) = (AskedCall.About(.get, "a"), stand.rooms.rooms.asking)
      call = AskedCall.begin(about, for: caller, in: asking) { () throws(Refusal) in
        try answer(nil)
      } refuse: {
        refusals.append($0)
      } kept: {
        let terms = AskedCall.Terms(
          caller, patience, about: about, saying: { Said(purpose: "to work") },
          isStillAsking: { [unowned self] in isConnected },
          isReady: { [unowned self] then in
            if isBlocked { whenReady = then }
            return !isBlocked
          })
        return AskedCall(terms, in: asking, Line(of: caller.uid)) { [unowned self] event throws(Refusal) in
          try answer(event)
        } refuse: { [unowned self] in
          refusals.append($0)
        }
      }
      isWaiting = call != nil
    }

    private func answer(_ event: Wait?) throws(Refusal) -> Wait? {
      events.append(event)
      return try waits.isEmpty ? last() : waits.removeFirst()
    }
  }

  private static func presence(_ name: String = "a") throws -> Wait { .presence(try ItemName(name), .password) }

  /// A time so many milliseconds from now.
  private static func soon(_ stand: AttendanceStand, _ milliseconds: Int = 1000, asks: Bool) -> Patience {
    Patience(milliseconds: milliseconds, asks: asks, stand.vault.clock)
  }

  @Test("is refused at once if it does not wait, by the event that it would have to wait for") func impatient() throws {
    let stand = try AttendanceStand()
    _ = try stand.attend()
    stand.lock()
    for (wait, refusal) in [
      (.unlock, stand.vault.locked), (.approval(7), .unapproved(7)),
      (try Self.presence(), .presenceRequired("a", .password)),
      (.confirmation("k"), .denied("nobody has allowed this use of the key")),
    ] as [(Wait, Refusal)] {
      let asked = try Asked(stand, [wait], .none)
      #expect(asked.refusals == [refusal] && !asked.isWaiting)
    }
  }

  @Test("waits for a day at most, whatever time its client names", arguments: [false, true]) func longest(asks: Bool)
    throws
  {
    let stand = try AttendanceStand()
    let day = stand.vault.clock.monotonic() + 86_400 * 1_000_000_000
    for milliseconds in [86_400_000, 86_400_001, Int.max] {
      let end: Int64? =
        switch Self.soon(stand, milliseconds, asks: asks) {
        case .whileAsked(let end): asks ? end : nil
        case .anyway(let end): asks ? nil : end
        case .none, .untilServed: nil
        }
      #expect(end == day, "\(milliseconds)")
    }
  }

  @Test("waits for the boot key without any patience: no person is needed for it") func bootKey() throws {
    let stand = try AttendanceStand()
    let asked = try Asked(stand, [.bootKey], .none)
    #expect(asked.isWaiting && asked.call?.wait == .bootKey)
    stand.vault.waiting.go(.bootKey) { true }
    stand.rooms.run()
    #expect(asked.events == [nil, .bootKey] && asked.refusals.isEmpty && asked.call?.wait == nil)
  }

  @Test("is made again with each event that came, and waits for the next one") func events() throws {
    let stand = try AttendanceStand()
    let agent = try stand.attend()
    let asked = try Asked(stand, [.confirmation("k"), .signature(3)], Self.soon(stand, asks: true))
    stand.turn()
    #expect(agent.take() == ["attending", "confirmation 1"])
    try stand.attendance.confirm(try #require(agent.numbers.last), for: AttendanceStand.process(10))
    stand.rooms.run()
    #expect(asked.events == [nil, .confirmation("k")] && asked.call?.wait == .signature(3))
    // A signature takes its time, whatever the patience for people.
    stand.rooms.hands.pass(seconds: 10)
    stand.vault.waiting.go(.signature(3)) { true }
    stand.rooms.run()
    #expect(asked.events == [nil, .confirmation("k"), .signature(3)] && asked.refusals.isEmpty)
  }

  @Test("is made again only when its door is ready, unless it has ended by then", arguments: [false, true])
  func ready(ends: Bool) throws {
    let stand = try AttendanceStand()
    let asked = try Asked(stand, [.signature(3)], Self.soon(stand, asks: true))
    asked.isBlocked = true
    stand.vault.waiting.go(.signature(3)) { true }
    stand.rooms.run()
    #expect(asked.events == [nil])
    let whenReady = try #require(asked.whenReady)
    if ends { asked.call?.callOff() }
    asked.isBlocked = false
    whenReady()
    stand.rooms.run()
    #expect(asked.events == (ends ? [nil] : [nil, .signature(3)]) && asked.refusals.isEmpty)
  }

  @Test("without an agent: is refused if it waits for one, and waits on if anybody may unlock the vault") func nobody()
    throws
  {
    let stand = try AttendanceStand()
    stand.lock()
    #expect(try Asked(stand, [.unlock], Self.soon(stand, asks: true)).refusals == [stand.vault.locked])
    let asked = try Asked(stand, [.unlock], Self.soon(stand, asks: false))
    #expect(asked.isWaiting)
    // Nobody shows presence unasked.
    #expect(
      try Asked(stand, [Self.presence()], Self.soon(stand, asks: false)).refusals
        == [.presenceRequired("a", .password)])
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(asked.events == [nil, .unlock] && asked.refusals.isEmpty)
  }

  @Test("is over when its time is, all its waits together") func late() throws {
    let stand = try AttendanceStand()
    _ = try stand.attend()
    try stand.rooms.set("a", require: .password)
    stand.lock()
    let unlock = try Asked(stand, [.unlock], Self.soon(stand, asks: true))
    let approval = try Asked(stand, [.approval(7)], Self.soon(stand, asks: false))
    let forever = try Asked(stand, [.unlock], .anyway(until: nil))
    stand.rooms.hands.pass(seconds: 1)
    stand.rooms.run()
    #expect(unlock.refusals == [.timedOut] && approval.refusals == [.unanswered(7)])
    #expect(forever.refusals.isEmpty && forever.isWaiting)
    let twice = try Asked(stand, [.unlock, try Self.presence()], Self.soon(stand, asks: true))
    stand.rooms.hands.pass(500_000_000)
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(twice.call?.wait == .presence(try ItemName("a"), .password))
    stand.rooms.hands.pass(500_000_000)
    stand.rooms.run()
    #expect(twice.refusals == [.unshown])
  }

  @Test("is told of a dismissal, and of the last agent that leaves") func dismissed() throws {
    let stand = try AttendanceStand()
    stand.lock()
    let agent = try stand.attend()
    let asked = try Asked(stand, [.unlock], Self.soon(stand, asks: true))
    stand.turn()
    try stand.attendance.dismiss(try #require(agent.numbers.last), isUnable: false, for: AttendanceStand.process(10))
    stand.rooms.run()
    #expect(asked.refusals == [.cancelled])
    #expect(try Asked(stand, [.unlock], Self.soon(stand, asks: true)).refusals == [.cancelled])
    stand.rooms.hands.pass(seconds: 60)
    let left = try Asked(stand, [.unlock], Self.soon(stand, 100_000, asks: true))
    stand.leave(agent)
    stand.rooms.run()
    #expect(left.refusals == [stand.vault.locked])
  }

  @Test("asks again if another call has used up the approval that it waited for, and says so if nobody answers that")
  func usedUp() throws {
    let stand = try AttendanceStand(system: true)
    try stand.rooms.set("a")
    let caller = AttendanceStand.process(60, uid: 990)
    let name = try ItemName("a")
    func ask() throws(Refusal) -> Wait? {
      try stand.rooms.items.get(name, for: caller, Said(purpose: "to work")) { _, _, _ in }
    }
    guard case .approval(let number)? = try ask() else { throw RequestStand.RequestStandError() }
    let waits = [Wait.approval(number), .approval(7)]
    let asked = try Asked(stand, waits, Self.soon(stand, asks: false), caller)
    _ = try stand.rooms.access.approve(number, ApprovalTerms(), for: stand.rooms.administrator)
    #expect(try ask() == nil)
    stand.rooms.run()
    #expect(asked.events == [nil, .approval(number)] && asked.refusals.isEmpty)
    stand.rooms.hands.pass(seconds: 1)
    stand.rooms.run()
    #expect(asked.refusals == [.approvalLost(7)])
  }

  @Test("is told that its approval was used up, too, if nobody can be asked again") func usedUpAtLimit() throws {
    let stand = try AttendanceStand(system: true)
    let requests = RequestStand(stand.rooms)
    let caller = AttendanceStand.process(60, uid: 990)
    // These are as many requests as one subject may make at once.
    let names = (0..<Requests.mostOfOne).map { "a\($0)" }
    for name in names { try stand.rooms.set(name) }
    let numbers = try names.map { try requests.number($0, caller) }
    let name = try ItemName(names[0])
    func ask() throws(Refusal) -> Wait? {
      try stand.rooms.items.get(name, for: caller, Said(purpose: "to work")) { _, _, _ in }
    }
    let asked = try Asked(stand, [.approval(numbers[0])], Self.soon(stand, asks: false), caller, last: ask)
    try requests.approve(numbers[0])
    #expect(try ask() == nil)
    stand.rooms.run()
    #expect(asked.events == [nil, .approval(numbers[0])] && asked.refusals == [.approvalLost(nil)])
    // A denial says more.
    let denied = try Asked(stand, [.approval(numbers[1])], Self.soon(stand, asks: false), caller) {
      () throws(Refusal) in throw .denied("an administrator has denied this")
    }
    try requests.approve(numbers[1])
    #expect(try requests.ask(names[1], caller) == .served)
    stand.rooms.run()
    #expect(denied.refusals == [.denied("an administrator has denied this")])
  }

  @Test("is told that its approval was used up, too, if the last agent leaves while a person is asked again")
  func usedUpWithoutAgent() throws {
    let stand = try AttendanceStand(system: true)
    try stand.rooms.set("a")
    let agent = try stand.attend(AttendanceStand.process(10, uid: 0))
    let (caller, name) = (AttendanceStand.process(60, uid: 990), try ItemName("a"))
    func ask() throws(Refusal) -> Wait? {
      try stand.rooms.items.get(name, for: caller, Said(purpose: "to work")) { _, _, _ in }
    }
    guard case .approval(let number)? = try ask() else { throw RequestStand.RequestStandError() }
    let asked = try Asked(stand, [.approval(number)], Self.soon(stand, 9000, asks: true), caller, last: ask)
    _ = try stand.rooms.access.approve(number, ApprovalTerms(), for: stand.rooms.administrator)
    #expect(try ask() == nil)
    stand.rooms.run()
    guard case .approval(let next)? = asked.call?.wait else { throw RequestStand.RequestStandError() }
    #expect(next != number && asked.refusals.isEmpty)
    stand.leave(agent)
    stand.rooms.run()
    #expect(asked.refusals == [.approvalLost(next)])
  }

  @Test("that waits in any case for an approval has its place among the askers, and is told that a person put it off")
  func waitsForApproval() throws {
    let stand = try AttendanceStand(system: true)
    try stand.rooms.set("a")
    let administrator = AttendanceStand.process(10, uid: 0)
    let agent = try stand.attend(administrator)
    let (caller, name) = (AttendanceStand.process(60, uid: 990), try ItemName("a"))
    func ask() throws(Refusal) -> Wait? {
      try stand.rooms.items.get(name, for: caller, Said(purpose: "to work")) { _, _, _ in }
    }
    guard case .approval(let number)? = try ask() else { throw RequestStand.RequestStandError() }
    let left = try Asked(stand, [.approval(number)], Self.soon(stand, 9000, asks: false), caller)
    stand.turn()
    #expect(agent.take() == ["attending", "approval a 1"])
    left.call?.callOff()
    stand.rooms.hands.pass(seconds: 1)
    #expect(agent.take() == ["approval a 0"])
    let asked = try Asked(stand, [.approval(number)], Self.soon(stand, 9000, asks: false), caller)
    stand.rooms.hands.pass(seconds: 1)
    #expect(agent.take() == ["approval a 1"])
    try stand.attendance.dismiss(number, isUnable: false, for: administrator)
    #expect(agent.take() == ["withdrawn dismissed"] && asked.refusals.isEmpty)
    stand.rooms.hands.pass(seconds: 9)
    stand.rooms.run()
    #expect(asked.refusals == [.cancelled])
    // Agents are not told yet of a call that comes while nobody is asked.
    let late = try Asked(stand, [.approval(number)], Self.soon(stand, asks: false), caller)
    stand.rooms.hands.pass(seconds: 1)
    stand.rooms.run()
    #expect(late.refusals == [.cancelled] && agent.take() == [])
  }

  @Test("names its item to an agent that is asked to unlock a user's vault, and to none of the machine's vault")
  func namesItem() throws {
    for (isSystem, isHidden, task) in [(false, false, "get `a`"), (true, false, ""), (false, true, "")] {
      var settings = VaultSettings()
      settings.hideNames = isHidden
      let stand = try AttendanceStand(settings, system: isSystem)
      let agent = try stand.attend(AttendanceStand.process(10, uid: isSystem ? 0 : RoomStand.owner))
      stand.lock()
      let asked = try Asked(stand, [.unlock], Self.soon(stand, asks: true))
      stand.turn()
      #expect(asked.isWaiting && agent.words == ["\(task) to work"])
    }
    // The setting counts as it is when an agent is told.
    let stand = try AttendanceStand()
    stand.lock()
    let asked = try Asked(stand, [.unlock], Self.soon(stand, 9000, asks: false))
    var settings = VaultSettings()
    settings.hideNames = true
    stand.rooms.rooms.reconfigure(settings)
    let agent = try stand.attend()
    stand.turn()
    #expect(asked.isWaiting && agent.words == [" to work"])
  }

  @Test("is told of no dismissal that was of another wait") func otherDismissal() throws {
    let stand = try AttendanceStand(system: true)
    let administrator = AttendanceStand.process(10, uid: 0)
    let agent = try stand.attend(administrator)
    stand.lock()
    let asked = try Asked(stand, [.unlock, .approval(7)], Self.soon(stand, 9000, asks: false))
    stand.turn()
    let unlock = try #require(agent.numbers.first)
    try stand.attendance.dismiss(unlock, isUnable: false, for: administrator)
    try stand.rooms.unlock()
    stand.rooms.run()
    stand.rooms.hands.pass(seconds: 10)
    stand.rooms.run()
    #expect(asked.events == [nil, .unlock])
    #expect(asked.refusals == [.unanswered(7)])
  }

  @Test("that was called off, or whose client has left, is neither made again nor refused") func gone() throws {
    let stand = try AttendanceStand()
    stand.lock()
    let off = try Asked(stand, [.unlock], .anyway(until: nil))
    off.call?.callOff()
    let left = try Asked(stand, [.unlock], Self.soon(stand, asks: false))
    left.isConnected = false
    try stand.rooms.unlock()
    stand.rooms.run()
    stand.rooms.hands.pass(seconds: 2)
    stand.rooms.run()
    for asked in [off, left] { #expect(asked.events == [nil] && asked.refusals.isEmpty) }
  }
}
