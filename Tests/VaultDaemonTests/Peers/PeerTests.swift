import Foundation
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

/// Connections whose process has ended; `peers.py` makes them in a pid namespace of its own.
@Suite("The process that connected", .enabled(if: TestUser.canBeMade, "makes a pid namespace, which needs root"))
struct PeerTests {
  private static let script = Repository.root.appending(path: "Tests/VaultDaemonTests/Peers/peers.py").path

  /// Returns the answer in each case, by the case's name.
  private func answers(_ arguments: String...) throws -> [String: String] {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run(
      [
        "--pid", "--fork", "--mount-proc", "--kill-child", "/usr/bin/python3", "-u", Self.script,
        Sandbox.path(of: "vaultd"), sandbox.socket,
      ] + arguments, program: "/usr/bin/unshare")
    guard outcome.status == 0 else { throw SandboxError("\(outcome)") }
    let lines = outcome.output.split(separator: "\n").map { $0.split(separator: ": ").map(String.init) }
    return Dictionary(uniqueKeysWithValues: lines.map { ($0[0], $0.last ?? "") })
  }

  /// Expects the answers that are the same with every kernel.
  private func check(_ answers: [String: String]) {
    for name in ["alive", "alive before the accept", "alive and forgotten"] {
      #expect(answers[name] == "served", "\(name)")
    }
    for name in [
      "ended", "ended before the accept", "ended and forgotten", "zombie", "zombie before the accept",
      "zombie and forgotten", "reused", "reused and forgotten", "waiting",
    ] {
      #expect(answers[name] == "Denied", "\(name)")
    }
    for name in ["Find", "Verify", "Salvage", "Backup", "Rekey"] {
      #expect(answers["going on \(name)"] == "Denied", "\(name)")
    }
    #expect(answers["deriving Init"] == "Denied new")
    #expect(answers["deriving AddSlot"] == "Denied [1]")
    #expect(answers["deriving ChangePassword"] == "Denied served")
    #expect(answers["deriving Rekey"] == "Denied None [1, 2, 3]")
    #expect(answers["deriving Unlock"] == "Denied locked")
    #expect(answers["of a session without leader"] == "served,served PresenceRequired")
    #expect(answers["of a later one of the same number"] == "PresenceRequired")
    #expect(answers["of a session"] == "served,served")
    #expect(answers["of a later session of the same number"] == "PresenceRequired")
  }

  @Test("one that has ended, a zombie and another of the same number are not served") func ended() throws {
    let answers = try answers()
    check(answers)
    #expect(answers["reused before the accept"] == "Denied")
  }

  @Test("on a kernel that tells the number alone, nobody is but who got the number before the accept")
  func oldKernel() throws {
    let answers = try answers("hide")
    check(answers)
    // vault-security(7) documents this remaining case; if it is no longer served, remove the sentence there.
    #expect(answers["reused before the accept"] == "served")
  }

  @Test("a user's vault serves that user's items to nobody else, not even root") func root() throws {
    let vault = try UserVault()
    defer { vault.close() }
    try vault.start()
    let client = try vault.sandbox.client()
    // Everybody may know this much of the vault.
    let status = try client.call("Status")
    #expect(status.string("state") == "new" && (status.parameters["methods"] as? [Any])?.isEmpty == true, "\(status)")
    for method in ["Lock", "ListSlots", "ConfirmGrants"] {
      #expect(try client.call(method).error == "Denied", "\(method)")
    }
    #expect((try vault.client().call("Status").parameters["methods"] as? [Any])?.isEmpty == false)
  }

  @Test("all connections of one process cost one question about it") func asked() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let trace = sandbox.root + "/trace"
    try sandbox.startDaemon(
      through: [
        "/usr/bin/strace", "-D", "-f", "-qq", "-o", trace, "-e", "trace=getsockopt", Sandbox.path(of: "vaultd"),
      ])
    for _ in 0..<10 {
      let client = try sandbox.client()
      for _ in 0..<3 { #expect(try client.call("Status").error == nil) }
    }
    // strace writes each line before the daemon goes on. Not every strace has a name for the option.
    let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").filter {
      $0.contains("0x4d") || $0.contains("SO_PEERPIDFD")
    }
    #expect(calls.count == 1, "\(calls)")
  }
}

@Suite("A process that the daemon cannot see") struct UnseenPeerTests {
  @Test("nobody is taken to sit at it, whose number is 0 here") func system() throws {
    // systemd takes 0 for the calling process, which is this one.
    let own = Peer(uid: geteuid(), gid: getegid(), pid: getpid())
    let process = try #require(PeerProcess.start(of: own.pid).flatMap { PeerProcess(own.pid, started: $0) })
    for pid: pid_t in [0, -1] {
      let caller = Caller(Peer(uid: 0, gid: 0, pid: pid), process, groups: [], KnownProcesses())
      #expect(caller.isSystemService)
    }
  }
}
