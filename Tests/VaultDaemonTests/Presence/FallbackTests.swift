import Foundation
import Glibc
import Testing
import VaultTesting

@Suite(
  "From one way in to the next", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct FallbackTests {
  /// Makes a stand with a locked vault that has a slot with its key in memory.
  private func stand() throws -> FingerStand {
    let stand = try FingerStand()
    do {
      try stand.vault.make()
      _ = try stand.vault.addSlot("memory")
    } catch {
      stand.close()
      throw error
    }
    return stand
  }

  private let threeWrong = ["finger-B", "finger-C", "finger-B"]

  @Test("three wrong fingers lead to the login password, a wrong one to the vault's, and both are told")
  func everythingWrong() throws {
    let stand = try stand()
    defer { stand.close() }
    let vault = stand.vault
    let login = try vault.unlock(touching: threeWrong, on: stand.reader, typing: [vault.user.password])
    #expect(login.reply?.error == nil && login.said.last == "secret Login password", "\(login)")
    #expect(try vault.state() == "unlocked: by fingerprint or login password")
    try vault.lock()
    let own = try vault.unlock(touching: threeWrong, on: stand.reader, typing: ["wrong", vault.password])
    #expect(
      own.said.suffix(3) == [
        "secret Login password", "info login password not accepted. Try your vault password.",
        "secret Vault password",
      ])
    #expect(try vault.state() == "unlocked: by password")
  }

  @Test("a method that is named is the only one that is tried") func named() throws {
    let stand = try stand()
    defer { stand.close() }
    let vault = stand.vault
    let password = try vault.unlock(["method": "password"], typing: [vault.password])
    #expect(password.said == ["secret Vault password"])
    try vault.lock()
    let pam = try vault.unlock(["method": "pam"], touching: threeWrong, on: stand.reader, typing: ["wrong"])
    #expect(pam.reply?.error == "AuthenticationFailed")
    #expect(pam.reply?.string("method") == "pam")
    #expect(pam.said.last == "secret Login password")
    #expect(try vault.unlock(["method": "recovery"]).reply?.error == "MethodUnavailable")
    #expect(try vault.unlock(["method": "telepathy"]).reply?.error == "MethodUnavailable")
  }

  @Test("wrong login passwords have to wait, and meanwhile a finger and the recovery code open the vault")
  func backoff() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    let clock = try MachineClock(in: vault.sandbox)
    try clock.hold()
    let code = try #require(try vault.make(recovery: true))
    _ = try vault.addSlot("file", ["insecure": true])
    for milliseconds in [1000, 2000] {
      let wrong = try vault.unlock(["method": "pam"], touching: threeWrong, on: stand.reader, typing: ["wrong"])
      #expect(wrong.reply?.error == "AuthenticationFailed")
      #expect(wrong.reply?.integer("retry_after_ms") == milliseconds)
      #expect(
        try vault.unlock(["method": "pam"], touching: threeWrong, on: stand.reader).reply?.error == "TooManyTries")
      if milliseconds == 1000 { try clock.sleep(seconds: 1) }
    }
    // A restart does not reset the failed attempts.
    try vault.sandbox.stopDaemon()
    #expect(try failures(vault).hasPrefix("\(vault.user.uid) pam 2 "))
    try vault.start()

    let talk = try vault.unlock(["method": "pam"], touching: ["finger-B", "finger-A"], on: stand.reader)
    #expect(talk.said.first == "info Fingerprint to unlock the vault")
    #expect(try vault.state() == "unlocked: by fingerprint or login password")
    try vault.lock()
    let alone = try vault.unlock(
      ["method": "pam"], touching: threeWrong, on: stand.reader, typing: [vault.user.password])
    #expect(alone.reply?.error == "TooManyTries")
    #expect(!alone.mentions("Password"))
    #expect(try vault.unlock(["method": "recovery"], typing: [code]).reply?.error == nil)
    #expect(try vault.state() == "unlocked: by recovery code")
    try vault.lock()

    // Without a reader the user can only wait.
    try stand.reader.unplug()
    let waiting = "too soon after the last attempt, wait "
    #expect(try vault.obstacle(to: "pam")?.hasPrefix(waiting) == true)
    let own = try vault.unlock(typing: [vault.password])
    #expect(own.said.count == 2 && own.said[0].hasPrefix("info " + waiting), "\(own)")
    #expect(own.reply?.error == nil)
  }

  /// Reads the daemon's file of failed attempts.
  private func failures(_ vault: UserVault) throws -> String {
    try String(contentsOfFile: vault.sandbox.store + "/backoff", encoding: .utf8)
  }

  @Test("leaving half way through a check buys no free try") func leaving() throws {
    let stand = try FingerStand(pam: PAMService.password)
    defer { stand.close() }
    let vault = stand.vault
    try vault.make()
    _ = try vault.addSlot("memory")
    let asking = try vault.client()
    var reply = try asking.call("Unlock", ["method": "pam"], more: true)
    while reply.prompt?["style"] as? String != "secret" { reply = try asking.reply() }
    let conversation = try #require(reply.string("conversation"))
    #expect(try vault.client().call("Respond", ["conversation": conversation, "answer": "wrong"]).error == nil)
    // The attempt was written to disk before the answer went to PAM.
    #expect(try failures(vault).hasPrefix("\(vault.user.uid) pam 1 "))
    withExtendedLifetime(asking) {}
  }

  @Test("whoever leaves ends the helper, and is not asked the same again at once") func leave() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    let clock = try MachineClock(in: vault.sandbox)
    try clock.hold()
    try vault.make()
    // The key lies in a file: in memory it would not outlive the sleep that moves the clock below.
    _ = try vault.addSlot("file", ["insecure": true])
    let daemon = try #require(vault.sandbox.daemonPid)
    var helpers: [pid_t] = []
    let left = try vault.converse("Unlock") { prompt in
      guard (prompt["text"] as? String)?.hasPrefix("Swipe") == true else { return .nothing }
      helpers = Self.children(of: daemon)
      return .leave
    }
    #expect(left.reply == nil)
    #expect(helpers.count == 1)
    // A zombie would still be listed as a child.
    try stand.wait("the helper to go") { Self.children(of: daemon).isEmpty }
    let again = try vault.unlock(typing: [vault.password])
    #expect(
      again.said == [
        "info the prompt was dismissed a moment ago. Try your vault password.",
        "secret Vault password",
      ])
    try vault.lock()
    try clock.sleep(seconds: 3)
    let shown = try vault.unlock(["method": "pam"], touching: ["finger-A"], on: stand.reader)
    #expect(shown.reply != nil && shown.reply?.error == nil, "\(shown)")
  }

  private static func children(of pid: pid_t) -> [pid_t] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return threads.flatMap { thread in
      let text = (try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/children", encoding: .utf8)) ?? ""
      return text.split(separator: " ").compactMap { pid_t($0) }
    }
  }

  @Test("another finger voids the slot until the password was given, an unplugged reader does not") func changed()
    throws
  {
    let stand = try stand()
    defer { stand.close() }
    let vault = stand.vault
    #expect(try vault.addSlot("file", ["insecure": true]).reply?.integer("slot") == 3)
    try stand.expectFingerOpens()
    try stand.reader.enrol(vault.user.name, finger: "left-thumb", print: "finger-A")
    let reason = "the enrolled fingers are not those the slot was made with; use your vault password"
    #expect(try vault.obstacle(to: "pam") == reason)
    try vault.lock()
    #expect(try vault.unlock(["method": "pam"]).reply?.sentence == reason)
    let talk = try vault.unlock(typing: [vault.password])
    #expect(talk.said.first == "info \(reason)")
    for slot in [2, 3] {
      try stand.wait("slot \(slot) to count") {
        vault.sandbox.daemonLog.contains("slot \(slot) now counts for the fingers that are enrolled")
      }
    }
    #expect(try vault.obstacle(to: "pam") == nil)
    try stand.expectFingerOpens()
    // A slot with its key in a file works as well, with no key in memory.
    try vault.sandbox.stopDaemon()
    try vault.start()
    try stand.expectFingerOpens()
    let keys = try FileManager.default.contentsOfDirectory(atPath: vault.sandbox.store).filter {
      $0.hasPrefix("presence-")
    }
    #expect(keys.count == 1)

    try vault.lock()
    try stand.reader.unplug()
    #expect(try vault.obstacle(to: "fingerprint") == "there is no fingerprint reader")
    let login = try vault.unlock(typing: [vault.user.password])
    #expect(login.said.last == "secret Login password")
    #expect(try vault.state() == "unlocked: by fingerprint or login password")
    // Without a reader, an unlock with the password does not make the slot count for no finger at all.
    try vault.lock()
    #expect(try vault.unlock(["method": "password"], typing: [vault.password]).reply?.error == nil)
    // fprintd gets this question after the question about the slot.
    #expect(try vault.obstacle(to: "fingerprint") == "there is no fingerprint reader")
    #expect(vault.sandbox.daemonLog.components(separatedBy: "now counts for the fingers").count == 3)
  }
}
