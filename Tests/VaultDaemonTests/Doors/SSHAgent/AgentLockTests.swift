import NIOCore
import NIOEmbedded
import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("The lock of `ssh-add -x`") struct AgentLockTests {
  /// A locked agent, whose passphrase is `right`.
  private final class Stand {
    private let timers = EmbeddedEventLoop()
    let lock: AgentLock
    /// The attempts that were answered, in that order, and the answers.
    private(set) var answers: [String] = []
    /// The attempts whose processes have ended.
    var ended: Set<String> = []

    init() {
      lock = AgentLock(VaultService.Timer(on: timers))
      let passphrase = Array("right".utf8)
      let isTaken = lock.lock(unsafe passphrase.span.bytes)
      #expect(isTaken && lock.isLocked)
    }

    deinit { try? timers.syncShutdownGracefully() }

    func unlock(_ attempt: String, _ text: String) {
      let typed = Array(text.utf8)
      lock.unlock(unsafe typed.span.bytes) { [unowned self] in
        !ended.contains(attempt)
      } then: { [unowned self] isRight in
        answers.append("\(attempt) \(isRight)")
      }
    }

    /// Lets so many milliseconds pass; by default those of the first pause.
    func pass(_ milliseconds: Int64 = 100) { timers.advanceTime(by: .milliseconds(milliseconds)) }

    /// Locks the agent with a passphrase; false when it is locked already.
    func relock(_ text: String) -> Bool {
      let passphrase = Array(text.utf8)
      return lock.lock(unsafe passphrase.span.bytes)
    }
  }

  @Test("once it is unlocked, each attempt that waited for its turn is refused at once, the right passphrase too")
  func late() {
    let stand = Stand()
    // The others wait until the pause after the first one is over.
    stand.unlock("first", "wrong")
    for attempt in ["second", "third"] { stand.unlock(attempt, "right") }
    stand.unlock("fourth", "wrong")
    #expect(stand.answers == [])
    stand.pass()
    #expect(stand.answers == ["first false", "second true", "third false", "fourth false"] && !stand.lock.isLocked)
  }

  @Test("an attempt whose process has ended before its turn neither unlocks it nor keeps the next one waiting")
  func ended() {
    let stand = Stand()
    stand.unlock("first", "wrong")
    for (attempt, text) in [("second", "right"), ("third", "wrong")] { stand.unlock(attempt, text) }
    stand.ended = ["second", "third"]
    stand.pass()
    #expect(stand.answers == ["first false"] && stand.lock.isLocked)
    stand.unlock("fourth", "right")
    #expect(stand.answers == ["first false", "fourth true"] && !stand.lock.isLocked)
  }

  @Test("a wrong passphrase is answered later each time, up to ten seconds, until the right one was given")
  func pauses() {
    let stand = Stand()
    for failure in 1...102 {
      stand.unlock("\(failure)", "wrong")
      stand.pass(min(10_000, 100 * Int64(failure)) - 1)
      #expect(stand.answers.count == failure - 1)
      stand.pass(1)
      #expect(stand.answers.last == "\(failure) false" && stand.answers.count == failure)
    }
    stand.unlock("right", "right")
    #expect(stand.answers.last == "right true")
    let isTaken = stand.relock("other")
    #expect(isTaken)
    stand.unlock("later", "wrong")
    stand.pass()
    #expect(stand.answers.last == "later false")
  }

  @Test("its passphrase is the one with which it was locked last, and while it is locked, no other one is taken")
  func passphrases() {
    let stand = Stand()
    let isTakenTwice = stand.relock("other")
    #expect(!isTakenTwice)
    stand.unlock("first", "right")
    #expect(stand.answers == ["first true"])
    // Without a lock there is nothing to wait for.
    stand.unlock("second", "right")
    #expect(stand.answers == ["first true", "second false"])
    let isTaken = stand.relock("other")
    #expect(isTaken)
    stand.unlock("third", "right")
    stand.pass()
    stand.unlock("fourth", "other")
    #expect(stand.answers == ["first true", "second false", "third false", "fourth true"] && !stand.lock.isLocked)
  }

  @Test("behind 64 attempts that wait, a further one is refused at once, and after those it has its turn again")
  func many() {
    let stand = Stand()
    stand.unlock("first", "wrong")
    for attempt in 0..<64 { stand.unlock("\(attempt)", "wrong") }
    #expect(stand.answers == [])
    stand.unlock("more", "right")
    #expect(stand.answers == ["more false"] && stand.lock.isLocked)
    stand.pass()
    #expect(stand.answers == ["more false", "first false"])
    stand.unlock("last", "right")
    stand.pass(1_000_000)
    #expect(stand.answers.count == 67 && stand.answers.last == "last true" && !stand.lock.isLocked)
  }
}
