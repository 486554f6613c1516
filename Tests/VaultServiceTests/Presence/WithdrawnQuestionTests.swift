import Testing
import VaultCore
import VaultModel

@testable import VaultService

@Suite("A question that is withdrawn before its answer") struct WithdrawnQuestionTests {
  /// A conversation that asks for secrets.
  private final class Stand: Prompter {
    private let hands = RoomStand.Hands()
    private let conversations = Conversations()
    private let holders = SecretHolders()
    private(set) lazy var conversation = Conversation(self, conversations, holders, hands.timer)
    private(set) var numbers: [Int?] = []
    /// The methods whose questions got an answer.
    private(set) var answered: [String] = []

    let caller = RoomStand.caller()
    let isPresent = true
    func begin(_: Conversation) {}
    func show(_ prompt: Prompt) { numbers.append(prompt.number) }
    func end() {}
    func finish(_: ConversationResult) {}
    func refuse(_: Refusal) {}

    func ask(_ methods: String...) {
      for method in methods {
        conversation.ask(.secret, method: method, text: method) { [unowned self] _ in answered.append(method) }
      }
    }

    /// Answers the question of a number, or none in particular; returns true if the answer was taken.
    func answer(_ number: Int?) -> Bool { conversation.answer(SecureBytes(count: 8), to: number) }
  }

  @Test("each question has its number, and what only tells has none") func numbers() {
    let stand = Stand()
    stand.ask("pam")
    stand.conversation.tell(.info, method: "pam", text: "it gave way")
    stand.ask("password")
    #expect(stand.numbers == [1, nil, 2])
  }

  @Test("an answer that names it answers no other question, and its number is used once") func named() {
    let stand = Stand()
    stand.ask("pam", "password")
    #expect(!stand.answer(1) && !stand.answer(3) && !stand.answer(0))
    #expect(stand.answered.isEmpty && !stand.conversation.holdsSecret)
    #expect(stand.answer(2) && !stand.answer(2) && !stand.answer(1))
    #expect(stand.answered == ["password"])
  }

  @Test("it takes one answer that names none, and has no effect") func unnamed() {
    let stand = Stand()
    stand.ask("pam", "other", "password")
    #expect(!stand.answer(nil) && !stand.answer(nil) && stand.answered.isEmpty)
    #expect(stand.answer(nil) && !stand.answer(nil))
    #expect(stand.answered == ["password"])
  }

  @Test("it takes none before the next question either") func between() {
    let stand = Stand()
    stand.ask("pam")
    stand.conversation.withdraw()
    #expect(!stand.answer(nil) && !stand.answer(1))
    stand.ask("password")
    #expect(stand.answer(nil) && stand.answered == ["password"])
  }

  @Test("it takes none once a later question was answered") func later() {
    let stand = Stand()
    stand.ask("pam", "password")
    #expect(stand.answer(2))
    stand.ask("recovery")
    #expect(stand.answer(nil) && stand.answered == ["password", "recovery"])
  }

  @Test("an answer at a prompt for presence that gave way is neither checked nor charged", arguments: [false, true])
  func gaveWay(isNamed: Bool) throws {
    let stand = try PromptStand()
    let open = (0..<4).map { stand.askAtPassword(session: 200 + Int32($0)) }
    stand.rooms.hands.pass(seconds: 30)
    _ = stand.askAtPassword(session: 300)
    #expect(!open[0].answers(isNamed ? open[0].number : nil))
    stand.run()
    #expect(open[0].reason == "this prompt gave way to another one, because too many were open")
    #expect(!open[0].answers(open[0].number) && stand.checks[0].answers == 0)
    let source = Backoff.Source(uid: RoomStand.owner, method: "pam")
    #expect(stand.presence.attempts.failures(of: source) == nil)
  }
}
