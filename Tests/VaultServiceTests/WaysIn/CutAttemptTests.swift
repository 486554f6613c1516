import Testing
import VaultCore
import VaultModel

@testable import VaultService

@Suite("An attempt that a lock cuts off while it is checked") struct CutAttemptTests {
  /// A person who is asked, and the messages that they got.
  private final class Person: Prompter {
    let caller = RoomStand.caller()
    let isPresent = true
    private(set) var conversation: Conversation?
    private(set) var told: [String] = []

    func begin(_ conversation: Conversation) { self.conversation = conversation }
    func show(_: Prompt) {}
    func end() {}
    func finish(_ result: ConversationResult) { told.append("\(result)") }
    func refuse(_ refusal: Refusal) {
      if case .backingOff(_, let wait) = refusal { told.append("wait \(wait)") } else { told.append("\(refusal)") }
    }
  }

  private let code = SecretBox(RecoveryCode.random().text())
  private let stand: RoomStand
  private let source = Backoff.Source(uid: RoomStand.owner, method: "recovery")

  init() throws {
    stand = try RoomStand.unlocked(code: code)
    stand.vault.lock(because: .asked)
    // One failure, whose wait is over, so that the next one would cost two seconds.
    let failing = try attempt(RecoveryCode.random().text())
    try #require(failing.told.count == 1 && attempts.failures(of: source)?.count == 1)
    stand.hands.pass(seconds: 2)
  }

  private var attempts: Attempts { stand.rooms.waysIn.attempts }

  /// Lets a person ask for an unlock, and answer.
  private func attempt(_ typed: consuming SecureBytes) throws -> Person {
    let person = Person()
    stand.rooms.waysIn.unlock("recovery", for: 60, Said(), person)
    let isTaken = try #require(person.conversation).answer(typed, to: nil)
    #expect(isTaken)
    return person
  }

  private func rightCode() -> SecureBytes { code.bytes.withBytes { SecureBytes(copying: $0) } }

  @Test("makes others wait for its check only, and costs nothing if it was right") func right() throws {
    stand.worker.hold()
    let cut = try attempt(rightCode())
    stand.vault.lock(because: .asked)
    let next = try attempt(rightCode())
    #expect(cut.told == ["\(Refusal.cancelled)"] && next.told.isEmpty)
    stand.worker.release()
    stand.run()
    #expect(attempts.failures(of: source) == nil)
    #expect(next.told == ["done"] && stand.vault.state.kind == .unlocked)
  }

  @Test("costs what a wrong one costs if it was wrong") func wrong() throws {
    stand.worker.hold()
    let cut = try attempt(RecoveryCode.random().text())
    stand.vault.lock(because: .asked)
    let next = try attempt(rightCode())
    #expect(cut.told == ["\(Refusal.cancelled)"] && next.told.isEmpty)
    stand.worker.release()
    #expect(attempts.failures(of: source)?.count == 2 && next.told == ["wait 2000"])
    #expect(stand.vault.state.kind == .locked)
  }
}
