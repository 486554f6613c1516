import Testing
import VaultTesting

@Suite("A host to which the ssh-agent is forwarded") struct SSHForwardedChangeTests {
  private let host = SSHTestKey(1)
  private let own = SSHTestKey(2)
  private let session = [UInt8].zeros(32)

  /// A connection that comes through the host or, if `isBroken`, from a host that nobody can tell.
  private func far(_ sandbox: Sandbox, isBroken: Bool = false) throws -> WireClient {
    let client = try sandbox.join()
    let signature = (isBroken ? own : host).signature(of: session)
    let bind = [UInt8].bind(host.blob, session, isForwarding: true, signature: signature)
    #expect(try client.code(bind) == (isBroken ? 5 : 6))
    return client
  }

  @Test("neither adds nor removes keys, and neither locks the agent nor unlocks it", arguments: [false, true])
  func changes(isBroken: Bool) throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    #expect(try sandbox.join().code(own.adding("own")) == 6)
    let client = try far(sandbox, isBroken: isBroken)
    #expect(try client.keys().map { $0.name } == ["own"])
    for change in [.removeAll, .remove(own.blob), host.adding("other"), .lock("p"), .unlock("p")] as [[UInt8]] {
      #expect(try client.code(change) == 5, "\(change[0])")
    }
    #expect(try sandbox.join().keys().map { $0.name } == ["own"])
    // It can use the keys all the same.
    #expect(try client.code(.sign(own.blob, .login(own.blob, session))) == 14)
    #expect(try sandbox.join().code(.lock("p")) == 6)
    #expect(try client.code(.unlock("p")) == 5 && client.code(.lock("q")) == 5)
    #expect(try sandbox.join().code(.unlock("p")) == 6 && sandbox.join().keys().count == 1)
  }

  @Test("is in the entries of what it has asked for") func entries() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    #expect(try sandbox.join().code(own.adding("own")) == 6)
    let client = try far(sandbox)
    for change in [.list, .removeAll, .remove(own.blob), host.adding(), .lock("p"), .unlock("p")] as [[UInt8]] {
      _ = try client.code(change)
    }
    let key = SSHTestKey.fingerprint(own.blob)
    let relay = "for someone on an unknown host (\(SSHTestKey.fingerprint(host.blob)))"
    let audit = try sandbox.sshAudit()
    #expect(
      audit.suffix(6) == [
        "find ok 1 key for ssh, \(relay)",
        "use denied ssh-add -D, \(relay)",
        "use denied ssh-add -d of \(key), \(relay)",
        "use denied ssh-add, \(relay)",
        "call denied ssh-agent: ssh-add -x \(relay)",
        "call denied ssh-agent: ssh-add -X \(relay)",
      ], "\(audit)")
  }

  @Test("where ssh-add runs changes nothing", .enabled(if: SSHHosts.isPossible, SSHHosts.need)) func programs() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let key = try sandbox.makeKey("own")
    let hosts = try SSHHosts(sandbox, [("a.test", ["ed25519"])], authorized: [try sandbox.publicKey(key)])
    #expect(try sandbox.ssh("ssh-add", ["-q", key]).status == 0)
    let far = try hosts.login("a.test", ["-A"], "ssh-add -D; ssh-add -d \(key).pub; ssh-add \(key); ssh-add -l")
    #expect(far.output.contains(" own "), "\(far) \(hosts.account())")
    #expect(try sandbox.listed().contains(" own "))
    let refused = try sandbox.sshAudit().filter { $0.hasPrefix("use denied ssh-add") }
    #expect(refused.count == 3 && refused.allSatisfy { $0.hasSuffix(", for someone on a.test") }, "\(refused)")
  }
}
