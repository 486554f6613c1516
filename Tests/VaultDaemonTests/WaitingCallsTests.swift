import Testing

@testable import VaultDaemon

@Suite("Calls that wait") struct WaitingCallsTests {
  /// Calls that take two milliseconds each when they go on.
  private final class Stand {
    var now: Int64 = 0
    var isUnlocked = true
    private(set) var done: [String] = []
    let calls = WaitingCalls()
    private(set) lazy var turns = Turns(now: { [unowned self] in now }, ask: {})

    @discardableResult
    func wait(_ name: String) -> Int {
      calls.add(
        Waiter { [unowned self] in
          done.append(name)
          now += 2_000_000
        })
    }

    func unlock() {
      isUnlocked = true
      calls.go(in: turns) { [unowned self] in isUnlocked }
    }
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
    #expect(stand.done == (0..<8).map(String.init) && stand.calls.isEmpty)
  }

  @Test("those who have not gone on when a lock comes wait on, in their order") func lockBetween() {
    let stand = Stand()
    for index in 0..<5 { stand.wait("\(index)") }
    stand.unlock()
    stand.turns.turn()
    stand.isUnlocked = false
    stand.turns.turn()
    stand.turns.turn()
    #expect(stand.done == ["0", "1", "2"] && !stand.calls.isEmpty)
    stand.wait("late")
    stand.unlock()
    stand.turns.turn()
    #expect(stand.done == ["0", "1", "2", "3", "4", "late"])
  }

  @Test("who has left or whose time is up does not go on") func left() {
    let stand = Stand()
    let numbers = (0..<4).map { stand.wait("\($0)") }
    stand.calls.remove(numbers[0])
    stand.unlock()
    stand.calls.remove(numbers[2])
    stand.turns.turn()
    #expect(stand.done == ["1", "3"])
    stand.calls.remove(numbers[1])
    #expect(stand.calls.isEmpty)
  }
}
