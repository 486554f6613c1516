import Foundation
import Glibc
import Testing
import VaultTesting

/// A vault with a slot whose key the TPM seals, on a machine that is about to sleep.
private final class SleepStand {
  let stand: LockStand
  let chip: SoftwareTPM
  let service: PAMService
  var sandbox: Sandbox { stand.sandbox }

  /// - Parameter pam: the text of the PAM service that checks presence.
  init(pam: String) throws {
    let sandbox = try Sandbox()
    chip = try SoftwareTPM(in: sandbox)
    service = try PAMService(pam)
    stand = try LockStand(config: "pam-service = \(service.name)\ntpm2-device = \(chip.device)", in: sandbox)
    let added = try sandbox.converse("AddSlot", ["kind": "pam", "keystore": "tpm2"]) { [stand] _ in stand.password }
    guard added?.error == nil else { throw SandboxError("AddSlot: \(String(describing: added))") }
    // The next helper of this name must be the one that the test is about.
    let daemon = try #require(sandbox.daemonPid)
    try stand.wait("the first helper to be gone") {
      ProcessTree.processes(named: "vault-tpm2", of: daemon).isEmpty
    }
  }

  deinit { service.remove() }

  /// Begins an unlock by presence, up to the first prompt; if `asks`, up to the first prompt that needs an answer.
  func beginUnlock(asks: Bool = false) throws -> (conversation: String, client: WireClient) {
    let client = try sandbox.client()
    var reply = try client.call("Unlock", ["method": "pam"], more: true)
    while asks, reply.prompt?["style"] as? String == "info" { reply = try client.reply() }
    return (try #require(reply.string("conversation"), "\(reply)"), client)
  }

  /// Returns the reply that ends a call.
  func lastReply(_ client: WireClient) throws -> WireClient.Reply {
    while true {
      let reply = try client.reply()
      if reply.prompt == nil { return reply }
    }
  }

  /// Waits until the daemon has started a helper of that name, and returns the helper's pid.
  func helper(_ name: String, of parent: Int32? = nil) throws -> Int32 {
    let parent = try #require(parent ?? sandbox.daemonPid)
    var found: Int32?
    try stand.wait("the helper to start") {
      found = ProcessTree.processes(named: name, of: parent).first
      return found != nil
    }
    return try #require(found)
  }

  /// Announces a sleep, and expects that the daemon delays it until `helper` is gone.
  func expectHeldUp(by helper: Int32, _ end: HeldEnd) throws {
    try stand.prepareForSleep(true)
    #expect(try stand.nextEvent() == "locked: the machine goes to sleep")
    // When this call is answered, the daemon has done everything that needs no waiting.
    _ = try stand.locksOn()
    #expect(try stand.holdsInhibitor(), "let go of while \(helper) had its memory")
    #expect(ProcessTree.hasMemory(helper))
    end.letGo()
    try stand.wait("the inhibitor's end") { try !stand.holdsInhibitor() }
    #expect(!ProcessTree.hasMemory(helper), "the inhibitor's end came first")
    try stand.wait("logind to see it") { try stand.inhibitors() == "a(ssssuu) 0" }
  }
}

@Suite(
  "Sleep waits for helper programs that were ended",
  .enabled(if: LockStand.isRoot, "needs root to hold a process at its end"))
struct SleepAndHelpersTests {
  private static let yes = "auth required pam_permit.so\naccount required pam_permit.so\n"

  @Test("one that a lock ends while it fetches a key, be it the sleep's or one before", arguments: [false, true])
  func calledOff(before: Bool) throws {
    let machine = try SleepStand(pam: Self.yes)
    #expect(try machine.sandbox.client().call("Lock").error == nil)
    #expect(try machine.stand.nextEvent() == "locked: by `vault lock`")
    // The helper waits for the TPM without end.
    machine.chip.pause()
    defer { machine.chip.resume() }
    let asking = try machine.beginUnlock()
    let helper = try machine.helper("vault-tpm2")
    // A stopped helper would not react to a mere message about the lock.
    kill(helper, SIGSTOP)
    let end = try HeldEnd(of: helper)
    if before {
      try machine.sandbox.signalDaemon(SIGUSR1)
      try end.wait()
      #expect(try machine.lastReply(asking.client).error == "Cancelled")
      #expect(try machine.stand.holdsInhibitor())
    }
    try machine.expectHeldUp(by: helper, end)
  }

  @Test("one that has given its key") func answered() throws {
    let machine = try SleepStand(pam: Self.yes)
    #expect(try machine.sandbox.client().call("Lock").error == nil)
    #expect(try machine.stand.nextEvent() == "locked: by `vault lock`")
    machine.chip.pause()
    let asking = try machine.beginUnlock()
    let helper = try machine.helper("vault-tpm2")
    let end = try HeldEnd(of: helper)
    machine.chip.resume()
    #expect(try machine.lastReply(asking.client).error == nil)
    #expect(try machine.stand.nextEvent() == "unlocked: by fingerprint or login password")
    try end.wait()
    try machine.expectHeldUp(by: helper, end)
  }

  @Test("the one that was given a login password, a child and one of its own unit's", arguments: [false, true])
  func typed(isUnit: Bool) throws {
    let machine = try SleepStand(pam: PAMService.password)
    var unit: Activation?
    if isUnit {
      unit = try Activation(
        machine.sandbox.runtime + "/vault/pam.socket", in: machine.sandbox, command: [Sandbox.path(of: "vault-pam")])
    }
    defer { unit = nil }
    #expect(try machine.sandbox.client().call("Lock").error == nil)
    #expect(try machine.stand.nextEvent() == "locked: by `vault lock`")
    let asking = try machine.beginUnlock(asks: true)
    let helper = try machine.helper("vault-pam", of: unit?.pid)
    let end = try HeldEnd(of: helper)
    let answer = ["conversation": asking.conversation, "answer": "not the password of root"]
    #expect(try machine.sandbox.client().call("Respond", answer).error == nil)
    #expect(try machine.lastReply(asking.client).error == "AuthenticationFailed")
    try end.wait()
    try machine.expectHeldUp(by: helper, end)
  }
}
