import Testing
import VaultCore
import VaultModel

@testable import VaultService

@Suite("Unlocks at the same time") struct AttemptsAtOnceTests {
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
    stand.worker.hold()
  }

  private var attempts: Attempts { stand.rooms.waysIn.attempts }

  /// Lets a person ask for an unlock, and answer.
  private func attempt(for seconds: Int? = nil, isRight: Bool = true) throws -> Person {
    let person = Person()
    stand.rooms.waysIn.unlock("recovery", for: seconds, Said(), person)
    let conversation = try #require(person.conversation)
    let typed = isRight ? code.bytes.withBytes { SecureBytes(copying: $0) } : RecoveryCode.random().text()
    let isTaken = conversation.answer(typed, to: nil)
    #expect(isTaken)
    return person
  }

  private func release() {
    stand.worker.release()
    stand.run()
  }

  @Test("with the right secret all succeed, whatever time each asks for", arguments: [nil, 60])
  func right(seconds: Int?) throws {
    let people = try (0..<12).map { number in try attempt(for: number == 0 ? nil : seconds) }
    #expect(people.allSatisfy { $0.told.isEmpty })
    release()
    #expect(people.allSatisfy { $0.told == ["done"] }, "\(people.map(\.told))")
    #expect(stand.vault.state.kind == .unlocked && attempts.failures(of: source) == nil)
  }

  @Test("a wrong one makes the later ones come too soon, and counts once") func wrong() throws {
    let people = [try attempt(isRight: false), try attempt(), try attempt(isRight: false)]
    release()
    #expect(people[0].told.count == 1 && people[0].told[0].hasPrefix("authenticationFailed"), "\(people[0].told)")
    #expect(people[1].told == ["wait 1000"] && people[2].told == ["wait 1000"])
    #expect(attempts.failures(of: source)?.count == 1 && stand.vault.state.kind == .locked)
  }

  @Test("those that waited for a wrong one are told in their order, a few in each turn") func turns() throws {
    let people = [try attempt(isRight: false)] + (try (0..<40).map { _ in try attempt() })
    func told() -> Int { people.count { !$0.told.isEmpty } }
    stand.hands.stride.value = Turns.length / 2
    stand.worker.release()
    var before = told()
    #expect(before <= 2)
    for _ in 0..<40 where before < 41 {
      stand.turns.turn()
      let now = told()
      #expect(now > before && now - before <= 4 && people.prefix(now).allSatisfy { !$0.told.isEmpty })
      before = now
    }
    #expect(before == 41 && attempts.failures(of: source)?.count == 1)
  }

  @Test("a lock ends those that wait, and nothing of them is tried later") func locked() throws {
    let people = [try attempt(isRight: false), try attempt(), try attempt()]
    stand.vault.lock(because: .asked)
    #expect(people.allSatisfy { $0.told == ["\(Refusal.cancelled)"] })
    release()
    #expect(people.allSatisfy { $0.told.count == 1 })
    #expect(stand.vault.state.kind == .locked && attempts.failures(of: source)?.count == 1)
  }

  @Test("who leaves while waiting is passed over") func left() throws {
    let people = [try attempt(), try attempt(for: 60), try attempt(for: 60)]
    people[1].conversation?.leave()
    release()
    #expect(people.map(\.told) == [["done"], [], ["done"]])
  }
}
