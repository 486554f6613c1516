import Foundation
import Testing
import VaultTesting

/// Keys that `ssh-add -h` restricts to hosts, and the sessions to which ssh binds a connection.
@Suite("Keys of the ssh-agent for certain hosts") struct SSHDestinationTests {
  @Test(
    "a key is used on the way that it was added for alone, directly and over hosts that forward the agent",
    .enabled(if: SSHHosts.isPossible, SSHHosts.need))
  func hops() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let key = try sandbox.makeKey("own")
    let hosts = try SSHHosts(
      sandbox, [("a.test", ["ed25519"]), ("b.test", ["ecdsa"]), ("c.test", ["rsa"])],
      authorized: [try sandbox.publicKey(key)])
    let elsewhere = sandbox.root + "/elsewhere"
    try FileManager.default.moveItem(atPath: key, toPath: elsewhere)
    try FileManager.default.copyItem(atPath: key + ".pub", toPath: elsewhere + ".pub")
    func add(_ steps: String...) throws {
      let added = try sandbox.ssh(
        "ssh-add", ["-q", "-H", hosts.knownHosts] + steps.flatMap { ["-h", $0] } + [elsewhere])
      try #require(added.status == 0, "\(added) \(sandbox.daemonLog)")
    }
    func reaches(_ names: String...) throws -> String {
      var command = "echo in"
      for (index, name) in names.enumerated().reversed().dropLast() {
        let hop = hosts.hop(to: name, ["-A"], command)
        command = index == 1 ? hop : hop.replacingOccurrences(of: "'", with: #"'\''"#)
      }
      let outcome = try hosts.login(names[0], names.count > 1 ? ["-A"] : [], command)
      return outcome.output == "in\n" ? "yes" : "no"
    }
    try add("a.test")
    #expect(try reaches("a.test") == "yes", "\(hosts.account()) \(sandbox.daemonLog)")
    #expect(try reaches("b.test") == "no")
    #expect(try reaches("a.test", "b.test") == "no")
    // On the host, the key is neither shown nor can it be removed.
    let far = try hosts.login("a.test", ["-A"], "ssh-add -L; ssh-add -D; ssh-add -l")
    #expect(far.output.contains("The agent has no identities.") && !far.output.contains("ssh-ed25519"), "\(far)")
    #expect(try sandbox.listed().contains(" own "))
    // Only on this machine can the key be added again, with more steps.
    try add("a.test", "a.test>b.test")
    #expect(try reaches("a.test", "b.test") == "yes", "\(hosts.account()) \(sandbox.daemonLog)")
    #expect(try reaches("b.test") == "no")
    #expect(try reaches("a.test", "c.test") == "no")
    #expect(try reaches("a.test", "b.test", "c.test") == "no")
    #expect(try hosts.login("a.test", ["-A"], "ssh-add -L").output.contains("ssh-ed25519"))
    try add("a.test", "a.test>b.test", "b.test>c.test")
    #expect(try reaches("a.test", "b.test", "c.test") == "yes", "\(hosts.account()) \(sandbox.daemonLog)")
    #expect(try reaches("a.test", "c.test") == "no")
    // A key that is restricted to another user of the host.
    try add("root@a.test")
    #expect(try reaches("a.test") == "no")
    // A key without restrictions is good for every way.
    #expect(try sandbox.ssh("ssh-add", ["-q", elsewhere]).status == 0)
    #expect(try reaches("a.test", "b.test", "c.test") == "yes")
    // A message is no login, so a restricted key does not sign it.
    try add("a.test")
    let file = try sandbox.write("x", to: "file")
    #expect(try sandbox.ssh("ssh-keygen", ["-Y", "sign", "-f", key + ".pub", "-n", "file", file]).status != 0)
  }

