import Glibc
import NIOCore
import Testing
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// Misbehaving helpers and cancelled checks never cause a hang, never count as success, and leave nothing behind.
@Suite("Presence, broken", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct PresenceAbuseTests {
  private let stand: PresenceStand

  init() throws { stand = try PresenceStand() }

  @Test(
    "a helper that ends without an outcome is a check that broke down, and says how it ended",
    arguments: [
      ("kill -SEGV $$", "vault-pam was ended by signal 11"), ("exit 3", "vault-pam failed with exit code 3"),
      ("exit 0", "vault-pam ended without a result"),
      ("exec <&-; exec sleep 1000", "vault-pam ended without a result"),
      ("exec /nowhere/vault-pam", "vault-pam failed with exit code 127"),
    ])
  func crashes(_ script: String, _ reason: String) throws {
    defer { stand.close() }
    let result = try stand.check("vault", through: stand.script("echo $$ >$pid; " + script))
    #expect(result?.outcome == .broken(reason))
    try stand.waitForEnd(of: stand.pid())
  }

  @Test(
    "a helper that floods or says what it must not is ended",
    arguments: [
      (
        #"while :; do printf '{"prompt":{"style":"info","text":"x"}}\0'; done >&0"#,
        "sent more text than a person reads"
      ),
      (#"printf '{"prompt":{"style":"info","text":"%05000d"}}\0' 0 >&0"#, "sent more text than a person reads"),
      ("while :; do printf %01000d 0; done >&0", "sent something that is not a frame"),
      (#"printf 'nonsense\0' >&0"#, "sent something that is not a frame"),
      (#"printf '{"outcome":"succeeded","extra":1}\0' >&0"#, "sent something that is not a message"),
      (#"printf '{"outcome":"yes"}\0' >&0"#, "sent something that is not a message"),
      (#"printf '{}\0' >&0"#, "sent something that is not a message"),
      (
        #"printf '{"prompt":{"style":"secret","text":"a"}}\0{"prompt":{"style":"secret","text":"b"}}\0' >&0"#,
        "asked again before it was answered"
      ),
    ])
  func floods(_ script: String, _ reason: String) throws {
    defer { stand.close() }
    let result = try stand.check("vault", through: stand.script("echo $$ >$pid; \(script); exec sleep 1000"))
    // The check ends for this reason, not because the helper is silent afterwards.
    #expect(result?.outcome == .broken("vault-pam " + reason), "\(String(describing: result))")
    #expect(result.map { $0.said.count <= 100 } == true)
    try stand.waitForEnd(of: stand.pid())
  }

  @Test("a helper that hangs is ended when its time is up") func hangs() throws {
    defer { stand.close() }
    let script = try stand.script("echo $$ >$pid; exec sleep 1000")
    let silent = try stand.check("vault", through: script, limits: .init(silence: .milliseconds(300)))
    #expect(silent?.outcome.reason?.hasPrefix("vault-pam said nothing for") == true)
    try stand.waitForEnd(of: stand.pid())
    let long = try stand.check("vault", through: script, limits: .init(total: .milliseconds(300)))
    #expect(long?.outcome.reason?.hasPrefix("the check took longer than") == true)
    try stand.waitForEnd(of: stand.pid())
  }

  @Test("the helper's silence is not counted while a person is to answer, but the whole time is")
  func patience() throws {
    defer { stand.close() }
    let script = try stand.script(
      #"echo $$ >$pid; printf '{"prompt":{"style":"secret","text":"x"}}\0' >&0; exec sleep 1000"#)
    // On a busy machine the script starts late, or its question is read late, and the helper is silent until then.
    var unanswered: PresenceStand.Result?
    for silence: Int64 in [50, 500, 5000] {
      unanswered = try stand.check(
        "vault", through: script, limits: .init(silence: .milliseconds(silence), total: .milliseconds(12 * silence)))
      if unanswered?.outcome == .cancelled { break }
    }
    #expect(unanswered?.outcome == .cancelled)
    #expect(unanswered?.said == ["secret x"])
    let answered = try stand.check("vault", through: script, limits: .init(silence: .milliseconds(50))) { _ in
      .answer("y")
    }
    #expect(answered?.outcome.reason?.hasPrefix("vault-pam said nothing for") == true)
    try stand.waitForEnd(of: stand.pid())
  }

  @Test("a check that is given up ends the helper and says nothing more") func cancelled() throws {
    defer { stand.close() }
    let service = try PAMService(PAMService.password)
    defer { service.remove() }
    let real = try stand.script("echo $$ >$pid; exec \"$helper\"")
    #expect(try stand.check(service.name, through: real) { _ in .cancel } == nil)
    try stand.waitForEnd(of: stand.pid())
    let stubborn = try stand.script(
      #"echo $$ >$pid; trap '' HUP TERM; printf '{"prompt":{"style":"info","text":"x"}}\0' >&0; exec sleep 1000"#)
    #expect(try stand.check("vault", through: stubborn) { _ in .cancel } == nil)
    try stand.waitForEnd(of: stand.pid())
  }

  @Test("the helper of the unit ends by itself when the daemon hangs up") func hangUp() throws {
    defer { stand.close() }
    let service = try PAMService(PAMService.password)
    defer { service.remove() }
    let unit = try stand.listen(stand.script("echo $$ >$pid; exec \"$helper\""))
    #expect(try stand.check(service.name) { _ in .cancel } == nil)
    try stand.waitForEnd(of: stand.pid())
    withExtendedLifetime(unit) {}
  }

  @Test("a socket that somebody else could have put there is not asked") func untrusted() throws {
    defer { stand.close() }
    let real = try stand.listen(stand.program)
    let link = stand.sandbox.root + "/link.socket"
    try #require(unsafe symlink(stand.socket, link) == 0)
    let folder = stand.sandbox.root + "/open"
    try #require(unsafe mkdir(folder, 0o777) == 0)
    unsafe chmod(folder, 0o777)
    let open = try Activation(folder + "/pam.socket", in: stand.sandbox, command: [stand.program])
    let foreign = stand.sandbox.home + "/pam.socket"
    let theirs = try Activation(foreign, in: stand.sandbox, command: [stand.program])
    try #require(unsafe chown(foreign, stand.user.uid, 0) == 0)
    let file = try stand.sandbox.write("", to: "file.socket")
    for path in [link, folder + "/pam.socket", foreign, file] {
      let outcome = try stand.check("vault", socket: path)?.outcome
      #expect(
        outcome?.reason?.contains("others can replace it") == true,
        "\(path): \(String(describing: outcome))")
    }
    withExtendedLifetime((real, open, theirs)) {}
  }

  @Test("a socket at its place at which somebody else listens is not asked") func foreignListener() throws {
    defer { stand.close() }
    let listener = """
      import os, signal, socket, sys
      listening = socket.socket(socket.AF_UNIX)
      listening.bind(sys.argv[1])
      os.setuid(int(sys.argv[2]))
      listening.listen()
      print("listening", flush=True)
      os.close(1)
      signal.pause()
      """
    // The listener ends with the sandbox.
    let started = try stand.sandbox.run(
      "-c", "/usr/bin/python3 -c \"$0\" \"$@\" 2>/dev/null & exit 0", listener, stand.socket, "\(stand.user.uid)",
      program: "/bin/sh")
    #expect(started.output == "listening\n", "\(started)")
    let outcome = try stand.check("vault")?.outcome
    #expect(
      outcome
        == .unavailable("\(stand.socket) is served by uid \(stand.user.uid), which is the wrong user"),
      "\(String(describing: outcome))")
  }

  @Test("a socket that nobody listens on any more is as good as none") func stale() throws {
    defer { stand.close() }
    let service = try PAMService(PAMService.password)
    defer { service.remove() }
    var unit: Activation? = try stand.listen("/bin/false")
    let broken = try stand.check(service.name)
    #expect(broken?.outcome == .broken("vault-pam closed the connection without a result"))
    withExtendedLifetime(unit) {}
    unit = nil
    try #require(unsafe access(stand.socket, F_OK) == 0)
    let right = try stand.check(service.name) { [password = stand.user.password] _ in .answer(password) }
    #expect(right?.outcome == .succeeded)
  }
}
