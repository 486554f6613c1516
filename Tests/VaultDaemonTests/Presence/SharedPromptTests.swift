import Foundation
import Glibc
import Testing
import VaultTesting

@Suite(
  "A prompt that several wait for", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct SharedPromptTests {
  /// Reads on to the next prompt whose text begins with `text`; false if there is none.
  private func reads(_ text: String, _ client: WireClient) throws -> Bool {
    while let prompt = try client.reply().prompt {
      if (prompt["text"] as? String)?.hasPrefix(text) == true { return true }
    }
    return false
  }

  /// Returns the next reply with a prompt of `style`, or the last reply.
  private func next(_ style: String, _ client: WireClient) throws -> WireClient.Reply {
    while true {
      let reply = try client.reply()
      if reply.prompt?["style"] as? String == style || reply.prompt == nil { return reply }
    }
  }

  @Test("who asks for a finger alone does not join one at which the password can be typed") func otherQuestion() throws
  {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    try vault.make()
    _ = try vault.addSlot("file", ["insecure": true])
    _ = try vault.unlock(["method": "password"], in: "first", typing: [vault.password])
    for require in ["user-presence", "biometry"] {
      let set = try vault.client(in: "first").call("Set", ["name": require, "value": "v", "require": require])
      #expect(set.error == nil)
    }
    let client = try vault.client(in: "own")
    let shown = try client.call("Authenticate", ["name": "user-presence", "interactive": true], more: true)
    #expect(shown.prompt?["text"] as? String == "Fingerprint or login password to use user-presence")
    let other = try vault.client(in: "own")
    let waiting = try other.call("Authenticate", ["name": "biometry", "interactive": true], more: true)
    #expect(waiting.prompt?["text"] as? String == "The fingerprint reader is in use; this prompt waits for it")
    // Nobody touches the reader, so the first prompt leaves it, and asks for the password.
    #expect(try reads("Another prompt needs the fingerprint reader", client))
    #expect(try other.reply().prompt?["text"] as? String == "Fingerprint to use biometry")
    #expect(try reads("Fingerprint or login password to use user-presence", client))
  }

  @Test("that nobody answers keeps no other session from a prompt of its own") func silent() throws {
    let vault = try UserVault(pam: PAMService.password)
    defer { vault.close() }
    try vault.make()
    _ = try vault.addSlot("file", ["insecure": true])
    let silent = try vault.client(in: "silent")
    _ = try silent.call("Unlock", ["method": "pam"], more: true)
    #expect(try next("secret", silent).prompt?["text"] as? String == "Login password")
    let own = try vault.unlock(["method": "pam"], typing: [vault.user.password])
    #expect(own.said == ["info Fingerprint or login password to unlock the vault", "secret Login password"])
    #expect(own.reply?.error == nil && own.reply != nil, "\(own)")
    withExtendedLifetime(silent) {}
  }

  @Test("who waits behind one that a lock ended after its answer is given no second answer for it") func locked()
    throws
  {
    let vault = try UserVault(pam: PAMService.password)
    defer { vault.close() }
    // The check of the password waits for the other end of a pipe, which never opens.
    let pipe = vault.sandbox.root + "/pipe"
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    try vault.giveAway(pipe)
    defer {
      let end = unsafe open(pipe, O_RDWR | O_NONBLOCK)
      unsafe unlink(pipe)
      close(end)
    }
    let waiting = "auth required pam_exec.so quiet /bin/cat \(pipe)\n"
    try Data((PAMService.password + waiting).utf8).write(to: URL(fileURLWithPath: "/etc/pam.d/" + vault.service.name))
    try vault.make()
    _ = try vault.addSlot("file", ["insecure": true])
    let first = try vault.client(in: "first")
    _ = try first.call("Unlock", ["method": "pam"], more: true)
    let asked = try next("secret", first)
    let second = try vault.client(in: "first")
    let joined = try second.call("Unlock", ["method": "pam"], more: true)
    #expect(joined.prompt?["text"] as? String == "Another program is already asking; its prompt serves both")
    let answer: WireClient.Message = ["conversation": try #require(asked.string("conversation")), "answer": "wrong"]
    #expect(try vault.client(in: "first").call("Respond", answer).error == nil)
    try vault.lock()
    #expect(try next("secret", first).error == "Cancelled")
    let told = try next("secret", second)
    #expect(told.error == "Cancelled", "\(told)")
  }

  @Test("too many tries, as PAM counts them, have to be waited after like a wrong answer") func tooManyTries() throws {
    let vault = try UserVault(pam: "auth required pam_debug.so auth=maxtries\naccount required pam_unix.so\n")
    defer { vault.close() }
    try vault.make()
    _ = try vault.addSlot("file", ["insecure": true])
    #expect(try vault.unlock(["method": "pam"]).reply?.error == "TooManyTries")
    let failures = try String(contentsOfFile: vault.sandbox.store + "/backoff", encoding: .utf8)
    #expect(failures.hasPrefix("\(vault.user.uid) pam 1 "), "\(failures)")
  }
}
