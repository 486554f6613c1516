import Testing
import VaultModel

@testable import VaultService

@Suite("Requests") struct RequestTests {
  private static let denied = RequestStand.denied

  @Test("come of what a caller without a grant asks for with a purpose, and of nothing else") func whose() throws {
    let stand = try RequestStand()
    for purpose in [nil, "", "  \u{2003}"] { #expect(try stand.ask("a", for: purpose) == Self.denied) }
    #expect(try stand.ask("a", stand.rooms.administrator) == .served)
    #expect(try stand.ask("missing", stand.rooms.administrator) == .refused(.noSuchItem("missing", isVerified: true)))
    #expect(throws: Refusal.self) {
      try stand.rooms.items.item(try ItemName("a"), for: RequestStand.caller())
    }
    #expect(stand.pending.isEmpty)
    let number = try stand.number("a", RequestStand.caller(unit: "gw.service"))
    let request = try #require(stand.access.requests.request(number))
    #expect(request.target.subject.description == "user:990,unit:gw.service" && request.target.name.text == "a")
    #expect(request.right == .get && request.words == "to work" && request.asker.pid == 50)
    // The unit of a user's session is no service.
    _ = try stand.number("a", RequestStand.caller(unit: "user@990.service"))
    #expect(stand.pending.last?.target.subject.description == "user:990")
  }

  @Test("tell who asks nothing of what is there") func alike() throws {
    let stand = try RequestStand()
    let answers = try ["a", "missing"].map { try stand.ask($0) }
    #expect(answers == stand.pending.map { .asked($0.number) })
    let told = try stand.access.toldRequests(for: stand.rooms.administrator)
    #expect(told.pending.map(\.isMissing) == [false, true])
    #expect(throws: Refusal.noSuchItem("missing", isVerified: true)) { try stand.approve(stand.pending[1].number) }
    #expect(stand.pending.count == 2)
    // Before anybody knows who has a grant, the call waits for the unlock as before.
    try stand.rooms.restart(withBootKey: false)
    #expect(try stand.ask("a") == .wait(.unlock) && stand.pending.isEmpty)
  }

  @Test("that are equal are one, with the words and the process of the last") func coalesced() throws {
    let stand = try RequestStand()
    let number = try stand.number("a")
    stand.rooms.hands.wall.value += 60
    let evil = "two\nlines \u{202E}" + String(repeating: "x", count: 200)
    #expect(try stand.ask("a", RequestStand.caller(pid: 51), for: evil) == .asked(number))
    #expect(try stand.ask("b") != .asked(number) && stand.pending.count == 2)
    let request = stand.pending[0]
    #expect(request.count == 2 && request.last == request.first + 60 && request.asker.pid == 51)
    #expect(request.words.hasPrefix(#"two\u{a}lines \u{202e}xxx"#) && request.words.count == 120)
    let told = try AuditTests.told(stand.rooms).filter { $0.hasPrefix("request") }
    #expect(told == ["request ok a", "request ok b"])
  }

  @Test("for two rights on one item are two, and the answer to one gives nothing of the other") func rights() throws {
    let stand = try RequestStand(items: [])
    try stand.rooms.set("code", kind: .totp, "MY")
    func code() throws -> Wait? {
      try stand.rooms.items.code(try ItemName("code"), for: RequestStand.caller(), Said(purpose: "p")) { _ in }
    }
    _ = try code()
    let number = try stand.number("code")
    #expect(stand.pending.map(\.right) == [.use, .get] && stand.pending.last?.number == number)
    try stand.approve(stand.pending[0].number)
    #expect(stand.pending.map(\.number) == [number])
    #expect(try stand.ask("code", for: nil) == Self.denied)
    #expect(try code() == nil)
  }

  @Test("have random numbers of six digits, none of which is in use") func numbers() throws {
    let stand = try RequestStand()
    let numbers = try (0..<16).map { try stand.number("i\($0)") }
    #expect(Set(numbers).count == 16 && numbers.allSatisfy { (100_000...999_999).contains($0) })
    #expect(numbers != numbers.sorted())
    var drawn = [numbers[3].value, numbers[5].value, 7]
    stand.rooms.vault.questions.draw = { drawn.removeFirst() }
    #expect(try stand.number("other", RequestStand.caller(991)) == 7)
  }

