import Foundation
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("The fingers that a slot counts for") struct FingersTests {
  @Test("those that are enrolled have to be those it was made with; what cannot be known is no agreement")
  func agreement() {
    let (none, one, two): ([String], [String], [String]) = ([], ["thumb"], ["index", "thumb"])
    for recorded in [none, one, two] {
      for enrolled in [one, two] { #expect(Fingers.fingers(enrolled).agree(with: recorded) == (enrolled == recorded)) }
      #expect(Fingers.noEnrolledFinger.agree(with: recorded) == recorded.isEmpty)
      // Without a reader, PAM can ask for the password only.
      for answer in [Fingers.noBus, .noService, .noReader] { #expect(answer.agree(with: recorded)) }
      #expect(!Fingers.unknown("it does not answer").agree(with: recorded))
    }
    #expect(Fingers.unknown("it does not answer").objection.sentence == "fprintd cannot be asked: it does not answer")
  }

  @Test(
    "while fprintd cannot tell them nothing is asked for, and no slot of theirs opens",
    .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
  func unknown() throws {
    let vault = try UserVault(pam: PAMService.password)
    defer { vault.close() }
    let bus = try PrivateBus(.system, in: vault.sandbox)
    let service = "net.reactivated.Fprint"
    let manager = "/net/reactivated/Fprint/Manager"
    try bus.mock(service, [service, manager, service + ".Manager"])
    let failing = vault.sandbox.root + "/failing"
    let code = """
      if __import__('os').path.exists('\(failing)'): raise dbus.exceptions.DBusException('no', name='org.example.No')
      ret = []
      """
    try bus.call(
      service, manager, "org.freedesktop.DBus.Mock", "AddMethod", "sssss", service + ".Manager", "GetDevices", "", "ao",
      code)
    try vault.make()
    #expect(try vault.addSlot("memory").reply?.error == nil)
    func unlock() throws -> UserVault.Talk { try vault.unlock(["method": "pam"], typing: [vault.user.password]) }
    let before = try unlock()
    #expect(before.reply?.error == nil && before.said.last == "secret Login password", "\(before)")
    try vault.lock()

    try "".write(toFile: failing, atomically: true, encoding: .utf8)
    let refused = try unlock()
    #expect(refused.reply?.error == "MethodUnavailable" && refused.said == [], "\(refused)")
    #expect(refused.reply?.string("reason")?.hasPrefix("fprintd cannot be asked: ") == true)
    #expect(try vault.state() == "locked: by `vault lock`")
  }
}
