import Testing
import VaultCore
import VaultModel

@testable import VaultService

@Suite("Keys that take long to make") struct KeyMakerTests {
  /// A thread that does a piece of work when the test says so.
  private final class LateThread: Worker {
    private var work: [() -> Void] = []

    var count: Int { work.count }

    func run<T: Sendable>(_ work: @escaping @Sendable () -> T, then done: @escaping (T) -> Void) {
      self.work.append { done(work()) }
    }

    func whenIdle(_ then: @escaping () -> Void) { then() }

    func doNext() { work.removeFirst()() }
  }

  private let thread = LateThread()
  private let maker: KeyMaker
  /// The users whose keys were made, in that order, and those who have gone.
  private let made = RoomStand.Shared<[UInt32]>([])
  private let gone = RoomStand.Shared<Set<UInt32>>([])

  init() { maker = KeyMaker(on: thread) }

  /// Asks for a key, and answers false when that is refused.
  private func isTaken(_ user: UInt32) throws -> Bool {
    let name = try ItemName("a")
    do throws(Refusal) {
      // One that takes no time, which makes no difference here.
      try maker.make(.hmac, for: .mac, name, by: user) { [gone] in
        !gone.value.contains(user)
      } then: { [made] result in
        if case .success = result { made.value.append(user) }
      }
      return true
    } catch .busy {
      return false
    }
  }

  @Test("are made one at a time, and of each user one, so that the others' are next") func turns() throws {
    #expect(try isTaken(1))
    #expect(try !isTaken(1) && isTaken(2) && isTaken(3) && !isTaken(2) && thread.count == 1)
    thread.doNext()
    // The first user is behind the others now.
    #expect(try made.value == [1] && isTaken(1) && thread.count == 1)
    for _ in 0..<3 { thread.doNext() }
    #expect(made.value == [1, 2, 3, 1] && thread.count == 0)
    #expect(try isTaken(1) && thread.count == 1)
  }

  @Test("wait in a line that has an end, and leave it with those who go") func line() throws {
    let last = UInt32(KeyMaker.longestQueue)
    for user in 0...last { #expect(try isTaken(user), "\(user)") }
    #expect(try !isTaken(last + 1))
    gone.value = [1, 2]
    #expect(try isTaken(last + 1) && isTaken(last + 2) && !isTaken(last + 3))
    gone.value = [4]
    while thread.count > 0 { thread.doNext() }
    #expect(made.value == [0, 3] + (5...last + 2))
  }
}
