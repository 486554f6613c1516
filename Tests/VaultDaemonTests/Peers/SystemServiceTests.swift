import Foundation
import Glibc
import Testing
import VaultTesting

/// This process as a client that the daemon sees in a unit of the system manager or of its user's manager. Only the
/// daemon's mounts replace the kernel's record of this process's control group.
@Suite(
  "A client in a system service", .enabled(if: Root.isAtHand, "gives the daemon mounts of its own, which needs root"))
struct SystemServiceTests {
  private static let password = "correct horse battery"

  /// Unlocks a vault with an item that requires the password, with a daemon that sees this process in `group`.
  private func withDaemon(_ group: String, _ body: (WireClient, MachineClock) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let clock = try MachineClock(in: sandbox)
    _ = try sandbox.makeVault(password: Self.password, config: "idle = 1h\nmaximum-age = off")
    try sandbox.stopDaemon()
    // The file has the lines of both versions of control groups (cgroups(7)).
    let groups = try sandbox.write("1:name=systemd:\(group)\n0::\(group)\n", to: "groups")
    let script = "mount --bind \(groups) /proc/\(getpid())/cgroup && exec \(Sandbox.path(of: "vaultd")) \"$@\""
    try sandbox.startDaemon(
      through: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, "sh"])
    #expect(try sandbox.unlock(Self.password)?.error == nil)
    let client = try sandbox.client()
    #expect(try client.call("Set", ["name": "guarded", "value": "v", "require": "password", "reuse": 1]).error == nil)
    try body(client, clock)
  }

  private static let units: [(group: String, isSystem: Bool)] = [
    ("/system.slice/poller.service", true), ("/user.slice/user-0.slice/user@0.service/a.service", false),
    ("/user.slice/user-0.slice/session-1.scope", false),
  ]

  @Test("does not move the idle deadline, whatever it says; a person's programs do", arguments: units)
  func idle(group: String, isSystem: Bool) throws {
    try withDaemon(group) { client, clock in
      func left() throws -> Int { try #require(try client.call("Status").integer("locks_at")) - Int(time(nil)) }
      #expect(try (3001...3600).contains(left()))
      try clock.pass(seconds: 600)
      _ = try client.call("Get", ["name": "guarded", "interactive": false])
      #expect(try (2400...3000).contains(left()))
      _ = try client.call("Get", ["name": "guarded", "interactive": true])
      #expect(try (isSystem ? 2400...3000 : 3001...3600).contains(left()))
    }
  }

  @Test("has nobody asked to show that a person is there", arguments: units) func asks(group: String, isSystem: Bool)
    throws
  {
    try withDaemon(group) { client, clock in
      // The presence proven by the unlock no longer counts.
      try clock.pass(seconds: 60)
      let reply = try client.call("Authenticate", ["name": "guarded", "interactive": true], more: true)
      if isSystem {
        #expect(reply.error == "PresenceRequired", "\(reply)")
      } else {
        #expect(reply.prompt != nil, "\(reply)")
      }
    }
  }
}
