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

    /// Lets the first pause pass.
    func pass() { timers.advanceTime(by: .milliseconds(100)) }
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
}
