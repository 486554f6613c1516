import Testing
import VaultModel

@testable import VaultService

@Suite("The fingerprint reader among several prompts") struct ReaderTurnTests {
  private let waits = "The fingerprint reader is in use; this prompt waits for it"
  private let begun = "Fingerprint to use a"
  private let gaveWay = PresenceOutcome.unavailable("another prompt needed the fingerprint reader")

  @Test("a prompt that takes a password waits for no other, and one for a finger alone waits until PAM asks for it")
  func password() throws {
    let stand = try PromptStand()
    _ = stand.ask(uid: 1001)
    #expect(stand.ask(uid: 1002).texts == ["Fingerprint or login password to use a"] && stand.checks.count == 2)
    let finger = stand.ask(finger: true)
    #expect(finger.texts == [waits] && stand.checks.count == 2)
    stand.checks[0].askPassword()
    #expect(stand.checks.count == 2)
    stand.checks[1].askPassword()
    #expect(finger.texts == [waits, begun] && stand.checks.count == 3)
  }

  @Test("prompts that take passwords, one after the other, do not keep it from another user") func passwords() throws {
    let stand = try PromptStand()
    let first = stand.ask(uid: 1001, session: 200)
    let finger = stand.ask(finger: true)
    let more = stand.ask(uid: 1001, session: 201)
    #expect(more.texts == [waits] && stand.checks.count == 1)
    for _ in 0..<6 {
      stand.rooms.hands.pass(seconds: 2)
      stand.run()
    }
    #expect(first.outcome == gaveWay && finger.texts == [waits, begun] && stand.checks.count == 2)
    // That user's next prompt does not wait for longer either.
    for _ in 0..<6 {
      stand.rooms.hands.pass(seconds: 2)
      stand.run()
    }
    #expect(finger.outcome == gaveWay && more.texts.count == 2 && stand.checks.count == 3)
  }

  @Test("the one that waits has the reader as soon as the other one is over", arguments: [false, true])
  func over(isCutOff: Bool) throws {
    let stand = try PromptStand()
    let first = stand.ask(uid: 1001, finger: true)
    let second = stand.ask(finger: true)
    #expect(stand.checks.count == 1 && second.texts == [waits])
    if isCutOff { first.dismiss() } else { stand.checks[0].end(.failed) }
    // fprintd notices a little later that a check was cut off.
    #expect(stand.checks.count == (isCutOff ? 1 : 2))
    stand.rooms.hands.pass(500_000_000)
    #expect(stand.checks.count == 2 && second.texts == [waits, begun])
  }

  @Test("nobody keeps it from others for more than ten seconds without a sign of a person") func silent() throws {
    let stand = try PromptStand()
    let silent = stand.ask(uid: 1001, finger: true)
    stand.rooms.hands.pass(seconds: 60)
    #expect(silent.outcome == nil)
    stand.checks[0].ask(.error, "Try again")
    stand.rooms.hands.pass(seconds: 5)
    let waiting = stand.ask(finger: true)
    stand.rooms.hands.pass(seconds: 4)
    #expect(waiting.texts == [waits] && !stand.checks[0].isCancelled)
    stand.rooms.hands.pass(seconds: 2)
    stand.run()
    #expect(silent.outcome == gaveWay && waiting.texts == [waits, begun] && stand.checks.count == 2)
    // It does not come back at once.
    #expect(stand.ask(uid: 1001, finger: true).reason == "a prompt gave way to another one a moment ago")
  }

  @Test("of those that wait, another user comes before the one who has just had it") func turns() throws {
    let stand = try PromptStand()
    let many = (0..<3).map { stand.ask(uid: 1001, session: 200 + Int32($0), finger: true) }
    let one = stand.ask(uid: 0, finger: true)
    stand.rooms.hands.pass(seconds: 11)
    #expect(one.texts == [waits, begun] && many[1].texts == [waits] && many[2].texts == [waits])
    stand.checks[1].end(.succeeded)
    #expect(many[1].texts == [waits, begun] && many[2].texts == [waits])
  }

  @Test("at the end of the daemon no prompt begins") func stop() throws {
    let stand = try PromptStand()
    _ = stand.ask(uid: 1001, finger: true)
    let waiting = stand.ask(finger: true)
    stand.presence.stop()
    stand.rooms.hands.pass(seconds: 60)
    stand.run()
    #expect(stand.checks.count == 1 && waiting.outcome == nil)
  }
}
