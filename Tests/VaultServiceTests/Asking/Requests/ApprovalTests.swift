import Testing
import VaultModel

@testable import VaultService

@Suite("Approvals") struct ApprovalTests {
  private static let denied = RequestStand.denied

  /// Returns the answer to a repeated request after a denial, which nobody is asked about for this time.
  private static func denied(minutes: Int64) -> RequestStand.Answer {
    let time = Seconds.format(minutes * 60)
    return .refused(.denied("an administrator has denied this; it may be requested again in \(time)"))
  }

  @Test("are given by administrators, and never by the subject that asked") func own() throws {
    let stand = try RequestStand()
    let number = try stand.number("a")
    var group = RequestStand.caller(990, pid: 60)
    group.groups.append(RoomStand.administrators)
    #expect(throws: Refusal.denied("the caller that asked may not approve it")) { try stand.approve(number, by: group) }
    #expect(throws: Refusal.self) { try stand.approve(number, by: RequestStand.caller(991)) }
    let none = QuestionNumber(number.value + 1)
    #expect(throws: Refusal.noSuchRequest(none)) { try stand.approve(none) }
    var other = RequestStand.caller(991, pid: 61)
    other.groups.append(RoomStand.administrators)
    try stand.approve(number, by: other)
    #expect(try stand.ask("a") == .served)
  }