  @Test("of one subject push out its own alone, and come no faster than one in ten seconds") func flood() throws {
    let stand = try RequestStand()
    var changes: [String] = []
    let calm = try stand.number("a", RequestStand.caller(991))
    stand.rooms.vault.hooks.announce = { event in
      if case .request(let number, let change) = event { changes.append("\(change) \(number)") }
    }
    let first = try (0..<16).map { try stand.number("i\($0)") }
    for _ in 0..<100 { #expect(try stand.ask("next") == Self.denied) }
    #expect(changes == first.map { "asked \($0)" } && stand.pending.count == 17)
    changes = []
    stand.rooms.hands.pass(seconds: 10)
    let next = try stand.number("next")
    #expect(try stand.ask("another") == Self.denied)
    #expect(changes == ["dropped \(first[0])", "asked \(next)"])
    #expect(Set(stand.pending.map(\.number)) == Set([calm, next] + first.dropFirst()))
    // The other subject can ask as before.
    _ = try stand.number("b", RequestStand.caller(991))
  }

  @Test("may be as many at once as ever after a silence of whatever length, and no more") func silence() throws {
    var rates = RequestRates()
    let subject = try Subject([.unit("pump.service")])
    let interval = RequestRates.interval
    var taken: [Int] = []
    for now in [5, 5 + interval - 1, 5 + interval, 5 + 3 * interval, 5 + 1000 * interval, 4 + 1001 * interval] {
      taken.append((0..<100).filter { _ in rates.take(subject, isStranger: false, now: now) }.count)
    }
    #expect(taken == [Requests.mostOfOne, 0, 1, 2, Requests.mostOfOne, 0])
  }

  @Test("of all are bounded, at the cost of who has most") func bound() throws {
    let stand = try RequestStand()
    let few = try stand.number("a", RequestStand.caller(1))
    for uid in 2..<UInt32(30) {
      for index in 0..<16 { try stand.ask("i\(index)", RequestStand.caller(uid)) }
    }
    #expect(stand.pending.count == Requests.most)
    #expect(stand.pending.contains { $0.number == few })
    var rates = RequestRates()
    let taken = try (0..<UInt32(2 * RequestRates.most)).count { uid in
      rates.take(try Subject([.user(uid)]), isStranger: true, now: 1)
    }
    #expect(taken == RequestRates.most)
    // Strangers leave the room of all others.
    let isTaken = rates.take(try Subject([.unit("pump.service")]), isStranger: false, now: 1)
    let isTakenLater = rates.take(try Subject([.user(9999)]), isStranger: true, now: 1 + RequestRates.interval)
    #expect(isTaken && isTakenLater)
  }

  @Test("of many users without any right count as those of one, and push out no service's") func strangers() throws {
    let stand = try RequestStand()
    let service = RequestStand.caller(901, unit: "pump.service")
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("other"), try Rights(parsing: "get"), until: nil,
      for: stand.rooms.administrator)
    var kept = try (0..<16).map { try stand.number("i\($0)", service) }
    kept += try (0..<16).map { try stand.number("i\($0)", RequestStand.caller(990)) }
    for uid in 2000..<UInt32(2400) { try stand.ask("a", RequestStand.caller(uid)) }
    #expect(stand.pending.count == Requests.most)
    #expect(Set(kept).isSubset(of: stand.pending.map(\.number)))
  }

  @Test("are forgotten at a restart and, where names are hidden, at a lock") func forgotten() throws {
    var settings = VaultSettings()
    for isHidden in [false, true] {
      settings.hideNames = isHidden
      let stand = try RequestStand(settings)
      let number = try stand.number("a")
      try stand.approve(try stand.number("b"))
      stand.rooms.vault.lock(because: .asked)
      #expect(stand.pending.map(\.number) == (isHidden ? [] : [number]))
      #expect(stand.access.requests.approvals.isEmpty == isHidden)
      if isHidden {
        #expect(throws: Refusal.noSuchRequest(number)) { try stand.approve(number) }
      } else {
        try stand.approve(number)
      }
      try stand.rooms.unlock()
      _ = try stand.ask("a", RequestStand.caller(991))
      try stand.rooms.restart()
      #expect(stand.pending.isEmpty && stand.access.requests.approvals.isEmpty)
    }
  }

  @Test("end when a grant is given that answers them") func granted() throws {
    let stand = try RequestStand()
    let number = try stand.number("a")
    _ = try stand.number("b")
    var changes: [String] = []
    stand.rooms.vault.hooks.announce = { event in
      if case .request(let number, let change) = event { changes.append("\(change) \(number)") }
    }
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("a"), Rights(.get), until: nil, for: stand.rooms.administrator)
    #expect(changes == ["approved \(number)"] && stand.pending.count == 1)
  }

  @Test("in a user's vault are those of programs that are held to their grants") func confined() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    stand.access.add(.presence, by: stand.administrator, with: [])
    for subject in ["unit:x.service", "user:1000,unit:x.service"] {
      _ = try stand.access.give(
        try Subject(parsing: subject), try ItemPattern("other"), Rights(.get), until: nil, for: stand.administrator)
    }
    stand.vault.lock(because: .asked)
    try stand.unlock()
    var service = RoomStand.caller()
    service.userUnit = "x.service"
    func ask() throws -> Wait? {
      try stand.items.get(try ItemName("a"), for: service, Said(purpose: "p")) { _, _, _ in }
    }
    guard case .approval(let number) = try ask() else { throw RequestStand.RequestStandError() }
    // The subject that is most specific.
    #expect(stand.access.requests.pending[0].target.subject.description == "user:1000,unit:x.service")
    let terms = try ApprovalTerms()
    #expect(throws: Refusal.presenceRequired("", .userPresence)) {
      try stand.access.approve(number, terms, for: stand.administrator)
    }
    #expect(throws: Refusal.self) { try stand.access.approve(number, terms, for: service) }
    stand.access.add(.presence, by: stand.administrator, with: [])
    _ = try stand.access.approve(number, terms, for: stand.administrator)
    #expect(try ask() == nil)
  }
}
