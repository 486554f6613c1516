import Glibc
import Testing
import VaultTesting

@Suite(
  "A slot whose key stays in memory", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct MemorySlotTests {
  @Test("the right finger opens the vault, a wrong one does not, and after a restart the password comes first")
  func fingers() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    try vault.make()
    #expect(try vault.addSlot("memory").reply?.integer("slot") == 2)
    try stand.expectFingerOpens()
    try vault.lock()
    let wrong = try vault.unlock(["method": "pam"], touching: ["finger-B", "finger-C"], on: stand.reader)
    #expect(wrong.reply == nil)
    #expect(wrong.mentions("Failed to match fingerprint"))
    #expect(try vault.state() == "locked: by `vault lock`")

    try vault.sandbox.stopDaemon()
    try vault.start()
    let reason = "this is the first unlock since the daemon started; use your vault password"
    #expect(try vault.obstacle(to: "pam") == reason)
    #expect(try vault.obstacle(to: "fingerprint") == reason)
    let forced = try vault.unlock(["method": "pam"], touching: ["finger-A"], on: stand.reader)
    #expect(forced.reply?.error == "MethodUnavailable")
    #expect(forced.reply?.sentence == reason)
    let talk = try vault.unlock(typing: [vault.password])
    #expect(
      talk.said == ["info \(reason)", "secret Vault password"])
    #expect(try vault.state() == "unlocked: by password")
    try stand.expectFingerOpens()
  }

  @Test("sleep takes the key, unless it is to be kept across sleep", arguments: [false, true])
  func sleep(isKept: Bool) throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    try vault.make("idle = off\nkeep-across-sleep = \(isKept)")
    _ = try vault.addSlot("memory")
    try stand.expectFingerOpens()
    try stand.sleep()
    let reason = "this is the first unlock after a lock (the machine goes to sleep); use your vault password"
    #expect(try vault.obstacle(to: "pam") == (isKept ? nil : reason))
    if isKept { return try stand.expectFingerOpens() }
    #expect(try vault.unlock(["method": "pam"]).reply?.sentence == reason)
    #expect(try vault.unlock(typing: [vault.password]).reply?.error == nil)
    try stand.expectFingerOpens()
  }

  @Test("the maximum age takes the key, and no unlock with a finger puts that off", arguments: [false, true])
  func age(isLocked: Bool) throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    let clock = try MachineClock(in: vault.sandbox)
    try vault.make("idle = off\nmaximum-age = 1h")
    _ = try vault.addSlot("memory")
    try clock.pass(seconds: 3000)
    try stand.expectFingerOpens()
    if isLocked { try vault.lock() }
    #expect(try vault.obstacle(to: "pam") == nil)
    // An hour has passed since the password, and ten minutes since the finger.
    try clock.pass(seconds: 600)
    let reason = "this is the first unlock after a lock (the maximum age was reached); use your vault password"
    #expect(try vault.obstacle(to: "pam") == reason)
    // A vault that a finger opened may stay open longer than the key is kept.
    try vault.lock()
    #expect(try vault.unlock(["method": "pam"]).reply?.sentence == reason)
  }

  @Test("the maximum age that locks the vault takes the key as well, however late that was made") func made() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    let clock = try MachineClock(in: vault.sandbox)
    try vault.make("idle = off\nmaximum-age = 1h")
    #expect(try vault.unlock(["method": "password"], typing: [vault.password]).reply?.error == nil)
    try clock.pass(seconds: 3000)
    _ = try vault.addSlot("memory")
    #expect(try vault.obstacle(to: "pam") == nil)
    try clock.pass(seconds: 600)
    #expect(
      try vault.obstacle(to: "pam")
        == "this is the first unlock after a lock (the maximum age was reached); use your vault password")
    #expect(try vault.state() == "locked: the maximum age was reached")
  }

  @Test("a shorter maximum age holds for a key that is kept already") func reconfigured() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    try vault.make()
    _ = try vault.addSlot("memory")
    #expect(try vault.obstacle(to: "pam") == nil)
    try vault.sandbox.configure("pam-service = \(vault.service.name)\nmaximum-age = 1s\n")
    try vault.sandbox.signalDaemon(SIGHUP)
    try stand.wait("the age") { try vault.obstacle(to: "pam")?.contains("the maximum age was reached") == true }
  }

  @Test("a vault can be made with one, and opens with a finger from then on") func initialized() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    try vault.start()
    let made = try vault.converse(
      "Init", ["keystore": "memory", "kdf_memory": 19 << 20, "kdf_passes": 2], typing: [vault.password])
    #expect(made.reply?.error == nil)
    try stand.expectFingerOpens()
  }

  @Test("an init that comes too late takes nothing from the vault that there is") func late() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    try vault.start()
    let parameters: WireClient.Message = ["keystore": "memory", "kdf_memory": 19 << 20, "kdf_passes": 2]
    let late = try vault.converse("Init", parameters) { _ throws in
      #expect(try vault.converse("Init", parameters, typing: [vault.password]).reply?.error == nil)
      return .answer("another password")
    }
    #expect(late.reply?.error == "VaultExists", "\(late)")
    #expect(try vault.obstacle(to: "pam") == nil)
    try stand.expectFingerOpens()
  }
}
