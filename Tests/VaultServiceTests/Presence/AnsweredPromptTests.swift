import Testing
import VaultCore
import VaultModel

@testable import VaultService

@Suite("A prompt that several ask for") struct AnsweredPromptTests {
  /// A check by PAM, whose questions and outcome the test decides on.
  private final class PlayedCheck: PresenceChecking {
    let ask: (Prompt.Style, String) -> Void
    let end: (PresenceOutcome) -> Void
    private(set) var answers = 0

    init(_ ask: @escaping (Prompt.Style, String) -> Void, _ end: @escaping (PresenceOutcome) -> Void) {
      (self.ask, self.end) = (ask, end)
    }

    func answer(consuming answer: consuming SecureBytes) { answers += 1 }
    func cancel() {}
  }

  /// A program that asks for presence, and what it is told.
  private final class Asker: Prompter {
    let caller = RoomStand.caller()
    let isPresent = true
    private(set) var texts: [String] = []
    private(set) var outcome: PresenceOutcome?
    private let stand: Stand
    private(set) lazy var conversation = Conversation(
      self, stand.conversations, stand.holders, stand.rooms.hands.timer)

    init(_ stand: Stand, for words: String) {
      self.stand = stand
      stand.presence.show(
        Presence.Question(pam: "vault", uid: RoomStand.owner, takesPassword: true), to: conversation,
        purpose: Purpose(.other(words))
      ) { [unowned self] outcome, _ in self.outcome = outcome }
    }

    func begin(_: Conversation) {}
    func show(_ prompt: Prompt) { texts.append(prompt.text) }
    func end() {}
    func finish(_: ConversationResult) {}
    func refuse(_: Refusal) {}

    /// Answers PAM's question.
    func type() {
      let isTaken = conversation.answer(SecureBytes(count: 8))
      #expect(isTaken)
    }
    func leave() { conversation.callOff() }
  }

  private final class Stand {
    let rooms: RoomStand
    let conversations = Conversations()
    let holders = SecretHolders()
    private(set) var checks: [PlayedCheck] = []
    private(set) var presence: Presence!

    init() throws {
      rooms = try RoomStand.unlocked()
      let means = Presence.Means(
        fingers: { _, then in then(.noBus) }, obstacle: { _ in nil },
        check: { [unowned self] _, ask, end in
          checks.append(PlayedCheck(ask, end))
          return checks[checks.count - 1]
        })
      presence = Presence(rooms.vault, Attempts(rooms.vault), means)
    }
  }

  @Test("who asks before the answer is told of, and shares the outcome") func before() throws {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a")
    stand.checks[0].ask(.secret, "Password: ")
    let second = Asker(stand, for: "to use b")
    #expect(first.texts.last == "Also asked to use b")
    first.type()
    stand.checks[0].end(.succeeded)
    stand.rooms.run()
    #expect(first.outcome == .succeeded && second.outcome == .succeeded && stand.checks.count == 1)
  }

  @Test("who asks after the answer, of which the person knows nothing, gets a prompt of its own", arguments: [1, 2])
  func after(count: Int) throws {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a")
    stand.checks[0].ask(.secret, "Password: ")
    first.type()
    let late = (0..<count).map { Asker(stand, for: "to use b\($0)") }
    let gone = Asker(stand, for: "to use c")
    gone.leave()
    stand.checks[0].end(.succeeded)
    stand.rooms.run()
    #expect(first.outcome == .succeeded && late.allSatisfy { $0.outcome == nil } && gone.outcome == nil)
    #expect(stand.checks.count == 2 && late[0].texts.contains("Fingerprint or login password to use b0"))
    stand.checks[1].ask(.secret, "Password: ")
    late[0].type()
    stand.checks[1].end(.succeeded)
    stand.rooms.run()
    #expect(late.allSatisfy { $0.outcome == .succeeded } && stand.checks.count == 2)
  }

  @Test("a wrong answer is the answer for all of them, and nobody gets a second try from it") func wrong() throws {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a")
    stand.checks[0].ask(.secret, "Password: ")
    first.type()
    let late = Asker(stand, for: "to use b")
    stand.checks[0].end(.failed)
    stand.rooms.run()
    #expect(first.outcome == .failed && late.outcome == .failed && stand.checks.count == 1)
  }
}
