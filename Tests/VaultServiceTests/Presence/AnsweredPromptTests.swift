import Testing
import VaultModel

@testable import VaultService

@Suite("A prompt that several ask for") struct AnsweredPromptTests {
  @Test("who asks in the same session before the answer is told of, and shares the outcome") func before() throws {
    let stand = try PromptStand()
    let first = stand.ask(for: "to use a")
    stand.checks[0].askPassword()
    let second = stand.ask(for: "to use b")
    #expect(first.texts.last == "Also asked to use b")
    first.type()
    stand.checks[0].end(.succeeded)
    stand.run()
    #expect(first.outcome == .succeeded && second.outcome == .succeeded && stand.checks.count == 1)
  }

  @Test("who asks after the answer, or in another session, has a prompt of its own at once", arguments: [false, true])
  func after(isAnswered: Bool) throws {
    let stand = try PromptStand()
    let first = stand.ask(for: "to use a")
    stand.checks[0].askPassword()
    if isAnswered { first.type() }
    let late = stand.ask(for: "to use b", session: isAnswered ? 100 : 200)
    #expect(stand.checks.count == 2 && late.texts == ["Fingerprint or login password to use b"])
    #expect(!first.texts.contains { $0.contains("to use b") })
    stand.rooms.hands.pass(seconds: 2)
    stand.checks[1].askPassword()
    late.type()
    stand.checks[1].end(.succeeded)
    stand.run()
    #expect(late.outcome == .succeeded && first.outcome == nil)
  }

  @Test("a wrong answer is the answer of those who share the prompt, and of nobody else") func wrong() throws {
    let stand = try PromptStand()
    let first = stand.ask(for: "to use a")
    stand.checks[0].askPassword()
    let second = stand.ask(for: "to use b")
    first.type()
    let late = stand.ask(for: "to use c")
    stand.checks[0].end(.failed)
    stand.run()
    #expect(first.outcome == .failed && second.outcome == .failed && late.outcome == nil)
    stand.rooms.hands.pass(seconds: 2)
    stand.checks[1].askPassword()
    late.type()
    stand.checks[1].end(.succeeded)
    stand.run()
    #expect(late.outcome == .succeeded)
  }

  @Test("no answer at a prompt escapes the wait that an answer at another one costs") func wait() throws {
    let stand = try PromptStand()
    let askers = [stand.askAtPassword(session: 1), stand.askAtPassword(session: 2), stand.askAtPassword(session: 3)]
    for asker in askers.prefix(2) { asker.type() }
    stand.run()
    #expect(stand.checks.map(\.answers) == [1, 0, 0] && stand.checks[1].isCancelled)
    #expect(askers[1].reason == "a password was typed at another prompt a moment ago")
    // Once the wait is over, the prompt that was open all the time takes an answer.
    stand.rooms.hands.pass(seconds: 2)
    askers[2].type()
    #expect(stand.checks.map(\.answers) == [1, 0, 1])
  }

  @Test("it names eight at most, and a hundred more end neither it nor its first asker's call") func many() throws {
    let stand = try PromptStand()
    let first = stand.ask(for: "to use a")
    stand.checks[0].askPassword()
    let others = (0..<100).map { stand.ask(for: "to use b\($0)") }
    #expect(first.texts.count { $0.hasPrefix("Also asked") } == 7)
    #expect(stand.checks.count == 4)
    let refused = others.filter { $0.outcome == .unavailable("too many prompts for your presence are open") }
    #expect(refused.count == 100 - 7 - 3 * 8)
    first.type()
    stand.checks[0].end(.succeeded)
    stand.run()
    #expect(first.outcome == .succeeded && others.count { $0.outcome == .succeeded } == 7)
  }
}
