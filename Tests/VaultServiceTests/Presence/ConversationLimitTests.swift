import Testing
import VaultCore

@testable import VaultService

@Suite("How long a conversation lasts") struct ConversationLimitTests {
  /// A conversation with a person who sees no prompts.
  private final class Stand: Prompter {
    private let hands = RoomStand.Hands()
    private let conversations = Conversations()
    private let holders = SecretHolders()
    private(set) lazy var conversation = Conversation(self, conversations, holders, hands.timer)

    let caller = RoomStand.caller()
    let isPresent = true
    func begin(_: Conversation) {}
    func show(_: Prompt) {}
    func end() {}
    func finish(_: ConversationResult) {}
    func refuse(_: Refusal) {}

    func ask() { conversation.ask(.secret, method: "password", text: "Password") { _ in } }

    /// Answers the question; returns false if there was none.
    func answer() -> Bool { conversation.answer(SecureBytes(count: 8), to: nil) }

    func pass(seconds: Int64) { hands.pass(seconds: seconds) }
  }

  @Test("half an hour after the first secret it is over, however often it asks, and what it held is wiped")
  func holdingSecret() {
    let stand = Stand()
    let key = Handover(SecureBytes(count: 32))
    stand.conversation.willWipe(key)
    for _ in 0..<7 {
      stand.ask()
      #expect(stand.answer())
      stand.pass(seconds: 240)
    }
    stand.ask()
    stand.pass(seconds: 119)
    let isHeld = key.withSecret { $0.count } == 32
    #expect(!stand.conversation.isOver && isHeld)
    stand.pass(seconds: 1)
    let isWiped = key.withSecret { $0.count } == nil
    #expect(stand.conversation.isOver && isWiped && !stand.answer())
  }

  @Test("one that holds a secret and asks nothing any more is over then, too") func silent() {
    let stand = Stand()
    stand.conversation.holdSecret()
    stand.pass(seconds: 1799)
    // A second secret does not begin another half hour.
    stand.conversation.holdSecret()
    #expect(!stand.conversation.isOver)
    stand.pass(seconds: 1)
    #expect(stand.conversation.isOver)
  }

  @Test("another question in place of one that nobody answered has five minutes of its own") func asksAnew() {
    let stand = Stand()
    stand.ask()
    stand.pass(seconds: 299)
    stand.ask()
    stand.pass(seconds: 299)
    #expect(!stand.conversation.isOver)
    stand.pass(seconds: 1)
    #expect(stand.conversation.isOver)
  }

  @Test("a question that nobody answers ends it after five minutes, and each answer begins them anew")
  func unanswered() {
    let stand = Stand()
    for _ in 0..<2 {
      stand.ask()
      stand.pass(seconds: 299)
      #expect(stand.answer())
    }
    stand.ask()
    stand.pass(seconds: 299)
    #expect(!stand.conversation.isOver)
    stand.pass(seconds: 1)
    #expect(!stand.answer() && stand.conversation.isOver)
  }
}