  @Test("a connection is bound by what hosts have signed alone, once for each session, and not after a login")
  func binds()
    throws
  {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let (first, second, own) = (SSHTestKey(0x31), SSHTestKey(0x32), SSHTestKey(0x33))
    let (session, other) = ([UInt8](repeating: 0x73, count: 32), [UInt8](repeating: 0x6f, count: 32))
    let nobody = Self.host()
    let toFirst = Self.step(nobody, Self.host(first, "first"))
    let onToSecond = Self.step(Self.host(first, "first"), Self.host(second, "second"))
    #expect(try sandbox.join().code(own.adding(constraints: Self.destinations(toFirst, onToSecond))) == 6)
    func signs(_ client: WireClient, _ session: [UInt8], host: SSHTestKey? = nil) throws -> Bool {
      try client.code(.sign(own.blob, .login(own.blob, session, host: host?.blob))) == 14
    }
    func shown(_ client: WireClient) throws -> Bool { try client.keys().contains { $0.blob == own.blob } }
    func bind(_ host: SSHTestKey, _ session: [UInt8], _ isForwarding: Bool = false) -> [UInt8] {
      .bind(host, session, isForwarding: isForwarding)
    }
    func forged(_ host: [UInt8], _ signature: [UInt8], _ isForwarding: Bool = false) -> [UInt8] {
      .bind(host, session, isForwarding: isForwarding, signature: signature)
    }

    var client = try sandbox.join()
    #expect(try shown(client) && !signs(client, session), "without a bind")
    // Forged: by another key, over another session, with a byte changed, cut, and none.
    let good = first.signature(of: session)
    for bad in [
      second.signature(of: session), first.signature(of: other), good.dropLast() + [good[good.count - 1] ^ 1],
      good.dropLast(), [], good + [0x78], .string("ssh-rsa") + good.dropFirst(15),
    ] as [[UInt8]] {
      client = try sandbox.join()
      #expect(try client.code(forged(first.blob, bad)) == 5, "\(bad)")
      #expect(try !signs(client, session) && !shown(client))
      // A connection that may come from another host removes no keys.
      #expect(try client.code(.remove(own.blob)) == 5 && client.code(.removeAll) == 5 && shown(sandbox.join()))
    }
    let whole = bind(first, session)
    for broken in [
      whole.dropLast(), whole + [0x78], bind(first, Array("short".utf8)), whole.dropLast() + [2],
    ] as [[UInt8]] {
      client = try sandbox.join()
      #expect(try client.code(broken) == 5 && !shown(client), "\(broken)")
    }
    // A login at the first host.
    client = try sandbox.join()
    #expect(try client.code(whole) == 6)
    #expect(try signs(client, session) && signs(client, session, host: first) && shown(client))
    #expect(try !signs(client, other) && !signs(client, session, host: second))
    // Nothing comes after a login, the same one included.
    for late in [bind(second, other), bind(second, other, true), bind(second, session)] {
      #expect(try client.code(late) == 5)
    }
    #expect(try signs(client, session))
    // One session has one host key.
    client = try sandbox.join()
    #expect(try client.code(bind(first, session, true)) == 6)
    #expect(try client.code(bind(second, session, true)) == 5 && client.code(bind(second, session)) == 5)
    #expect(try client.code(bind(first, session, true)) == 6)
    #expect(try !signs(client, session), "by the one that forwards")
    #expect(try client.code(bind(second, other)) == 6)
    #expect(try signs(client, other, host: second) && !signs(client, other), "a login at the second, bound to its host")
    #expect(try !signs(client, session, host: first))
    // After one that did not hold nothing can be told of where the connection comes from, and no other one holds.
    for begun in [forged(first.blob, second.signature(of: session), true), bind(first, session, true).dropLast()] {
      client = try sandbox.join()
      #expect(try client.code(begun) == 5 && client.code(bind(first, session)) == 5)
      #expect(try !signs(client, session) && !shown(client))
    }
    // One that is sent while the agent is locked is one all the same.
    #expect(try sandbox.join().code(.lock("p")) == 6)
    client = try sandbox.join()
    #expect(try client.code(bind(first, session, true)) == 6 && client.keys().isEmpty)
    #expect(try sandbox.join().code(.unlock("p")) == 6)
    #expect(try client.code(bind(second, other)) == 6 && signs(client, other, host: second))
    #expect(try !signs(client, session) && !signs(client, other))
    // A host that proves itself by a certificate is a host like others, but matches nothing.
    let nonce = [UInt8](repeating: 0x6e, count: 32)
    let certificate: [UInt8] =
      .string("ssh-ed25519-cert-v01@openssh.com") + .string(nonce) + .string(first.publicKey) + .zeros(40)
    client = try sandbox.join()
    #expect(try client.code(forged(certificate, first.signature(of: session), true)) == 6)
    #expect(try client.code(bind(second, other)) == 6 && !signs(client, other, host: second))
    #expect(try sandbox.join().code(forged(certificate, second.signature(of: session), true)) == 5)
    // The second one directly, and the first one from the second.
    client = try sandbox.join()
    #expect(try client.code(bind(second, other)) == 6 && !signs(client, other) && !shown(client))
    client = try sandbox.join()
    for step in [bind(second, other, true), bind(first, session)] { #expect(try client.code(step) == 6) }
    #expect(try !signs(client, session, host: first) && !shown(client))
    // As many sessions as there may be.
    client = try sandbox.join()
    for byte in 0..<16 { #expect(try client.code(bind(first, [UInt8](repeating: UInt8(byte), count: 32), true)) == 6) }
    #expect(try client.code(bind(first, [UInt8](repeating: 0x78, count: 32), true)) == 5)
    // Constraints that name nothing are none.
    for bad in [
      Self.destinations(), Self.destinations(Self.step(nobody, nobody)),
      Self.destinations(Self.step(Self.host(first, "f", "u"), Self.host(second, "s"))),
    ] {
      #expect(try sandbox.join().code(own.adding(constraints: bad)) == 5)
    }
    // A host's authority is not the host.
    let authority: [UInt8] = .string("") + .string("first") + .string("") + .string(first.blob) + [1]
    #expect(try sandbox.join().code(own.adding(constraints: Self.destinations(Self.step(nobody, authority)))) == 6)
    client = try sandbox.join()
    #expect(try client.code(bind(first, session)) == 6 && !signs(client, session))
    let audit = try sandbox.sshAudit()
    #expect(
      audit.contains {
        $0.hasPrefix("use denied SSH login to an unknown host (SHA256:") && $0.contains(" with the session's key ")
      },
      "\(audit)")
  }

  /// A host of the constraint `restrict-destination-v00@openssh.com`; without a key, any.
  private static func host(_ key: SSHTestKey? = nil, _ name: String = "", _ user: String = "") -> [UInt8] {
    let start: [UInt8] = .string(user) + .string(name) + .string("")
    return start + (key.map { .string($0.blob) + [0] } ?? [])
  }

  private static func step(_ start: [UInt8], _ end: [UInt8]) -> [UInt8] {
    .string(.string(start) + .string(end) + .string(""))
  }

  private static func destinations(_ steps: [UInt8]...) -> [UInt8] {
    [0xff] + .string("restrict-destination-v00@openssh.com") + .string(Array(steps.joined()))
  }
}
