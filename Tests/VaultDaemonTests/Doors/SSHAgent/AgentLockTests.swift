import NIOCore
import NIOEmbedded
import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("The lock of `ssh-add -x`") struct AgentLockTests {
  @Test("once it is unlocked, each attempt that waited for its turn is refused at once, the right passphrase too")
  func late() {
    let timers = EmbeddedEventLoop()
    let lock = AgentLock(VaultService.Timer(on: timers))
    let passphrase = Array("right".utf8)
    let isTaken = lock.lock(unsafe passphrase.span.bytes)
    #expect(isTaken && lock.isLocked)
    var answers: [String] = []
    func unlock(_ attempt: String, _ text: String) {
      let typed = Array(text.utf8)
      lock.unlock(unsafe typed.span.bytes) { isRight in answers.append("\(attempt) \(isRight)") }
    }
    // The others wait until the pause after the first one is over.
    unlock("first", "wrong")
    for attempt in ["second", "third"] { unlock(attempt, "right") }
    unlock("fourth", "wrong")
    #expect(answers == [])
    timers.advanceTime(by: .milliseconds(100))
    #expect(answers == ["first false", "second true", "third false", "fourth false"] && !lock.isLocked)
    try? timers.syncShutdownGracefully()
  }
}
