import Testing

@testable import VaultService

@Suite("Calls that wait") struct WaitingCallsTests {
  /// A stand for calls that take two milliseconds each when they continue.
  private final class Stand {
    let hands = RoomStand.Hands()
    var isUnlocked = true
    private(set) var done: [String] = []
    let waiting = Waiting()
    private let line = Line(of: 1)
    let turns: Turns

    init() {
      turns = Turns(now: hands.clock.monotonic, ask: {})
      waiting.turns = turns
    }

    /// Makes a call that waits for at most this many milliseconds, and then does `next`.
    @discardableResult
    func wait(
      _ name: String, _ line: Line? = nil, milliseconds: Int64? = nil, next: @escaping () -> Void = {}
    ) -> Attempt {
      Attempt(
        for: .unlock, in: waiting, line ?? self.line, within: milliseconds.map { $0 * 1_000_000 }, hands.timer
      ) { [unowned self] in
        done.append("\(name) is late")
      } goOn: { [unowned self] in
        done.append(name)
        hands.pass(2_000_000)
        next()
      }
    }

    func unlock() {
      isUnlocked = true
      waiting.go(.unlock) { [unowned self] in isUnlocked }
    }

    var isEmpty: Bool { waiting.isEmpty(.unlock) }
  }

  @Test("they go on in the order of their coming, a turn of the loop at a time") func order() {
    let stand = Stand()
    for index in 0..<8 { stand.wait("\(index)") }
    stand.unlock()
    #expect(stand.done.isEmpty)
    stand.turns.turn()
    #expect(stand.done == ["0", "1", "2"])
    stand.unlock()
    stand.turns.turn()
    stand.turns.turn()
    #expect(stand.done == (0..<8).map(String.init) && stand.isEmpty)
  }

  @Test("one that has to wait for the same again waits for the next time") func once() {
    let stand = Stand()
    stand.wait("a") { stand.wait("a again") }
    stand.wait("b")
    stand.unlock()
    for _ in 0..<100 { stand.turns.turn() }
    #expect(stand.done == ["a", "b"] && !stand.isEmpty)
    stand.unlock()
    for _ in 0..<100 { stand.turns.turn() }
    #expect(stand.done == ["a", "b", "a again"] && stand.isEmpty)
  }

  @Test("those of one user do not wait for all that another's wait for") func users() {
    let stand = Stand()
    let other = Line(of: 2)
    for index in 0..<100 { stand.wait("\(index)") }
    for name in ["a", "b"] { stand.wait(name, other) }
    stand.unlock()
    while stand.done.count < 4 { stand.turns.turn() }
    #expect(Set(stand.done.prefix(4)) == ["0", "1", "a", "b"])
    for _ in 0..<100 {
      // The loop does this between two turns.
      stand.turns.looks()
      stand.turns.turn()
    }
    #expect(stand.done.count == 102 && stand.isEmpty)
  }

  @Test("those who have not gone on when a lock comes wait on, in their order") func lockBetween() {
    let stand = Stand()
    for index in 0..<5 { stand.wait("\(index)") }
    stand.unlock()
    stand.turns.turn()
    stand.isUnlocked = false
    stand.turns.turn()
    stand.turns.turn()
    #expect(stand.done == ["0", "1", "2"] && !stand.isEmpty)
    stand.wait("late")
    stand.unlock()
    stand.turns.turn()
    #expect(stand.done == ["0", "1", "2", "3", "4", "late"])
  }

  @Test("who has left or whose time is up does not go on") func left() {
    let stand = Stand()
    let calls = (0..<4).map { stand.wait("\($0)") }
    calls[0].callOff()
    stand.unlock()
    calls[2].callOff()
    stand.turns.turn()
    #expect(stand.done == ["1", "3"])
    calls[1].callOff()
    #expect(stand.isEmpty)
  }

  @Test("one whose time is up is told so once, and one that went on is not") func late() {
    let stand = Stand()
    stand.wait("short", milliseconds: 5)
    stand.wait("long", milliseconds: 1000)
    stand.hands.pass(5_000_000)
    #expect(stand.done == ["short is late"])
    stand.unlock()
    stand.turns.turn()
    stand.hands.pass(seconds: 2)
    #expect(stand.done == ["short is late", "long"] && stand.isEmpty)
  }
}
