import Foundation
import Glibc
import Testing
import VaultTesting

/// pam_vault.so in real logins of a real user, with the real daemon.
@Suite("A login", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct LoginTests {
  let new = "another login password"

  @Test("opens the vault") func opens() throws {
    try LoginStand.with { (stand) throws in
      try stand.makeVault()
      #expect(try stand.state() == "locked")
      #expect(try stand.logIn().status == 0)
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
      #expect(try stand.logIn().status == 0)
    }
  }

  @Test("starts the daemon where none runs, and does without where there is no vault") func startsTheDaemon() throws {
    try LoginStand.with { (stand) throws in
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
    try LoginStand.with(session: (environment, "")) { (stand) throws in
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
      // proc(5): the fields behind the name begin with the third. The 19th is the niceness, the 41st the scheduling
      // policy.
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
    try LoginStand.with { (stand) throws in
      try stand.makeVault()
      // Descriptor 3 is the fourth file of the login.
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
    try LoginStand.with { (stand) throws in
      try stand.makeVault()
      #expect(try stand.logIn(asUser: true).status == 0)
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
    }
  }

  @Test("of one user that begins the session of another, as sudo does, takes nothing of the one to the other's vault")
  func otherUser() throws {
    try LoginStand.with(session: ("session required ROOT/other.so USER", "")) { (stand) throws in
      try OtherUserModule.build(at: stand.sandbox.root + "/other.so", in: stand.sandbox)
      let asked = try TestUser(in: stand.sandbox)
      defer { asked.remove() }
      // This password would open the vault if the module tried it.
      try stand.makeVault(login: asked.password)
      let login = try stand.pamtester(
        "authenticate", "acct_mgmt", "open_session", typed: [asked.password], user: asked)
      #expect(login.status == 0, "\(login)")
      #expect(try stand.state() == "locked")
      // The positive control: the user's own password is tried, behind the same PAM lines.
      #expect(try stand.loginSlot()["stale"] == nil)
      #expect(try stand.logIn().status == 0)
      try stand.wait("the slot to be marked") { try stand.loginSlot()["stale"] as? Bool == true }
      #expect(try stand.state() == "locked")
    }
  }

  @Test("shows its memory to no process of the user's: not before its worker becomes the user, and not after")
  func notDumpable() throws {
    try LoginStand.with { (stand) throws in
      try stand.makeVault()
      let trace = stand.sandbox.root + "/trace"
      let login = try stand.pamtester(
        "authenticate", "acct_mgmt", "open_session", typed: [stand.user.password],
        identity: [
          "--clear-groups", "/usr/bin/strace", "-f", "-qq", "-o", trace, "-e", "trace=prctl,setresuid,connect",
        ])
      #expect(login.status == 0, "\(login)")
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
      // The calls of each process in order: `17 setresuid(…) = 0`.
      var calls: [Substring: [Substring]] = [:]
      for line in try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n") {
        let parts = line.split(separator: " ", maxSplits: 1)
        calls[parts[0], default: []].append(parts[1].drop { $0 == " " })
      }
      let becoming = "setresuid(\(stand.user.uid), \(stand.user.uid), \(stand.user.uid)"
      let worker = try #require(calls.values.first { $0.contains { $0.hasPrefix(becoming) } }, "\(calls)")
      let become = try #require(worker.firstIndex { $0.hasPrefix(becoming) })
      // The process that talks to the daemon has the password in its memory, which is a copy of the login's.
      let connect = try #require(worker.firstIndex { $0.hasPrefix("connect(") && $0.contains("\"socket\"") })
      func hides(_ part: ArraySlice<Substring>) -> Bool {
        part.contains { $0.hasPrefix("prctl(PR_SET_DUMPABLE, SUID_DUMP_DISABLE") }
      }
      #expect(hides(worker[..<become]), "\(worker)")
      #expect(become < connect && hides(worker[become..<connect]), "\(worker)")
    }
  }

  @Test("with a wrong password is none, and is not held against the vault's slot") func wrongPassword() throws {
    try LoginStand.with { (stand) throws in
      try stand.makeVault()
      #expect(try stand.logIn("a wrong password").status != 0)
      #expect(try stand.state() == "locked")
      #expect(try stand.login().isPossible == true)
    }
  }

  @Test("takes any bytes for a password") func anyBytes() throws {
    try LoginStand.with { (stand) throws in
      let odd = "q\"\\ \u{7f}é{}'$%" + String(repeating: "z", count: 90)
      try stand.pamtester("chauthtok", typed: [odd, odd])
      try stand.makeVault(login: odd)
      #expect(try stand.logIn(odd).status == 0)
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
    }
  }
}
