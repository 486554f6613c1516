import Foundation
import Testing
import VaultTesting

/// Logins by the real ssh to a real sshd.
@Suite("Logins by the ssh-agent", .enabled(if: SSHHosts.isPossible, SSHHosts.need)) struct SSHLoginTests {
  @Test("ssh logs in by a key of each type, and the log names host, user and key") func types() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let keys = try sshKeyTypes.map { name, type in
      let path = try sandbox.storeKey(name, type)
      return (name: name, path: path, line: try sandbox.publicKey(path))
    }
    for key in keys { try FileManager.default.removeItem(atPath: key.path) }
    let names = [
      "a.test": "ed25519", "b.test": "p256", "c.test": "rsa", "d.test": "p384", "e.test": "p521", "f.test": "rsa3072",
    ]
    let hosts = try SSHHosts(
      sandbox, names.map { ($0.key, sshKeyTypes[$0.value] ?? []) }, authorized: keys.map(\.line))
    for (key, host) in zip(keys, names.keys) {
      let outcome = try hosts.login(host, key: key.path)
      #expect(outcome.output == "in\n", "\(key.name) \(outcome) \(hosts.account()) \(sandbox.daemonLog)")
      let audit = try sandbox.sshAudit()
      #expect(audit.last == "use ok ssh/\(key.name) SSH login to \(host) as `ana`", "\(audit)")
    }
  }

  @Test("a key that a host does not know is not signed with") func unknownKey() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let (known, other) = (try sandbox.storeKey("known"), try sandbox.storeKey("other"))
    let hosts = try SSHHosts(sandbox, [("a.test", ["ed25519"])], authorized: [try sandbox.publicKey(known)])
    for path in [known, other] { try FileManager.default.removeItem(atPath: path) }
    #expect(try hosts.login("a.test", key: other).status == 255)
    #expect(try !sandbox.sshAudit().contains { $0.contains("SSH login") })
    // If the agent offers all keys, ssh finds the right one.
    #expect(try hosts.login("a.test").output == "in\n")
  }

  @Test("a login over a forwarded agent is told apart") func forwarded() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let key = try sandbox.storeKey("a")
    let hosts = try SSHHosts(
      sandbox, [("a.test", ["ed25519"]), ("b.test", ["ed25519"]), ("c.test", ["ed25519"])],
      authorized: [try sandbox.publicKey(key)])
    try FileManager.default.removeItem(atPath: key)
    let last = hosts.hop(to: "c.test", [], "echo there")
    // Each quote of the inner command ends the outer quotes and begins them again.
    let middle = hosts.hop(to: "b.test", ["-A"], last.replacingOccurrences(of: "'", with: #"'\''"#))
    let outcome = try hosts.login("a.test", ["-A"], middle)
    #expect(outcome.output == "there\n", "\(outcome) \(hosts.account()) \(sandbox.daemonLog)")
    let logins = try sandbox.sshAudit().filter { $0.contains("SSH login") }
    #expect(
      logins == [
        "use ok ssh/a SSH login to a.test as `ana`",
        "use ok ssh/a SSH login for someone on a.test, to b.test as `ana`",
        "use ok ssh/a SSH login for someone on a.test, to c.test as `ana`, by way of b.test",
      ])
  }
}