  @Test("count once and for five minutes, unless they say otherwise") func once() throws {
    let stand = try RequestStand()
    // Draw the numbers in order: two random ones could be equal.
    var drawn = 100_000
    stand.rooms.vault.questions.draw = {
      drawn += 1
      return drawn
    }
    let number = try stand.number("a")
    try stand.approve(number)
    #expect(try stand.ask("b") != .served)
    #expect(try stand.ask("a", RequestStand.caller(991)) != .served)
    #expect(try stand.ask("a", for: nil) == .served)
    #expect(try stand.ask("a", for: nil) == Self.denied)
    let next = try stand.number("a")
    #expect(next != number)
    try stand.approve(next)
    stand.rooms.hands.pass(seconds: 300)
    #expect(try stand.ask("a", for: nil) == Self.denied)
    try stand.approve(try stand.number("a"), uses: 3)
    for _ in 0..<3 { #expect(try stand.ask("a") == .served) }
    #expect(try stand.ask("a") != .served)
  }

  @Test("end by a clock that nobody sets") func time() throws {
    let stand = try RequestStand()
    try stand.approve(try stand.number("a"), seconds: 900)
    stand.rooms.hands.pass(899_999_999_999)
    for _ in 0..<5 { #expect(try stand.ask("a") == .served) }
    #expect(try stand.access.toldRequests(for: stand.rooms.administrator).approvals.count == 1)
    // The approval ends even if the wall clock is set back.
    stand.rooms.hands.wall.value -= 5000
    stand.rooms.hands.pass(1)
    #expect(try stand.ask("a") != .served)
    #expect(try stand.access.toldRequests(for: stand.rooms.administrator).approvals.isEmpty)
    for (uses, seconds) in [(0, 1), (1, 0), (-1, 1), (1, -1), (1, .max), (.max, 1)] as [(Int, Int64)] {
      #expect(throws: Refusal.self) { try ApprovalTerms(uses: uses, seconds: seconds) }
    }
    #expect(throws: Refusal.self) { try ApprovalTerms(uses: 1, isForGood: true) }
    #expect(throws: Refusal.self) { try ApprovalTerms(isOfSession: true, isForGood: true) }
    #expect(try ApprovalTerms(uses: 2).seconds == 86_400 && ApprovalTerms().seconds == 300)
  }

  @Test("of a session are for the one process, until any lock") func session() throws {
    let stand = try RequestStand()
    let number = try stand.number("a")
    #expect(throws: Refusal.interrupted("another process of that subject has asked meanwhile")) {
      try stand.approve(number, session: true, process: 51)
    }
    try stand.approve(number, session: true, process: 50)
    stand.rooms.hands.pass(seconds: 400)
    for _ in 0..<3 { #expect(try stand.ask("a", for: nil) == .served) }
    for other in [
      RequestStand.caller(pid: 51), RequestStand.caller(started: 6), RoomStand.caller(990, session: 50),
    ] {
      #expect(try stand.ask("a", other, for: nil) == Self.denied)
    }
    stand.rooms.vault.lock(because: .idle)
    try stand.rooms.unlock()
    #expect(try stand.ask("a", for: nil) == Self.denied)
    // A lock of a locked vault also ends the approval.
    let next = try stand.number("a")
    stand.rooms.vault.lock(because: .asked)
    try stand.approve(next, session: true)
    stand.rooms.vault.lock(because: .asked)
    #expect(stand.access.requests.approvals.isEmpty)
    try stand.rooms.unlock()
    // A caller that cannot be told from a later process has no session.
    let unknown = try stand.number("b", RoomStand.caller(990, session: 50))
    #expect(throws: Refusal.self) { try stand.approve(unknown, session: true) }
  }

  @Test("of a session that are answered after another process has asked are for the one that was shown, or for none")
  func otherAsker() throws {
    let stand = try RequestStand()
    let number = try stand.number("a", RequestStand.caller(pid: 50))
    #expect(try stand.number("a", RequestStand.caller(pid: 51)) == number)
    #expect(throws: Refusal.interrupted("another process of that subject has asked meanwhile")) {
      try stand.approve(number, session: true, process: 50)
    }
    for pid in [50, 51] as [Int32] {
      #expect(try stand.ask("a", RequestStand.caller(pid: pid), for: nil) == Self.denied)
    }
    try stand.approve(number, session: true, process: 51)
    #expect(try stand.ask("a", RequestStand.caller(pid: 51), for: nil) == .served)
    #expect(try stand.ask("a", RequestStand.caller(pid: 50), for: nil) == Self.denied)
  }

  @Test("of a session are not for a later process with the pid that was shown", arguments: [false, true])
  func laterProcess(isAnotherBetween: Bool) throws {
    let stand = try RequestStand()
    let (shown, later) = (RequestStand.caller(pid: 60, started: 5), RequestStand.caller(pid: 60, started: 6))
    let number = try stand.number("a", shown)
    if isAnotherBetween { _ = try stand.number("a", RequestStand.caller(pid: 61)) }
    _ = try stand.number("a", later)
    // Without its start time, it cannot be told which of the two was shown.
    for started in [5, nil] as [UInt64?] {
      #expect(throws: Refusal.interrupted("another process of that subject has asked meanwhile")) {
        try stand.approve(number, session: true, process: 60, started: started)
      }
      for caller in [shown, later] { #expect(try stand.ask("a", caller, for: nil) == Self.denied) }
    }
    try stand.approve(number, session: true, process: 60, started: 6)
    #expect(try stand.ask("a", later, for: nil) == .served)
    #expect(try stand.ask("a", shown, for: nil) == Self.denied)
  }

  @Test("of a session that tell no start time are refused once too many processes have asked to tell them apart")
  func manyProcesses() throws {
    let stand = try RequestStand()
    let number = try stand.number("a", RequestStand.caller(pid: 1))
    for pid in 2...66 as ClosedRange<Int32> { _ = try stand.number("a", RequestStand.caller(pid: pid)) }
    #expect(throws: Refusal.self) { try stand.approve(number, session: true, process: 66) }
    try stand.approve(number, session: true, process: 66, started: 5)
    #expect(try stand.ask("a", RequestStand.caller(pid: 66), for: nil) == .served)
  }

  @Test("of a session for one process leave that of another process of the same subject") func twoSessions() throws {
    let stand = try RequestStand()
    let callers = [RequestStand.caller(pid: 50), RequestStand.caller(pid: 51)]
    for caller in callers { try stand.approve(try stand.number("a", caller), session: true) }
    for caller in callers { #expect(try stand.ask("a", caller, for: nil) == .served) }
    #expect(stand.access.requests.approvals.count == 2)
  }

  @Test("for ever are a grant for that very name, beside what the subject has for it") func always() throws {
    let stand = try RequestStand(items: ["a", "**", "b?"])
    let subject = try Subject(parsing: "user:990")
    let administrator = stand.rooms.administrator
    _ = try stand.access.give(subject, try ItemPattern("a"), Rights(.find), until: nil, for: administrator)
    let number = try stand.number("a")
    #expect(throws: Refusal.self) { try stand.approve(number, seconds: 60, always: true) }
    try stand.approve(number, always: true)
    #expect(try stand.ask("a", RequestStand.caller(pid: 70)) == .served)
    #expect(try stand.rooms.items.item(try ItemName("a"), for: RequestStand.caller()).name.text == "a")
    #expect(stand.pending.isEmpty && stand.access.requests.approvals.isEmpty)
    // A name with wildcards would become a pattern, and grant items that nobody has asked for.
    for name in ["**", "b?"] {
      let number = try stand.number(name)
      #expect(throws: Refusal.self, "\(name)") { try stand.approve(number, always: true) }
    }
    #expect(stand.access.book.all.count == 1)
    try stand.approve(try stand.number("**"), seconds: 60)
    #expect(try stand.ask("**") == .served && stand.ask("b?") != .served)
    try stand.rooms.set("c")
    try stand.approve(try stand.number("c"), seconds: 60, always: true)
    #expect(stand.access.book.all.contains { $0.grant.until == stand.rooms.vault.newestTime + 60 })
  }

  @Test("are of the right that was asked for, and take no requirement away") func rights() throws {
    let stand = try RequestStand()
    try stand.rooms.set("code", kind: .totp, "MY")
    let caller = RequestStand.caller()
    func code() throws -> Bool {
      var isMade = false
      _ = try stand.rooms.items.code(try ItemName("code"), for: caller, Said(purpose: "p")) { _ in isMade = true }
      return isMade
    }
    #expect(try !code())
    #expect(stand.pending.map(\.right) == [.use])
    try stand.approve(stand.pending[0].number, uses: 2)
    #expect(try stand.ask("code", for: nil) == Self.denied)
    #expect(try code() && code() && !code())
    // Two approvals, one for each right: neither uses up the other.
    try stand.approve(stand.pending[0].number, uses: 2)
    try stand.approve(try stand.number("code"), uses: 2)
    #expect(try stand.ask("code", for: nil) == .served && code())
    #expect(try stand.ask("code", for: nil) == .served && code())
    // A caller that may read the item may also use it.
    try stand.approve(try stand.number("code"))
    #expect(try code() && !code())
    try stand.rooms.set("guarded", require: .password)
    try stand.approve(try stand.number("guarded"))
    #expect(try stand.ask("guarded") == .wait(.presence(try ItemName("guarded"), .password)))
    #expect(stand.access.requests.approvals.count == 1)
    // The approval covers the value only.
    try stand.approve(try stand.number("a"), uses: 5)
    let name = try ItemName("a")
    #expect(throws: Refusal.self) { try stand.rooms.items.item(name, for: caller) }
    #expect(throws: Refusal.self) { try stand.rooms.set("a", by: caller) }
    #expect(try stand.access.can(nil, .get, name, for: caller).isAllowed)
    #expect(try !stand.access.can(nil, .find, name, for: caller).isAllowed)
  }

  /// All that gives a subject rights on an item, in short.
  private static func held(_ stand: RequestStand, _ subject: String, _ name: String = "a") throws -> [String] {
    let subject = try Subject(parsing: subject)
    let held = try stand.access.held(by: subject, on: .named(try ItemName(name)), for: stand.rooms.administrator)
    return held.sources.map { source in
      let rights = source.rights.names.joined(separator: ",") + (source.isForSome ? " for some" : "")
      switch source.kind {
      case .administrator: return "administrator"
      case .grant(let grant): return "\(grant.subject) \(grant.pattern) \(rights)"
      case .approval(let approval, let until):
        return "approval \(approval.right) \(rights)\(until == nil ? "" : ", ends")"
      }
    }
  }

  @Test("count where it is told what somebody may do, until they end or are taken back") func told() throws {
    let stand = try RequestStand()
    let (administrator, caller) = (stand.rooms.administrator, RequestStand.caller())
    let (subject, name) = (try Subject(parsing: "user:990"), try ItemName("a"))
    func can(_ right: Right, _ subject: Subject? = subject, _ caller: Caller? = nil) throws -> Bool {
      try stand.access.can(subject, right, name, for: caller ?? administrator).isAllowed
    }
    #expect(try !can(.get) && Self.held(stand, "user:990").isEmpty)
    let number = try stand.number("a")
    try stand.approve(number, seconds: 900)
    #expect(try can(.get) && can(.use) && !can(.set) && can(.get, nil, caller))
    #expect(try Self.held(stand, "user:990") == ["approval get get, ends"])
    #expect(try Self.held(stand, "user:990", "b").isEmpty && Self.held(stand, "user:991").isEmpty)
    #expect(try Self.held(stand, "user:0") == ["administrator"])
    #expect(
      try stand.access.held(by: subject, on: .matching(try ItemPattern("?")), for: administrator).rights == [
        .init(.get)
      ])
    // The approval of one request says nothing about the denial of another.
    let other = try stand.number("b")
    try stand.deny(other)
    #expect(try can(.get))
    try stand.deny(number)
    #expect(try !can(.get) && !can(.get, nil, caller) && Self.held(stand, "user:990").isEmpty)
  }

  @Test("and grants are told for each pattern that they meet, and not only for the same one")
  func overlapping() throws {
    let stand = try RequestStand()
    let administrator = stand.rooms.administrator
    let subject = try Subject(parsing: "user:990")
    func rights(on pattern: String) throws -> Rights {
      try stand.access.held(by: subject, on: .matching(try ItemPattern(pattern)), for: administrator).rights
    }
    _ = try stand.access.give(
      subject, try ItemPattern("web/*"), try Rights(parsing: "get"), until: nil, for: administrator)
    for pattern in ["web/*", "web/**", "**", "web/pin", "*/pin"] {
      #expect(try rights(on: pattern).contains(.get), "\(pattern)")
    }
    for pattern in ["web", "web/*/pin", "web2/*"] { #expect(try rights(on: pattern).isEmpty, "\(pattern)") }
  }

  @Test("of one process, and those of a narrower subject, are told as what only some have") func some() throws {
    let stand = try RequestStand()
    let caller = RequestStand.caller()
    let (subject, name) = (try Subject(parsing: "user:990"), try ItemName("a"))
    let service = RequestStand.caller(unit: "gw.service")
    try stand.approve(try stand.number("a", caller), session: true)
    try stand.approve(try stand.number("a", service), seconds: 900)
    let answer = try stand.access.can(subject, .get, name, for: stand.rooms.administrator)
    #expect(!answer.isAllowed && answer.sources.count == 2)
    #expect(try Self.held(stand, "user:990") == ["approval get get for some", "approval get get for some, ends"])
    #expect(try Self.held(stand, "user:990,unit:gw.service") == ["approval get get, ends"])
    #expect(try Self.held(stand, "unit:gw.service") == ["approval get get for some, ends"])
    // The process itself may, and no other.
    #expect(try stand.access.can(nil, .get, name, for: caller).isAllowed)
    let others = try stand.access.can(nil, .get, name, for: RequestStand.caller(pid: 51))
    #expect(!others.isAllowed && others.sources.count == 1)
    stand.rooms.vault.lock(because: .asked)
    #expect(try Self.held(stand, "user:990") == ["approval get get for some, ends"])
  }

  @Test("of a program that is held to its grants are told of the subject that holds it") func confined() throws {
    let rooms = try RoomStand.unlocked()
    let administrator = rooms.administrator
    try rooms.set("a")
    rooms.access.add(.presence, by: administrator, with: [])
    let (owner, name) = (RoomStand.owner, try ItemName("a"))
    let one = try Subject(parsing: "user:\(owner),exe:/opt/one")
    _ = try rooms.access.give(one, try ItemPattern("x"), try Rights(parsing: "get"), until: nil, for: administrator)
    let caller = RoomStand.caller(executable: "/opt/one")
    func can(_ subject: Subject?, _ caller: Caller) throws -> Bool {
      try rooms.access.can(subject, .get, name, for: caller).isAllowed
    }
    #expect(try !can(one, administrator) && !can(nil, caller))
    _ = try rooms.items.get(name, for: caller, Said(purpose: "to work")) { _, _, _ in }
    let number = try #require(rooms.access.requests.pending.first).number
    _ = try rooms.access.approve(number, try ApprovalTerms(seconds: 900), for: administrator)
    #expect(try can(one, administrator) && can(nil, caller) && can(one, caller))
    let held = try rooms.access.held(by: one, on: .named(name), for: administrator)
    #expect(held.sources.count == 1 && held.rights == Rights(.get) && held.rightsOfSome.isEmpty)
    // Another program of the user is not held to grants, and neither is a unit that no grant has named.
    for other in ["user:\(owner)", "unit:other.service"] {
      #expect(try can(try Subject(parsing: other), administrator), "\(other)")
    }
    _ = try rooms.access.deny(number, isForGood: false, for: administrator)
    #expect(try !can(one, administrator) && !can(nil, caller))
  }

  @Test("are told beside the grants of a subject, its groups and narrower subjects") func besideGrants() throws {
    let stand = try RequestStand()
    try stand.approve(try stand.number("a"), seconds: 900)
    for (subject, pattern, rights) in [
      ("user:990", "**", "find"), ("user:990,unit:gw.service", "a", "set"), ("user:991", "a", "admin"),
    ] {
      _ = try stand.access.give(
        try Subject(parsing: subject), try ItemPattern(pattern), try Rights(parsing: rights), until: nil,
        for: stand.rooms.administrator)
    }
    #expect(
      try Self.held(stand, "user:990") == [
        "approval get get, ends", "user:990 ** find", "user:990,unit:gw.service a set for some",
      ])
    #expect(try Self.held(stand, "user:991") == ["user:991 a admin"])
    let all = try stand.access.held(by: try Subject(parsing: "user:991"), on: .all, for: stand.rooms.administrator)
    #expect(all.rights == .all && all.rightsOfSome.isEmpty)
  }

  @Test("are for the item that had the name, and for no other that gets it, until its policies change") func boundItem()
    throws
  {
    let stand = try RequestStand(items: ["a", "b", "c"])
    let items = stand.rooms.items
    let (administrator, caller) = (stand.rooms.administrator, RequestStand.caller())
    func move(_ name: String, to new: String) throws {
      try items.move(try ItemName(name), to: try ItemName(new), for: administrator)
    }
    for isSession in [false, true] {
      try stand.approve(try stand.number("a"), seconds: 900, session: isSession)
      #expect(try stand.ask("a", for: nil) == .served)
      // A new value does not end the approval.
      let change = ItemChange(name: try ItemName("a"), update: true)
      _ = try items.set(change, .bytes(count: 1), for: administrator) { bytes in
        bytes.storeBytes(of: 0x61, as: UInt8.self)
        return true
      }
      #expect(try stand.ask("a", for: nil) == .served)
      try move("a", to: "old")
      #expect(try stand.ask("old", for: nil) == Self.denied && stand.ask("a", for: nil) == Self.denied)
      try move("b", to: "a")
      #expect(try stand.ask("a", for: nil) == Self.denied)
      #expect(try stand.access.toldRequests(for: RoomStand.caller()).approvals.isEmpty)
      try move("a", to: "b")
      // The approval has ended, so the item is not served under its first name, either.
      try move("old", to: "a")
      #expect(try stand.ask("a", for: nil) == Self.denied)
      // The approval does not cover a new item of the same name, nor the item once it was deleted.
      try stand.approve(try stand.number("a"), seconds: 900, session: isSession)
      _ = try items.delete([try ItemName("a")], isForGood: false, for: administrator)
      try items.undelete(try ItemName("a"), for: administrator)
      #expect(try stand.ask("a", for: nil) == Self.denied)
      try stand.approve(try stand.number("a"), seconds: 900, session: isSession)
      _ = try items.delete([try ItemName("a")], isForGood: true, for: administrator)
      try stand.rooms.set("a")
      #expect(try stand.ask("a", for: nil) == Self.denied)
    }
    try stand.approve(try stand.number("c"), seconds: 900)
    #expect(try stand.ask("c", for: nil) == .served)
    let change = ItemChange(name: try ItemName("c"), accessible: .always, update: true)
    _ = try items.set(change, .same, for: administrator) { _ in true }
    #expect(try stand.access.toldRequests(for: administrator).approvals.isEmpty)
    #expect(try Self.held(stand, "user:990", "c").isEmpty)
    #expect(try stand.ask("c", for: nil) == Self.denied)
    // An approval for ever, of a name, is a grant.
    try stand.approve(try stand.number("b"), always: true)
    try move("b", to: "d")
    try move("a", to: "b")
    #expect(try stand.ask("b", caller, for: nil) == .served)
  }

  @Test("of a key are for the item that had the name") func boundUse() throws {
    let stand = try RequestStand(items: [])
    let items = stand.rooms.items
    for name in ["code", "other"] { try stand.rooms.set(name, kind: .totp, "MY") }
    func code() throws -> Bool {
      var isMade = false
      _ = try? items.code(try ItemName("code"), for: RequestStand.caller(), Said()) { _ in isMade = true }
      return isMade
    }
    _ = try items.code(try ItemName("code"), for: RequestStand.caller(), Said(purpose: "p")) { _ in }
    try stand.approve(try #require(stand.pending.first).number, seconds: 900)
    #expect(try code())
    try items.move(try ItemName("code"), to: try ItemName("old"), for: stand.rooms.administrator)
    try items.move(try ItemName("other"), to: try ItemName("code"), for: stand.rooms.administrator)
    #expect(try !code())
  }

  @Test("are none for a name without an item, nor for one that is made later") func nothing() throws {
    let stand = try RequestStand()
    let number = try stand.number("none")
    #expect(throws: Refusal.noSuchItem("none", isVerified: true)) { try stand.approve(number, seconds: 900) }
    try stand.rooms.set("none")
    #expect(try stand.ask("none", for: nil) == Self.denied)
  }

  @Test("are taken back at once by deny, and by revoke") func takenBack() throws {
    let stand = try RequestStand()
    let number = try stand.number("a")
    try stand.approve(number, seconds: 900)
    try stand.deny(number)
    #expect(try stand.ask("a") == Self.denied(minutes: 1))
    stand.rooms.hands.pass(seconds: 60)
    let subject = try Subject(parsing: "user:990")
    for pattern in [nil, try ItemPattern("*")] {
      try stand.approve(try stand.number("a"), seconds: 900)
      #expect(try stand.ask("a") == .served)
      let gone = try stand.access.revoke(subject, pattern, for: stand.rooms.administrator)
      #expect(gone.revoked.map(\.pattern.text) == ["a"])
      #expect(try stand.ask("a", for: nil) == Self.denied)
    }
    #expect(throws: Refusal.noSuchGrant("user:990")) {
      try stand.access.revoke(subject, nil, for: stand.rooms.administrator)
    }
  }

  @Test("that were denied are asked for again after a minute, and after longer each time") func cooling() throws {
    let stand = try RequestStand()
    for minutes in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
      try stand.deny(try stand.number("a"))
      #expect(try stand.ask("a") == Self.denied(minutes: minutes))
      #expect(try stand.ask("a", RequestStand.caller(pid: 51)) == Self.denied(minutes: minutes))
      // Without a purpose nobody would be asked anyway.
      #expect(try stand.ask("a", for: nil) == Self.denied)
      stand.rooms.hands.pass(minutes * 60_000_000_000 - 1)
      #expect(try stand.ask("a") == Self.denied(minutes: 1) && stand.pending.isEmpty)
      #expect(try stand.access.toldRequests(for: stand.rooms.administrator).denials.count == 1)
      stand.rooms.hands.pass(1)
    }
    // The denial does not affect other callers or other items.
    try stand.deny(try stand.number("a"))
    _ = try stand.number("b")
    _ = try stand.number("a", RequestStand.caller(991))
    try stand.access.forgetDenial(of: stand.access.requests.denials[0].target, for: stand.rooms.administrator)
    _ = try stand.number("a")
    // Long after the last denial, the pause begins with a minute again.
    let number = try stand.number("a")
    stand.rooms.hands.pass(seconds: 7200)
    try stand.deny(number)
    stand.rooms.hands.pass(seconds: 60)
    _ = try stand.number("a")
  }

