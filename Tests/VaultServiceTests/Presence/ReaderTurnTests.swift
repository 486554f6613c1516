import Testing
import VaultModel

@testable import VaultService

@Suite("The fingerprint reader among several prompts") struct ReaderTurnTests {
  private let waits = "The fingerprint reader is in use; this prompt waits for it"
  private let begun = "Fingerprint to use a"
  private let both = "Fingerprint or login password to use a"
  private let yielded = "Another prompt needs the fingerprint reader"
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

  @Test("a prompt that takes a password begins at once while another one has the reader") func atOnce() throws {
    let stand = try PromptStand()
    _ = stand.ask(uid: 1001, finger: true)
    _ = stand.ask(uid: 1001, session: 200, finger: true)
    stand.rooms.hands.pass(500_000_000)
    let password = stand.askAtPassword()
    #expect(password.texts == [both, "Login password"])
    for _ in 0..<6 {
      stand.rooms.hands.pass(seconds: 20)
      stand.run()
    }
    #expect(password.outcome == nil && !stand.checks[1].isCancelled)
  }

  @Test("it waits for a second at most while the reader changes hands", arguments: [false, true])
  func handover(isRestless: Bool) throws {
    let stand = try PromptStand()
    var fingers = (0..<2).map { stand.ask(uid: 1001, session: 200 + Int32($0), finger: true) }
    fingers[0].leave()
    let password = stand.ask()
    #expect(password.texts.isEmpty && stand.checks.count == 1)
    stand.rooms.hands.pass(500_000_000)
    #expect(fingers[1].texts == [waits, begun] && password.texts.isEmpty)
    if isRestless {
      // That user's prompts go as soon as they have the reader.
      fingers.append(stand.ask(uid: 1001, session: 300, finger: true))
      fingers[1].leave()
    }
    stand.rooms.hands.pass(500_000_000)
    #expect(password.texts == [both])
  }

  @Test("it leaves the reader to one that waits, and begins again without it", arguments: [1001, RoomStand.owner])
  func yields(user: UInt32) throws {
    let stand = try PromptStand()
    let password = stand.ask()
    let finger = stand.ask(uid: user, session: 200, finger: true)
    stand.rooms.hands.pass(seconds: 10)
    #expect(stand.checks[0].isCancelled && password.texts == [both, yielded])
    stand.rooms.hands.pass(500_000_000)
    #expect(finger.texts == [waits, begun] && password.texts == [both, yielded])
    stand.rooms.hands.pass(500_000_000)
    #expect(password.texts == [both, yielded, both])
    stand.checks[2].askPassword()
    password.type()
    stand.checks[2].end(.succeeded)
    stand.run()
    #expect(password.outcome == .succeeded && finger.outcome == nil && !stand.checks[1].isCancelled)
  }

  @Test(
    "it asks for its password beside two prompts for a finger that another user opens again for ever",
    arguments: [0, 9, 10, 11, 15])
  func flood(opened: Int) throws {
    let stand = try PromptStand()
    var password = opened == 0 ? stand.ask() : nil
    var fingers = (0..<2).map { stand.ask(uid: 1001, session: 200 + Int32($0), finger: true) }
    for second in 1...120 {
      if second == opened { password = stand.ask() }
      for half in 0..<2 {
        stand.rooms.hands.pass(500_000_000)
        stand.run()
        for index in fingers.indices where fingers[index].outcome != nil {
          let session = Int32(1000 + second * 4 + half * 2 + index)
          fingers[index] = stand.ask(uid: 1001, session: session, finger: true)
        }
        // PAM asks for the password when it finds the reader busy.
        let isBusy = fingers.contains { $0.outcome == nil && $0.texts.last == begun }
        if isBusy, password?.texts.last == both { stand.checks.last { !$0.isCancelled }?.askPassword() }
      }
      let isAsked = password?.texts.last == "Login password"
      #expect(isAsked || second < max(opened, 10) + 2)
    }
    #expect(password?.outcome == nil && stand.checks.count > 10)
    password?.type()
  }

  @Test("prompts that take passwords, one after the other, do not keep it from another user", arguments: [2, 9])
  func passwords(seconds: Int64) throws {
    let stand = try PromptStand()
    var open = stand.ask(uid: 1001, session: 200)
    let finger = stand.ask(finger: true)
    var passed: Int64 = 0
    // Each begins right before the one at the reader goes.
    while finger.texts == [waits], passed < 60 {
      stand.rooms.hands.pass(seconds: seconds)
      passed += seconds
      let next = stand.ask(uid: 1001, session: 201 + Int32(passed))
      open.leave()
      open = next
      stand.rooms.hands.pass(500_000_000)
    }
    #expect(finger.texts == [waits, begun] && passed <= 18 && open.outcome == nil)
  }

  @Test("one that has left it before keeps it for a minute at most") func again() throws {
    let stand = try PromptStand()
    let password = stand.ask()
    let first = stand.ask(uid: 1001, finger: true)
    stand.rooms.hands.pass(seconds: 10)
    first.leave()
    #expect(password.texts == [both, yielded, both])
    let second = stand.ask(uid: 1001, session: 200, finger: true)
    stand.rooms.hands.pass(seconds: 59)
    #expect(second.texts == [waits])
    stand.rooms.hands.pass(seconds: 1)
    stand.rooms.hands.pass(500_000_000)
    #expect(second.texts == [waits, begun] && password.outcome == nil)
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
