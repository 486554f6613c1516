import Testing
import VaultModel

@testable import VaultService

@Suite("Prompts for presence that are open at the same time") struct ManyPromptsTests {
  private let gaveWay = PresenceOutcome.unavailable("this prompt gave way to another one, because too many were open")
  private let refused = PresenceOutcome.unavailable("too many prompts for your presence are open")

  @Test("one that nobody answers keeps neither another user nor another session from an answer") func silent() throws {
    let stand = try PromptStand()
    let silent = stand.askAtPassword(uid: 1001)
    let askers = [stand.askAtPassword(uid: 0), stand.askAtPassword(uid: 1001, session: 200)]
    for (index, asker) in askers.enumerated() {
      asker.type()
      stand.checks[index + 1].end(.succeeded)
    }
    stand.run()
    #expect(askers.map(\.outcome) == [.succeeded, .succeeded] && silent.outcome == nil)
  }

  @Test("an agent that asks for two sessions has a prompt for each of them") func agent() throws {
    let stand = try PromptStand()
    let one = stand.ask(session: 100, serving: 200)
    let other = stand.ask(for: "to use b", session: 100, serving: 300)
    #expect(stand.checks.count == 2 && !one.texts.contains { $0.contains("to use b") })
    let same = stand.ask(for: "to use c", session: 100, serving: 200)
    #expect(stand.checks.count == 2 && one.texts.contains { $0.contains("to use c") })
    // Neither a program of that session nor another agent waits for what this agent may show nobody.
    _ = stand.ask(session: 200)
    _ = stand.ask(session: 400, serving: 200)
    #expect(stand.checks.count == 4)
    stand.checks[0].end(.succeeded)
    stand.run()
    #expect(one.outcome == .succeeded && same.outcome == .succeeded && other.outcome == nil)
  }

  @Test("a user whose prompts are few has room, and loses none to users who have many") func users() throws {
    let stand = try PromptStand()
    let many = (0..<12).map { stand.askAtPassword(uid: 1001 + UInt32($0 / 4), session: 200 + Int32($0)) }
    let one = stand.askAtPassword(uid: 0)
    stand.run()
    #expect(many.map(\.outcome) == [gaveWay] + Array(repeating: nil, count: 11) && one.outcome == nil)
    // The others go on asking.
    let more = (0..<20).map { stand.askAtPassword(uid: 1001 + UInt32($0 % 3), session: 300 + Int32($0)) }
    stand.run()
    #expect(one.outcome == nil && (many + more).contains { $0.outcome == refused })
    one.type()
    #expect(stand.checks[12].answers == 1)
  }

  @Test("a session that asks once has room, and loses none to a session that asks often") func sessions() throws {
    let stand = try PromptStand()
    // In one session, a prompt that is shared is full at eight.
    let many = (0..<32).map { _ in stand.askAtPassword(session: 200) }
    #expect(stand.checks.count == 4)
    let one = stand.askAtPassword(session: 100)
    stand.run()
    #expect(stand.checks.count == 5 && one.outcome == nil && many.count { $0.outcome == gaveWay } == 8)
    let more = (0..<9).map { _ in stand.askAtPassword(session: 200) }
    stand.rooms.hands.pass(seconds: 60)
    let last = stand.askAtPassword(session: 200)
    stand.run()
    #expect(one.outcome == nil && last.outcome == nil && more.allSatisfy { $0.outcome != nil })
  }

  @Test("among equals a prompt keeps its place for half a minute, and one whose answer is checked keeps it longer")
  func tenure() throws {
    let stand = try PromptStand()
    let open = (0..<4).map { stand.askAtPassword(session: 200 + Int32($0)) }
    open[0].type()
    #expect(stand.askAtPassword(session: 300).outcome == refused)
    stand.rooms.hands.pass(seconds: 29)
    #expect(stand.askAtPassword(session: 300).outcome == refused)
    stand.rooms.hands.pass(seconds: 1)
    let new = stand.askAtPassword(session: 300)
    stand.run()
    #expect(open.map(\.outcome) == [nil, gaveWay, nil, nil] && new.outcome == nil)
    #expect(stand.checks.map(\.isCancelled) == [false, true, false, false, false])
  }

  @Test("a dismissal is remembered for three seconds, in its session alone") func dismissed() throws {
    let stand = try PromptStand()
    stand.askAtPassword(session: 200).dismiss()
    #expect(stand.ask(session: 200).reason == "the prompt was dismissed a moment ago")
    #expect(stand.ask(session: 100).outcome == nil && stand.checks.count == 2)
    stand.rooms.hands.pass(seconds: 3)
    #expect(stand.ask(session: 200).outcome == nil && stand.checks.count == 3)
  }

  @Test("a user who dismisses many prompts in a short time is asked no more for that time") func churn() throws {
    let stand = try PromptStand()
    for session in 0..<8 { stand.askAtPassword(session: 200 + Int32(session)).dismiss() }
    #expect(stand.checks.count == 8)
    #expect(stand.ask(session: 100).reason == "many prompts were dismissed a moment ago")
    #expect(stand.ask(uid: 0).outcome == nil)
    stand.rooms.hands.pass(seconds: 3)
    #expect(stand.ask(session: 100).outcome == nil && stand.checks.count == 10)
  }
}
