import Testing
import VaultModel

@testable import VaultService

// The book of open prompts, and the places in it.
extension KeyringPromptTests {
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
}
