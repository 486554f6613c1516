import Testing
import VaultCore
import VaultModel

@testable import VaultService

/// Prompts for presence, with checks by PAM that the test plays.
final class PromptStand {
  /// A check by PAM, whose questions and outcome the test decides on.
  final class PlayedCheck: PresenceChecking {
    let ask: (Prompt.Style, String) -> Void
    let end: (PresenceOutcome) -> Void
    private(set) var answers = 0
    private(set) var isCancelled = false

    fileprivate init(_ ask: @escaping (Prompt.Style, String) -> Void, _ end: @escaping (PresenceOutcome) -> Void) {
      (self.ask, self.end) = (ask, end)
    }

    func answer(consuming answer: consuming SecureBytes) { answers += 1 }
    func cancel() { isCancelled = true }

    func askPassword() { ask(.secret, "Password: ") }
  }

  /// A program that asks for presence, and what it is told.
  final class Asker: Prompter {
    let caller: Caller
    let isPresent = true
    private(set) var texts: [String] = []
    /// The number of the last question.
    private(set) var number: Int?
    private(set) var outcome: PresenceOutcome?
    private let stand: PromptStand
    private(set) lazy var conversation = Conversation(
      self, stand.conversations, stand.holders, stand.rooms.hands.timer)

    fileprivate init(
      _ stand: PromptStand, _ question: Presence.Question, _ caller: Caller, _ words: String,
      serving session: AuthenticationSession?
    ) {
      (self.stand, self.caller) = (stand, caller)
      conversation.servedSession = session
      stand.presence.show(question, to: conversation, purpose: Purpose(.other(words))) { [unowned self] outcome, _ in
        self.outcome = outcome
      }
    }

    func begin(_: Conversation) {}
    func show(_ prompt: Prompt) {
      texts.append(prompt.text)
      number = prompt.number ?? number
    }
    func end() {}
    func finish(_: ConversationResult) {}
    func refuse(_: Refusal) {}

    /// Answers PAM's question.
    func type() {
      let isTaken = answers(number)
      #expect(isTaken)
    }

    /// Answers the question of a number, or none in particular; returns true if the answer was taken.
    func answers(_ number: Int?) -> Bool { conversation.answer(SecureBytes(count: 8), to: number) }
    func leave() { conversation.callOff() }
    func dismiss() { conversation.fail(.cancelled) }

    /// The reason for which nobody was asked, or the prompt was ended.
    var reason: String? { outcome?.reason }
  }

  let rooms: RoomStand
  fileprivate let conversations = Conversations()
  fileprivate let holders = SecretHolders()
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
    presence = Presence(rooms.vault, Attempts(rooms.vault), means, rooms.hands.timer)
  }

  /// Asks for presence.
  ///
  /// - Parameters:
  ///   - finger: true if only a finger counts.
  ///   - served: the session that a yes serves, if it is another one.
  func ask(
    for words: String = "to use a", uid: UInt32 = RoomStand.owner, session: Int32 = 100, finger: Bool = false,
    serving served: Int32? = nil
  ) -> Asker {
    let question = Presence.Question(pam: finger ? "vault-biometry" : "vault", uid: uid, takesPassword: !finger)
    let other = served.flatMap { RoomStand.caller(uid, session: $0).session }
    return Asker(self, question, RoomStand.caller(uid, session: session), words, serving: other)
  }

  /// Asks for presence, and has PAM ask for the password.
  func askAtPassword(uid: UInt32 = RoomStand.owner, session: Int32 = 100) -> Asker {
    let count = checks.count
    let asker = ask(uid: uid, session: session)
    if checks.count > count { checks[count].askPassword() }
    return asker
  }

  /// Tells the askers what is due.
  func run() { rooms.run() }
}
