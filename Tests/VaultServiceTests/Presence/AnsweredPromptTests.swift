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
    let caller: Caller
    let isPresent = true
    private(set) var texts: [String] = []
    private(set) var outcome: PresenceOutcome?
    private let stand: Stand
    private(set) lazy var conversation = Conversation(
      self, stand.conversations, stand.holders, stand.rooms.hands.timer)

    /// Asks for a proof for a session or, with `unlock`, for an unlock that another unlock ends.
    init(_ stand: Stand, for words: String, in session: Int32 = 100, unlock: Bool = false, finger: Bool = false) {
      self.stand = stand
      caller = RoomStand.caller(session: session)
      conversation.endsWhenUnlocked = unlock
      let effect = unlock ? .unlock : caller.session.map { PresenceWish.Effect.proof($0) } ?? .change
      let question = Presence.Question(pam: "vault", uid: RoomStand.owner, takesPassword: !finger)
      let purpose = Purpose(.other(words))
      let wish = PresenceWish(conversation: conversation, purpose: purpose, effect: effect) {
        [unowned self] outcome, _ in self.outcome = outcome
      }
      stand.presence.show(question, for: wish)
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
    /// Ends the call as a lock does.
    func callOff() { conversation.callOff() }
    /// Dismisses the prompt.
    func leave() { conversation.leave() }
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

    func lock() throws { try rooms.restart() }
  }

  private static let follows = "Another program's prompt comes first; yours follows"

  @Test("another session's wish that comes once it is shown has a prompt of its own", arguments: [false, true])
  func otherSession(isAsked: Bool) throws {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a")
    if isAsked { stand.checks[0].ask(.secret, "Password: ") }
    let second = Asker(stand, for: "to use b", in: 101)
    #expect(second.texts == [Self.follows] && !first.texts.contains { $0.contains("to use b") })
    if !isAsked { stand.checks[0].ask(.secret, "Password: ") }
    first.type()
    stand.checks[0].end(.succeeded)
    stand.rooms.run()
    #expect(first.outcome == .succeeded && second.outcome == nil && stand.checks.count == 2)
    #expect(second.texts.last == "Fingerprint or login password to use b")
    stand.checks[1].ask(.secret, "Password: ")
    second.type()
    stand.checks[1].end(.succeeded)
    stand.rooms.run()
    #expect(second.outcome == .succeeded && stand.checks.count == 2)
  }

  @Test("a proof for the same session joins it at any time: a proof serves its whole session") func sameSession()
    throws
  {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a")
    stand.checks[0].ask(.secret, "Password: ")
    let second = Asker(stand, for: "to use b")
    #expect(first.texts.last == "Also asked to use b")
    first.type()
    let third = Asker(stand, for: "to use c")
    stand.checks[0].end(.succeeded)
    stand.rooms.run()
    #expect([first, second, third].allSatisfy { $0.outcome == .succeeded } && stand.checks.count == 1)
  }

  @Test("an unlock does not join a proof, nor a proof an unlock, even in one session", arguments: [false, true])
  func otherEffect(isUnlockFirst: Bool) throws {
    let stand = try Stand()
    try stand.lock()
    let first = Asker(stand, for: "to use a", unlock: isUnlockFirst)
    let second = Asker(stand, for: "to use b", unlock: !isUnlockFirst)
    stand.checks[0].end(.succeeded)
    stand.rooms.run()
    #expect(first.outcome == .succeeded && second.outcome == nil && stand.checks.count == 2)
  }

  @Test("the prompt that follows names all that have come, before PAM asks, and serves them") func named() throws {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a")
    let late = (1...9).map { Asker(stand, for: "to use b\($0)", in: 100 + $0) }
    let gone = Asker(stand, for: "to use c", in: 200)
    gone.callOff()
    stand.checks[0].end(.succeeded)
    stand.rooms.run()
    #expect(first.outcome == .succeeded && late.allSatisfy { $0.outcome == nil } && gone.outcome == nil)
    let told = ["Fingerprint or login password to use b1"] + (2...8).map { "Also asked to use b\($0)" }
    #expect(late[0].texts == [Self.follows] + told && stand.checks.count == 2)
    stand.checks[1].end(.succeeded)
    stand.rooms.run()
    #expect(late.prefix(8).allSatisfy { $0.outcome == .succeeded } && late[8].outcome == nil)
    // The ninth has one of its own, because nobody reads a longer list.
    #expect(late[8].texts.last == "Fingerprint or login password to use b9" && stand.checks.count == 3)
  }

  @Test("however many proofs of one session join it, its person reads of seven") func many() throws {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a")
    let others = (0..<70).map { Asker(stand, for: "to use b\($0)") }
    #expect(first.texts.count == 8)
    stand.checks[0].end(.succeeded)
    stand.rooms.run()
    #expect(others.allSatisfy { $0.outcome == .succeeded })
  }

  @Test("a wrong password fails those whom it was for; another's wish has to wait for its turn like any other call")
  func wrong() throws {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a")
    stand.checks[0].ask(.secret, "Password: ")
    let late = Asker(stand, for: "to use b", in: 101)
    first.type()
    stand.checks[0].end(.failed)
    stand.rooms.run()
    #expect(first.outcome == .failed && stand.checks.count == 1)
    #expect(late.outcome == .unavailable("a wrong password was typed at another prompt a moment ago"))
  }

  @Test("a wrong finger costs no wait, so another's prompt follows") func wrongFinger() throws {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a", finger: true)
    let late = Asker(stand, for: "to use b", in: 101, finger: true)
    stand.checks[0].end(.failed)
    stand.rooms.run()
    #expect(first.outcome == .failed && late.outcome == nil && late.texts.last == "Fingerprint to use b")
  }

  @Test("an answer whose caller leaves before it is checked gives nobody another one free of its wait") func unchecked()
    throws
  {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a")
    stand.checks[0].ask(.secret, "Password: ")
    let late = Asker(stand, for: "to use b", in: 101)
    first.type()
    first.leave()
    stand.rooms.run()
    #expect(late.outcome == .cancelled && stand.checks.count == 1)
  }

  @Test("who dismisses it dismisses what the same yes would have served, and another's prompt follows at once")
  func dismissed() throws {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a")
    let same = Asker(stand, for: "to use b")
    let other = Asker(stand, for: "to use c", in: 101)
    first.leave()
    stand.rooms.run()
    #expect(same.outcome == .cancelled && other.outcome == nil)
    #expect(other.texts.last == "Fingerprint or login password to use c" && stand.checks.count == 2)
  }

  @Test("one whose first caller a lock ends is shown again to the next") func calledOff() throws {
    let stand = try Stand()
    let first = Asker(stand, for: "to use a")
    let same = Asker(stand, for: "to use b")
    first.callOff()
    stand.rooms.run()
    #expect(same.outcome == nil && same.texts.last == "Fingerprint or login password to use b")
  }

  @Test("an unlock that comes while another's prompt is shown waits for its end, and asks only if that opens nothing")
  func unlocks() throws {
    for opens in [true, false] {
      let stand = try Stand()
      try stand.lock()
      let first = Asker(stand, for: "to unlock the vault", unlock: true)
      let second = Asker(stand, for: "to unlock the vault", in: 101, unlock: true)
      stand.checks[0].end(.succeeded)
      stand.rooms.run()
      #expect(first.outcome == .succeeded && second.outcome == nil && stand.checks.count == 1)
      if opens { try stand.rooms.unlock() }
      first.conversation.finish()
      stand.rooms.run()
      #expect(second.outcome == nil && stand.checks.count == (opens ? 1 : 2))
    }
  }
}
