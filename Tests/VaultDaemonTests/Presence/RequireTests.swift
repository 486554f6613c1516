import Glibc
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite(
  "Items that ask for a person", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct RequireTests {
  /// Makes a stand with an unlocked vault and one item for each kind of proof, named after it.
  private func stand(reuse: Int = 60, accessible: String = "when-unlocked", pam: String = PAMService.fingerOrPassword)
    throws -> FingerStand
  {
    let stand = try FingerStand(pam: pam)
    do {
      try stand.vault.make()
      _ = try stand.vault.addSlot("file", ["insecure": true])
      // The unlock is made in a session of its own, so that it counts for no other session.
      _ = try stand.vault.unlock(["method": "password"], in: "first", typing: [stand.vault.password])
      let client = try stand.vault.client()
      for require in ["none", "user-presence", "biometry", "password"] {
        let set = try client.call(
          "Set",
          ["name": require, "value": "of \(require)", "require": require, "reuse": reuse, "accessible": accessible])
        if let error = set.error { throw SandboxError("Set: \(error)") }
      }
    } catch {
      stand.close()
      throw error
    }
    return stand
  }

  private func get(_ name: String, _ stand: FingerStand, in session: String = "own") throws -> String {
    let reply = try stand.vault.client(in: session).call("Get", ["name": name, "interactive": false])
    if reply.error == "PresenceRequired" { #expect(reply.string("require") == name && reply.string("name") == name) }
    return reply.error ?? reply.string("value") ?? "nothing"
  }

  private func authenticate(
    _ name: String, _ stand: FingerStand, in session: String = "own", touching prints: [String] = [],
    typing answers: [String] = []
  ) throws -> UserVault.Talk {
    try stand.vault.converse(
      "Authenticate", ["name": name, "interactive": true], in: session, touching: prints, on: stand.reader,
      typing: answers)
  }

  @Test("each is served to the session that has shown what it asks for, and to no other") func proofs() throws {
    let stand = try stand()
    defer { stand.close() }
    let vault = stand.vault
    #expect(try get("none", stand) == "of none")
    for name in ["user-presence", "biometry", "password"] { #expect(try get(name, stand) == "PresenceRequired") }
    // Nobody is asked for a caller that is not interactive.
    let alone = try vault.converse("Authenticate", ["name": "biometry"], touching: ["finger-A"], on: stand.reader)
    #expect(alone.reply?.error == "PresenceRequired" && alone.said == [])

    let presence = try authenticate("user-presence", stand, touching: ["finger-B", "finger-A"])
    #expect(presence.reply?.error == nil && presence.reply != nil)
    #expect(presence.said.first == "info Fingerprint or login password to use user-presence")
    #expect(try get("user-presence", stand) == "of user-presence")
    #expect(try authenticate("user-presence", stand).said == [])
    // The proof that PAM accepted may have been the password.
    #expect(try get("biometry", stand) == "PresenceRequired")
    #expect(try get("password", stand) == "PresenceRequired")
    #expect(try get("user-presence", stand, in: "other") == "PresenceRequired")

    let finger = try authenticate("biometry", stand, in: "finger", touching: ["finger-A"])
    #expect(finger.reply?.error == nil && finger.said.first == "info Fingerprint to use biometry")
    #expect(try get("biometry", stand, in: "finger") == "of biometry")
    #expect(try get("user-presence", stand, in: "finger") == "of user-presence")
    #expect(try get("password", stand, in: "finger") == "PresenceRequired")

    let password = try authenticate("password", stand, in: "password", typing: [vault.password])
    #expect(password.said == ["secret Vault password to use password"])
    #expect(try get("password", stand, in: "password") == "of password")
    #expect(try get("user-presence", stand, in: "password") == "of user-presence")
    #expect(try get("biometry", stand, in: "password") == "PresenceRequired")
  }

  @Test("a finger counts no longer than a slot that lists it, also while it is asked for") func removedSlot() throws {
    let stand = try stand()
    defer { stand.close() }
    let vault = stand.vault
    #expect(try authenticate("biometry", stand, in: "finger", touching: ["finger-A"]).reply?.error == nil)
    #expect(try get("biometry", stand, in: "finger") == "of biometry")
    let late = try vault.converse("Authenticate", ["name": "biometry", "interactive": true]) { prompt in
      guard (prompt["text"] as? String)?.hasPrefix("Swipe") == true else { return .nothing }
      let removed = try vault.converse("RemoveSlot", ["id": 2], in: "first", typing: [vault.password])
      #expect(removed.reply?.error == nil && removed.reply != nil)
      try stand.reader.touch("finger-A")
      return .nothing
    }
    #expect(late.reply?.error == "MethodUnavailable")
    #expect(try get("biometry", stand) == "PresenceRequired")
    #expect(try get("biometry", stand, in: "finger") == "PresenceRequired")
  }

  @Test("what is shown wrongly opens nothing") func wrong() throws {
    let stand = try stand()
    defer { stand.close() }
    let vault = stand.vault
    let wrong = ["finger-B", "finger-C", "finger-B"]
    let finger = try authenticate("biometry", stand, touching: wrong, typing: [vault.user.password, vault.password])
    #expect(finger.reply?.error == "TooManyTries")
    #expect(!finger.said.contains { $0.hasPrefix("secret") })
    let password = try authenticate("password", stand, typing: [vault.user.password])
    #expect(password.reply?.error == "AuthenticationFailed")
    let presence = try authenticate("user-presence", stand, touching: wrong, typing: ["wrong", "wrong"])
    #expect(presence.mentions("login password not accepted. Try your vault password."))
    // The wait after the earlier wrong password may not be over yet.
    #expect(presence.reply?.error == "BackingOff" || presence.reply?.error == "AuthenticationFailed")
    for name in ["user-presence", "biometry", "password"] { #expect(try get(name, stand) == "PresenceRequired") }
  }

  @Test("a password that failed while it was found out which fingers there are is not asked for again") func late()
    throws
  {
    let stand = try stand(pam: PAMService.password)
    defer { stand.close() }
    let vault = stand.vault
    // After this many failures, the next one costs a minute.
    try vault.sandbox.stopDaemon()
    let boot = try #require(TextFile.read("/proc/sys/kernel/random/boot_id", limit: 64)?.filter { !$0.isNewline })
    try vault.sandbox.run(
      "-c", "umask 077; cat >$0", vault.sandbox.store + "/backoff", program: "/bin/sh",
      stdin: "\(vault.user.uid) pam 9 \(boot) 0\n")
    try vault.start()
    _ = try vault.unlock(["method": "password"], in: "first", typing: [vault.password])
    let request: WireClient.Message = ["name": "user-presence", "interactive": true]
    let second = try vault.client(in: "two")
    let first = try vault.converse("Authenticate", request, in: "one") { prompt throws in
      guard prompt["style"] as? String == "secret" else { return .nothing }
      if (prompt["text"] as? String)?.hasSuffix("user-presence") == true { return .leave }
      stand.reader.pause()
      second.send(
        frame: #"{"method":"io.vaultd.Vault.Authenticate","more":true,"#
          + #""parameters":{"name":"user-presence","interactive":true}}"#)
      // The same loop answers this call, so the daemon has read the earlier one.
      #expect(try vault.client(in: "two").call("Status").error == nil)
      return .answer("wrong")
    }
    #expect(first.mentions("login password not accepted"), "\(first)")
    stand.reader.resume()
    let prompt = try #require(try second.reply().prompt)
    #expect(prompt["text"] as? String == "Fingerprint to use user-presence")
  }

  @Test("an unlock counts for the session it was made in") func unlock() throws {
    let stand = try stand()
    defer { stand.close() }
    #expect(try get("password", stand, in: "first") == "of password")
    try stand.vault.lock()
    #expect(try stand.vault.unlock(touching: ["finger-A"], on: stand.reader).reply?.error == nil)
    #expect(try get("user-presence", stand) == "of user-presence")
    #expect(try get("password", stand) == "PresenceRequired")
    #expect(try get("password", stand, in: "first") == "PresenceRequired")
  }

  @Test("after the window, and after a lock, it is asked for again") func window() throws {
    // The windows are one second long; AuthorizationsTests tests both sides of their ends.
    let stand = try stand(reuse: 1, accessible: "after-first-unlock")
    defer { stand.close() }
    let change = try stand.vault.client(in: "first").call(
      "Set",
      ["name": "fresh", "value": "f", "require": "biometry", "accessible": "after-first-unlock", "reuse": 86_400])
    #expect(change.error == nil)
    func fresh() throws -> WireClient.Reply { try stand.vault.client().call("Get", ["name": "fresh"]) }
    // The same proof still counts for one item and no longer for the other, however long this takes.
    for _ in 0..<2 {
      let shown = try stand.vault.converse(
        "Authenticate", ["name": "fresh", "interactive": true], touching: ["finger-A"], on: stand.reader)
      #expect(shown.reply?.error == nil && shown.reply != nil)
      try stand.wait("the window to be over") { try get("biometry", stand) == "PresenceRequired" }
      #expect(try fresh().string("value") == "f")
      try stand.vault.lock()
      #expect(try fresh().error == "PresenceRequired")
    }
  }

  @Test("while locked, items that are served then ask as well", arguments: ["after-first-unlock", "always"])
  func locked(accessible: String) throws {
    let stand = try stand(accessible: accessible)
    defer { stand.close() }
    try stand.vault.lock()
    #expect(try get("none", stand) == "of none")
    #expect(try get("biometry", stand) == "PresenceRequired")
    #expect(try authenticate("biometry", stand, touching: ["finger-A"]).reply?.error == nil)
    #expect(try get("biometry", stand) == "of biometry")
    #expect(try authenticate("password", stand, typing: [stand.vault.password]).reply?.error == nil)
    #expect(try get("password", stand) == "of password")
    #expect(try stand.vault.state() == "locked: by `vault lock`")
    guard accessible == "always" else { return }
    try stand.vault.sandbox.stopDaemon()
    try stand.vault.start()
    #expect(try get("none", stand) == "of none")
    #expect(try get("biometry", stand) == "PresenceRequired")
    #expect(try authenticate("biometry", stand, touching: ["finger-A"]).reply?.error == nil)
    #expect(try get("biometry", stand) == "of biometry")
    #expect(try stand.vault.state() == "cold: the daemon started")
  }

  @Test("a policy is changed by who satisfies the old one, and by nobody else") func policy() throws {
    let stand = try stand()
    defer { stand.close() }
    let client = try stand.vault.client()
    let changes: [WireClient.Message] = [["require": "none"], ["reuse": 86_400], ["accessible": "always"]]
    for change in changes {
      let change = change.merging(["name": "biometry", "update": true]) { old, _ in old }
      #expect(try client.call("Set", change).error == "PresenceRequired")
      let many = try client.call("SetMany", ["items": [["name": "new", "value": "v"], change]])
      #expect(many.error == "PresenceRequired")
    }
    #expect(try client.call("Show", ["name": "new"]).error == "NoSuchItem")
    #expect(try get("biometry", stand) == "PresenceRequired")
    // A change that leaves the policy alone needs no proof: writing is not reading.
    #expect(try client.call("Set", ["name": "biometry", "value": "new", "update": true]).error == nil)
    #expect(try get("biometry", stand) == "PresenceRequired")
    #expect(try authenticate("biometry", stand, touching: ["finger-A"]).reply?.error == nil)
    let allowed = try client.call("Set", ["name": "biometry", "update": true, "require": "none"])
    #expect(allowed.error == nil)
    #expect(try get("biometry", stand, in: "other") == "new")
    for reuse in [0, -1, 86_401] {
      let refused = try client.call("Set", ["name": "x", "value": "v", "require": "password", "reuse": reuse])
      #expect(refused.error?.hasSuffix("InvalidParameter") == true, "\(reuse)")
    }
  }

  @Test("two of a session that ask at once share one prompt, which names both, and another session has its own")
  func shared() throws {
    let stand = try stand()
    defer { stand.close() }
    let vault = stand.vault
    let first = try vault.client(in: "one")
    let request: WireClient.Message = ["name": "biometry", "interactive": true, "reason": "backup"]
    var reply = try first.call("Authenticate", request, more: true)
    while reply.prompt.map({ ($0["text"] as? String)?.hasPrefix("Swipe") != true }) ?? false {
      reply = try first.reply()
    }
    let second = try vault.client(in: "one")
    let joined = try second.call(
      "Authenticate", request.merging(["reason": "mail"]) { $1 }, more: true)
    #expect(joined.prompt?["text"] as? String == "Another program is already asking; its prompt serves both")
    #expect(try first.reply().prompt?["text"] as? String == "Also asked to use biometry (asked by: mail)")
    try stand.reader.touch("finger-A")
    for client in [first, second] {
      let end = try client.reply()
      #expect(end.error == nil && end.prompt == nil)
    }
    #expect(try get("biometry", stand, in: "one") == "of biometry")
    #expect(try get("biometry", stand) == "PresenceRequired")
    #expect(try authenticate("biometry", stand, in: "two", touching: ["finger-A"]).reply?.error == nil)
    #expect(try get("biometry", stand, in: "two") == "of biometry")
  }

  @Test("who dismisses a shared prompt dismisses it for all, and one that another unlock ends goes on for the rest")
  func sharedEnds() throws {
    let stand = try stand(accessible: "always")
    defer { stand.close() }
    let vault = stand.vault
    try vault.lock()
    func ask(_ method: String, _ parameters: WireClient.Message, in session: String) throws -> WireClient {
      let client = try vault.client(in: session)
      let first = try client.call(method, parameters.merging(["interactive": true]) { $1 }, more: true)
      #expect(first.prompt?["style"] as? String == "info")
      return client
    }
    // An unlock asks first, and meanwhile the password opens the vault.
    let unlocking = try ask("Unlock", [:], in: "one")
    let reading = try ask("Authenticate", ["name": "user-presence"], in: "one")
    #expect(try vault.unlock(["method": "password"], in: "three", typing: [vault.password]).reply?.error == nil)
    var reply = try unlocking.reply()
    while reply.prompt != nil { reply = try unlocking.reply() }
    #expect(reply.error == nil)
    reply = try reading.reply()
    #expect(reply.prompt?["text"] as? String == "Fingerprint or login password to use user-presence")
    // The reader may not be released yet; then PAM asks for the password.
    while reply.error == nil, let prompt = reply.prompt {
      if prompt["style"] as? String == "secret", let conversation = reply.string("conversation") {
        let answer: WireClient.Message = ["conversation": conversation, "answer": vault.user.password]
        #expect(try vault.client(in: "one").call("Respond", answer).error == nil)
      } else if (prompt["text"] as? String)?.hasPrefix("Swipe") == true {
        try stand.reader.touch("finger-A")
      }
      reply = try reading.reply()
    }
    #expect(reply.error == nil)
    #expect(try get("user-presence", stand, in: "one") == "of user-presence")

    var one: WireClient? = try ask("Authenticate", ["name": "biometry"], in: "four")
    let two = try ask("Authenticate", ["name": "biometry"], in: "four")
    withExtendedLifetime(one) {}
    one = nil
    #expect(try two.reply().error == "Cancelled")
  }
}
