import Foundation
import Glibc
import Testing
import VaultTesting

/// pam_vault.so in real logins of a real user, with the real daemon.
@Suite("A login", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct LoginTests {
  private let new = "another login password"

  private func withStand(
    session: (before: String, behind: String) = ("", ""), _ body: (LoginStand) throws -> Void
  ) throws {
    let stand = try LoginStand(session: session)
    defer { stand.close() }
    try body(stand)
  }

  @Test("opens the vault") func opens() throws {
    try withStand { (stand) throws in
      try stand.makeVault()
      #expect(try stand.state() == "cold")
      #expect(try stand.logIn().status == 0)
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
      #expect(try stand.logIn().status == 0)
    }
  }

  @Test("starts the daemon where none runs, and does without where there is no vault") func startsTheDaemon() throws {
    try withStand { (stand) throws in
      #expect(try stand.logIn().status == 0)
      #expect(try stand.state() == nil)
      try stand.makeVault()
      try stand.endDaemon()
      #expect(try stand.logIn().status == 0)
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
      let pid = try #require(stand.sandbox.daemonPid)
      let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
      let uid = String(stand.user.uid)
      #expect(status.contains("\nUid:\t\(uid)\t\(uid)\t\(uid)\t\(uid)\n"))
      #expect(status.contains("\nGroups:\t\(uid) \n"))
    }
  }

  @Test("starts it without what the login program was started with: niceness, limits, variables of PAM's modules")
  func startsItAnew() throws {
    let environment = "session required pam_env.so conffile=/dev/null readenv=1 envfile=ROOT/env"
    try withStand(session: (environment, "")) { (stand) throws in
      try "LD_PRELOAD=/nonexistent/evil.so\nNOTIFY_SOCKET=@foreign\nLC_TIME=C\n".write(
        toFile: stand.sandbox.root + "/env", atomically: true, encoding: .utf8)
      try stand.makeVault()
      try stand.endDaemon()
      let burdens = [
        "--clear-groups", "/bin/sh", "-c", "trap '' USR2 WINCH; exec \"$@\"", "sh", "/usr/bin/choom", "-n", "300", "--",
        "/usr/bin/nice", "-n", "7", "/usr/bin/chrt", "--batch",
        "0",
        "/usr/bin/setarch", "--addr-no-randomize", "/usr/bin/prlimit", "--fsize=1000000:", "--cpu=1000:",
        "--nofile=200:",
      ]
      let login = try stand.pamtester(
        "authenticate", "acct_mgmt", "open_session", typed: [stand.user.password], identity: burdens)
      #expect(login.status == 0, "\(login)")
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
      let process = "/proc/\(try #require(stand.sandbox.daemonPid))"
      func text(_ name: String) throws -> String { try String(contentsOfFile: "\(process)/\(name)", encoding: .utf8) }
      let variables = try text("environ")
      #expect(
        !variables.contains("LD_PRELOAD") && !variables.contains("NOTIFY_SOCKET") && variables.contains("LC_TIME=C"))
      // proc(5): behind the name come the fields from the third on; the 19th is the niceness, the 41st the policy.
      let fields = try text("stat").split(separator: ")")[1].split(separator: " ")
      #expect(fields[16] == "0" && fields[38] == "0")
      let ignored = try #require(try text("status").split(separator: "\n").first { $0.hasPrefix("SigIgn:") })
      let signals = UInt64(ignored.split(separator: "\t")[1], radix: 16) ?? .max
      for signal in [SIGUSR2, SIGWINCH] { #expect(signals >> UInt64(signal - 1) & 1 == 0, "\(ignored)") }
      #expect(try text("oom_score_adj") == "0\n")
      #expect(try text("personality") == "00000000\n")
      for limit in try text("limits").split(separator: "\n").dropFirst() {
        let columns = limit.split(separator: "  ", omittingEmptySubsequences: true).map {
          $0.trimmingCharacters(in: .whitespaces)
        }
        if ["Max file size", "Max cpu time"].contains(columns[0]) { #expect(columns[1] == columns[2], "\(limit)") }
        if columns[0] == "Max open files" { #expect(columns[1] != "200", "\(limit)") }
      }
    }
  }

  @Test("writes nothing into the login's own files, however few it may open") func fewFiles() throws {
    try withStand { (stand) throws in
      try stand.makeVault()
      // The fourth file of the login's.
      let own = stand.sandbox.root + "/own"
      let login = try stand.pamtester(
        "authenticate", "acct_mgmt", "open_session", typed: [stand.user.password],
        identity: ["--clear-groups", "/bin/sh", "-c", "exec 3>>\(own); exec prlimit --nofile=10: \"$@\"", "sh"])
      #expect(login.status == 0, "\(login)")
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
      #expect(FileManager.default.contents(atPath: own) == Data())
    }
  }

  @Test("needs no root: a program of the user's own, such as a screen locker, opens it as well") func asUser() throws {
    try withStand { (stand) throws in
      try stand.makeVault()
      #expect(try stand.logIn(asUser: true).status == 0)
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
    }
  }

  @Test("of one user that begins the session of another, as sudo does, takes nothing of the one to the other's vault")
  func otherUser() throws {
    try withStand(session: ("session required ROOT/other.so USER", "")) { (stand) throws in
      try OtherUserModule.build(at: stand.sandbox.root + "/other.so", in: stand.sandbox)
      let asked = try TestUser(in: stand.sandbox)
      defer { asked.remove() }
      // It would open the vault, were it tried.
      try stand.makeVault(login: asked.password)
      let login = try stand.pamtester(
        "authenticate", "acct_mgmt", "open_session", typed: [asked.password], user: asked)
      #expect(login.status == 0, "\(login)")
      #expect(try stand.state() == "cold")
      // The positive control: the user's own password is tried, behind the same lines.
      #expect(try stand.loginSlot()["stale"] == nil)
      #expect(try stand.logIn().status == 0)
      try stand.wait("the slot to be marked") { try stand.loginSlot()["stale"] as? Bool == true }
      #expect(try stand.state() == "cold")
    }
  }

  @Test("shows its memory to no process of the user's: not before its worker becomes the user, and not after")
  func notDumpable() throws {
    try withStand { (stand) throws in
      try stand.makeVault()
      let trace = stand.sandbox.root + "/trace"
      let login = try stand.pamtester(
        "authenticate", "acct_mgmt", "open_session", typed: [stand.user.password],
        identity: [
          "--clear-groups", "/usr/bin/strace", "-f", "-qq", "-o", trace, "-e", "trace=prctl,setresuid,connect",
        ])
      #expect(login.status == 0, "\(login)")
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
      // A process's calls in their order: `17 setresuid(…) = 0`.
      var calls: [Substring: [Substring]] = [:]
      for line in try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n") {
        let parts = line.split(separator: " ", maxSplits: 1)
        calls[parts[0], default: []].append(parts[1].drop { $0 == " " })
      }
      let becoming = "setresuid(\(stand.user.uid), \(stand.user.uid), \(stand.user.uid)"
      let worker = try #require(calls.values.first { $0.contains { $0.hasPrefix(becoming) } }, "\(calls)")
      let become = try #require(worker.firstIndex { $0.hasPrefix(becoming) })
      // Whoever speaks with the daemon has the password, and so has what was copied with the login's memory.
      let connect = try #require(worker.firstIndex { $0.hasPrefix("connect(") && $0.contains("\"socket\"") })
      func hides(_ part: ArraySlice<Substring>) -> Bool {
        part.contains { $0.hasPrefix("prctl(PR_SET_DUMPABLE, SUID_DUMP_DISABLE") }
      }
      #expect(hides(worker[..<become]), "\(worker)")
      #expect(become < connect && hides(worker[become..<connect]), "\(worker)")
    }
  }

  @Test("with a wrong password is none, and is not held against the vault's slot") func wrongPassword() throws {
    try withStand { (stand) throws in
      try stand.makeVault()
      #expect(try stand.logIn("a wrong password").status != 0)
      #expect(try stand.state() == "cold")
      #expect(try stand.login().isPossible == true)
    }
  }

  @Test("takes any bytes for a password") func anyBytes() throws {
    try withStand { (stand) throws in
      let odd = "q\"\\ \u{7f}é{}'$%" + String(repeating: "z", count: 90)
      try stand.pamtester("chauthtok", typed: [odd, odd])
      try stand.makeVault(login: odd)
      #expect(try stand.logIn(odd).status == 0)
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
    }
  }

  // MARK: Servers that are none

  /// Answers what the module said to `command` in the daemon's place, and how much longer a login took because of it.
  private func told(
    _ stand: LoginStand, as user: TestUser?, command: String
  ) throws -> (said: String, seconds: Double) {
    let folder = stand.sandbox.runtime + "/vault"
    unsafe mkdir(folder, 0o700)
    unsafe chown(folder, stand.user.uid, stand.user.uid)
    let clock = ContinuousClock()
    func time() throws -> Duration {
      let start = clock.now
      #expect(try stand.logIn().status == 0)
      return clock.now - start
    }
    let usual = try time()
    let file = stand.sandbox.home + "/said"
    let server = try Activation(
      stand.sandbox.socket, in: stand.sandbox, command: ["/bin/sh", "-c", command.replacing("FILE", with: file)],
      as: user)
    unsafe chmod(stand.sandbox.socket, 0o777)
    let more = try time() - usual
    withExtendedLifetime(server) {}
    return ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "", more / .seconds(1))
  }

  @Test("waits two seconds at most for a silent daemon, which learns no password") func silentDaemon() throws {
    try withStand { (stand) throws in
      let (said, seconds) = try told(stand, as: stand.user, command: "exec cat >>FILE")
      #expect(said == #"{"method":"io.vaultd.Vault.Unlock","parameters":{"method":"login"},"more":true}"# + "\0")
      #expect(seconds < 2)
    }
  }

  @Test(
    "does not mind a daemon that hangs up, or talks nonsense",
    arguments: [
      "exit", "exec yes", "printf '{}\\0'; exec cat", "yes '{\"prompt\":{' | head -c 9999999 | tr '\\n' '\\0'",
    ])
  func brokenDaemon(command: String) throws {
    try withStand { (stand) throws in
      #expect(try told(stand, as: stand.user, command: command).seconds < 2)
    }
  }

  @Test("says nothing to a socket that another user serves") func foreignServer() throws {
    try withStand { (stand) throws in
      let (said, seconds) = try told(stand, as: nil, command: "cat >>FILE")
      #expect(said == "")
      #expect(seconds < 2)
    }
  }

  @Test("does not go into a directory that others may read or write") func openDirectory() throws {
    try withStand { (stand) throws in
      try stand.makeVault()
      for mode in [0o777, 0o755, 0o701, 0o740] as [mode_t] {
        unsafe chmod(stand.sandbox.runtime + "/vault", mode)
        #expect(try stand.logIn().status == 0)
        unsafe chmod(stand.sandbox.runtime + "/vault", 0o700)
        #expect(try stand.state() == "cold", "\(mode)")
      }
    }
  }

  @Test("gives no password to a conversation whose name is none", arguments: [#"c0\\"x"#, "c0 x", "C0", "c0,"])
  func strangeName(name: String) throws {
    try withStand { (stand) throws in
      let prompt =
        #"{"parameters":{"conversation":"\#(name)","prompt":{"style":"secret","method":"login","text":"t"}},"continues":true}\0"#
      let (said, seconds) = try told(
        stand, as: stand.user, command: "head -zn1 >>FILE; printf '\(prompt)'; exec cat >>FILE")
      #expect(said == #"{"method":"io.vaultd.Vault.Unlock","parameters":{"method":"login"},"more":true}"# + "\0")
      #expect(seconds < 2)
    }
  }

  // MARK: Another password

  @Test("after the password was changed opens the vault with the new one") func changed() throws {
    try withStand { (stand) throws in
      try stand.makeVault()
      // As passwd(1) runs: for the user, with root's rights.
      let changed = try stand.pamtester(
        "chauthtok", typed: [stand.user.password, new, new], identity: ["--ruid=\(stand.user.uid)"])
      #expect(changed.status == 0, "\(changed)")
      try stand.wait("the slot to take the new password") {
        try stand.loginSlot()["kdf_memory"] as? Int != LoginStand.floorMemory
      }
      #expect(try stand.logIn(stand.user.password).status != 0)
      #expect(try stand.logIn(new).status == 0)
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
    }
  }

  @Test("with a password that has run out opens the vault with the one that follows it") func expired() throws {
    try withStand { (stand) throws in
      try stand.makeVault()
      try stand.user.change("chage", "-d0")
      let came = try stand.pamtester(
        "authenticate", "chauthtok(PAM_CHANGE_EXPIRED_AUTHTOK)", "open_session",
        typed: [stand.user.password, stand.user.password, new, new])
      #expect(came.status == 0, "\(came)")
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
      #expect(try stand.loginSlot()["kdf_memory"] as? Int != LoginStand.floorMemory)
      try stand.vault("lock")
      #expect(try stand.logIn(new).status == 0)
      try stand.wait("the vault to open again") { try stand.state() == "unlocked" }
    }
  }

  @Test("after a reset is not tried on the slot, until that has the new password") func reset() throws {
    try withStand { (stand) throws in
      try stand.makeVault()
      #expect(try stand.pamtester("chauthtok", typed: [new, new]).status == 0)
      try stand.wait("the slot to be marked") { try stand.loginSlot()["stale"] as? Bool == true }
      #expect(try stand.vault("slot", "list").output.contains("login (stale)"))
      #expect(try stand.login().reason?.contains("vault passwd --login") == true)
      #expect(try stand.logIn(new).status == 0)
      #expect(try stand.state() == "cold")
      let typed = "\(LoginStand.vaultPassword)\n\(new)\n"
      #expect(try stand.vault("passwd", "--login", "--password-stdin", stdin: typed).status == 0)
      #expect(try stand.loginSlot()["stale"] == nil)
      #expect(try stand.login().isPossible == true)
      #expect(try stand.logIn(new).status == 0)
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
    }
  }

  @Test("marks a slot that does not fit the password, though no change was seen") func unseenChange() throws {
    try withStand { (stand) throws in
      try stand.makeVault(login: "an earlier password")
      #expect(try stand.logIn().status == 0)
      try stand.wait("the slot to be marked") { try stand.loginSlot()["stale"] as? Bool == true }
      #expect(try stand.state() == "cold")
      // The vault's own password knows nothing of that.
      #expect(try stand.vault("unlock", "--password-stdin", stdin: LoginStand.vaultPassword + "\n").status == 0)
    }
  }

  @Test("after a change of a password that the slot never had marks it") func wrongOldPassword() throws {
    try withStand { (stand) throws in
      try stand.makeVault(login: "an earlier password")
      let changed = try stand.pamtester(
        "chauthtok", typed: [stand.user.password, new, new], identity: ["--ruid=\(stand.user.uid)"])
      #expect(changed.status == 0, "\(changed)")
      try stand.wait("the slot to be marked") { try stand.loginSlot()["stale"] as? Bool == true }
    }
  }

  // MARK: What stays behind

  /// What a login that has come to `place`, beside the module's line, has in memory of the password, and which children.
  private func held(_ place: WritableKeyPath<(before: String, behind: String), String>) throws -> (Set<String>, Int) {
    var lines = (before: "", behind: "")
    lines[keyPath: place] = "session required pam_exec.so quiet ROOT/pause"
    var found: Set<String> = []
    var children = 0
    try withStand(session: lines) { (stand) throws in
      try stand.makeVault()
      let root = stand.sandbox.root
      // The parent of what pam_exec starts is the login.
      let script = "#!/bin/sh\necho $PPID >\(root)/pid.new; mv \(root)/pid.new \(root)/pid; read word <\(root)/go\n"
      try stand.sandbox.run(
        "-c", "mkfifo \(root)/go; cat >\(root)/pause; chmod 755 \(root)/pause", program: "/bin/sh", stdin: script)
      let login = Thread { _ = try? stand.logIn() }
      login.start()
      defer {
        try? Data("on\n".utf8).write(to: URL(fileURLWithPath: root + "/go"))
        while !login.isFinished { usleep(1000) }
      }
      try stand.wait("the login to come to the line") { FileManager.default.fileExists(atPath: root + "/pid") }
      let text = try String(contentsOfFile: root + "/pid", encoding: .utf8)
      let pid = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
      found = try MemorySearch(pid: pid).find(Array(stand.user.password.utf8))
      let list = try String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
      children = list.split(separator: " ").count
    }
    return (found, children)
  }

  @Test("leaves no password in the login program's memory, and no child") func memory() throws {
    let before = try held(\.before)
    #expect(before.0.contains("raw"), "the search finds it while it is kept")
    let behind = try held(\.behind)
    #expect(behind.0 == [])
    #expect(behind.1 == 1, "what pam_exec runs, and nothing else")
  }
}