  @Test("that were denied for ever are asked for no more, until that is forgotten") func denied() throws {
    let stand = try RequestStand()
    try stand.deny(try stand.number("a"), always: true)
    let refusal = Refusal.denied("an administrator has denied this permanently, so nobody will be asked again")
    let target = RequestTarget(try Subject(parsing: "user:990"), try ItemName("a"))
    for _ in 0..<2 {
      stand.rooms.hands.pass(seconds: 100_000)
      #expect(try stand.ask("a") == .refused(refusal))
      #expect(try stand.access.toldRequests(for: stand.rooms.administrator).denials.map(\.until) == [nil])
      try stand.rooms.restart()
      try stand.rooms.unlock()
    }
    // A grant still counts.
    _ = try stand.access.give(
      target.subject, try ItemPattern("*"), Rights(.get), until: nil, for: stand.rooms.administrator)
    #expect(try stand.ask("a") == .served)
    _ = try stand.access.revoke(target.subject, nil, for: stand.rooms.administrator)
    #expect(try stand.ask("a") == .refused(refusal))
    try stand.access.forgetDenial(of: target, for: stand.rooms.administrator)
    #expect(throws: Refusal.noSuchRequest(nil)) {
      try stand.access.forgetDenial(of: target, for: stand.rooms.administrator)
    }
    _ = try stand.number("a")
  }

  @Test("and what they were used for are on the record") func record() throws {
    let stand = try RequestStand()
    let number = try stand.number("a")
    try stand.approve(number, uses: 2)
    for _ in 0..<2 { #expect(try stand.ask("a") == .served) }
    let other = try stand.number("b")
    try stand.deny(other)
    #expect(throws: Refusal.self) { try stand.approve(other) }
    let reading = try stand.access.readAudit(AuditFilter(), for: stand.rooms.administrator)
    let (found, _) = try reading.page(until: .max) { 0 }
    // The count that follows an entry is written last, once its minute is over.
    let told = found.filter { $0.entry.repeats == nil }.map {
      "\($0.entry.action) \($0.entry.outcome) \($0.entry.item ?? "") \($0.entry.detail ?? "")"
    }
    #expect(
      told.suffix(7) == [
        "request ok a get, number \(number)", "approve ok a user:990 get, 2 uses, for 86400 s, number \(number)",
        "get ok a by approval \(number)", "request ok b get, number \(other)", "deny ok b user:990, number \(other)",
        "approve missing  once, for 300 s, number \(other)", "audit ok read ",
      ], "\(told)")
    reading.end()
  }

  @Test("are bounded") func bound() throws {
    let stand = try RequestStand()
    for uid in 0..<UInt32(Requests.mostApprovals) {
      try stand.approve(try stand.number("a", RequestStand.caller(2000 + uid)), seconds: 60)
    }
    let number = try stand.number("a")
    #expect(throws: Refusal.busy("too many approvals are in effect")) { try stand.approve(number) }
    stand.rooms.hands.pass(seconds: 60)
    try stand.approve(number)
    #expect(stand.access.requests.approvals.count == 1)
  }

  @Test("a grant is compared with the requests that it may answer, and a user's groups are looked up once, if at all")
  func settling() throws {
    let stand = try RequestStand()
    for uid: UInt32 in [990, 991, 992] {
      for name in ["a", "b"] { try stand.ask(name, RequestStand.caller(uid, pid: Int32(uid), started: UInt64(uid))) }
    }
    let lookedUp = stand.rooms.lookedUp
    lookedUp.value = []
    func grant(_ subject: String, _ pattern: String) throws {
      _ = try stand.access.give(
        try Subject(parsing: subject), try ItemPattern(pattern), try Rights(parsing: "get"), until: nil,
        for: stand.rooms.administrator)
    }
    try grant("user:990", "a")
    try grant("user:980", "*")
    #expect(lookedUp.value.isEmpty && stand.pending.count == 5)
    try grant("group:991", "*")
    #expect(lookedUp.value.sorted() == [990, 991, 992] && stand.pending.count == 3)
    #expect(stand.pending.allSatisfy { $0.target.subject.description != "user:991" })
  }
}
