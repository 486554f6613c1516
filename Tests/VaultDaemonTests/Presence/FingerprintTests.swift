import Glibc
import Synchronization
import Testing
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// The real fprintd and pam_fprintd, with a reader that tests touch; the helper runs as the user.
@Suite("Presence, by finger", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct FingerprintTests {
  private let stand: PresenceStand

  init() throws { stand = try PresenceStand() }

  private static let swipe = "info Swipe your right index finger across the fingerprint reader"

  /// Checks the user, who touches the reader with the next of `prints` at each invitation, and gives the password if
  /// asked.
  private func check(
    _ text: String, on prints: FingerprintStand, _ touches: [String], password: String? = nil
  ) throws -> PresenceStand.Result? {
    let service = try PAMService(text)
    defer { service.remove() }
    let next = Mutex(touches.makeIterator())
    let answer = password ?? stand.user.password
    return try stand.check(service.name, through: stand.asUser(), variables: [prints.variable]) { said in
      if said.hasPrefix("secret") { return .answer(answer) }
      if said == Self.swipe, let print = next.withLock({ $0.next() }) { try prints.touch(print) }
      return .nothing
    }
  }

  @Test("the right finger is a yes, a wrong one is asked for again") func fingers() throws {
    defer { stand.close() }
    let prints = try FingerprintStand(in: stand.sandbox)
    try prints.enrol(stand.user.name, print: "finger-A")
    for service in [PAMService.fingerOrPassword, PAMService.finger] {
      let right = try check(service, on: prints, ["finger-A"])
      #expect(right?.outcome == .succeeded)
      #expect(right?.said == [Self.swipe])
      let second = try check(service, on: prints, ["finger-B", "finger-A"])
      #expect(second?.outcome == .succeeded)
      #expect(second?.said == [Self.swipe, "error Failed to match fingerprint", Self.swipe])
    }
  }

  @Test("after three wrong fingers comes the password, and without one nothing") func threeWrong() throws {
    defer { stand.close() }
    let prints = try FingerprintStand(in: stand.sandbox)
    try prints.enrol(stand.user.name, print: "finger-A")
    let wrong = ["finger-B", "finger-B", "finger-C"]
    let right = try check(PAMService.fingerOrPassword, on: prints, wrong)
    #expect(right?.outcome == .succeeded)
    #expect(right?.said.last == "secret Password")
    #expect(right?.said.filter { $0 == Self.swipe }.count == 3)
    #expect(try check(PAMService.fingerOrPassword, on: prints, wrong, password: "wrong")?.outcome == .failed)
    let alone = try check(PAMService.finger, on: prints, wrong)
    #expect(alone?.outcome == .tooManyTries)
    #expect(alone?.said.contains { $0.hasPrefix("secret") } == false)
  }

  @Test("without a reader or an enrolled finger the password is asked for at once, and a finger alone is unavailable")
  func noReader() throws {
    defer { stand.close() }
    let prints = try FingerprintStand(in: stand.sandbox, hasReader: false)
    let password = try check(PAMService.fingerOrPassword, on: prints, [])
    #expect(password?.outcome == .succeeded)
    #expect(password?.said == ["secret Password"])
    #expect(try check(PAMService.finger, on: prints, [])?.outcome.isUnavailable == true)

    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let unknown = try FingerprintStand(in: sandbox)
    #expect(try check(PAMService.fingerOrPassword, on: unknown, [])?.said == ["secret Password"])
    #expect(try check(PAMService.finger, on: unknown, [])?.outcome.isUnavailable == true)
  }

  @Test("a swipe that is given up releases the reader, whoever started the helper", arguments: [false, true])
  func cancelled(byUnit: Bool) throws {
    defer { stand.close() }
    let prints = try FingerprintStand(in: stand.sandbox)
    try prints.enrol(stand.user.name, print: "finger-A")
    let service = try PAMService(PAMService.finger)
    defer { service.remove() }
    let helper = try stand.script(
      "echo $$ >$pid; exec setpriv --reuid=$uid --regid=$uid --clear-groups \"$helper\"")
    do {
      // Nobody kills the unit's helper: the helper must notice the cancellation itself, inside the module.
      let unit = byUnit ? try Activation(stand.socket, in: stand.sandbox, command: [helper]) : nil
      let given = try stand.check(service.name, through: helper, variables: [prints.variable]) { said in
        #expect(said == Self.swipe)
        return .cancel
      }
      #expect(given == nil)
      try stand.waitForEnd(of: stand.pid())
      withExtendedLifetime(unit) {}
    }
    // fprintd stops the reader before it releases it; until then the next client is told that the reader is in use.
    var next = try check(PAMService.finger, on: prints, ["finger-A"])
    for _ in 0..<100 where next?.outcome.isUnavailable == true {
      next = try check(PAMService.finger, on: prints, ["finger-A"])
    }
    #expect(next?.outcome == .succeeded)
  }
}
