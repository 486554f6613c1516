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
    try sandbox.script(
      """
      first, second, own = Key(b"1" * 32), Key(b"2" * 32), Key(b"3" * 32)
      def host(key=None, name="", user=""):
          return string(user) + string(name) + string("") + (string(key.blob) + b"\\0" if key else b"")
      def step(start, end): return string(string(start) + string(end) + string(""))
      def destinations(*steps): return b"\\xff" + string("restrict-destination-v00@openssh.com") + \
      string(b"".join(steps))
      to_first = step(host(), host(first, "first"))
      on_to_second = step(host(first, "first"), host(second, "second"))
      session, other = b"s" * 32, b"o" * 32
      assert code(join(), own.body(constraints=destinations(to_first, on_to_second))) == 6
      def signs(client, session, **more): return code(client, sign_body(own.blob, login(own.blob, session, **more))) \
      == 14
      def shown(client): return own.blob in [blob for blob, _ in blobs(client)]

      client = join()
      assert shown(client) and not signs(client, session), "without a bind"
      # Forged: by another key, over another session, with a byte changed, cut, and none.
      good = first.signature(session)
      for bad in [second.signature(session), first.signature(other), good[:-1] + bytes([good[-1] ^ 1]), good[:-1], b"",
                  good + b"x", string("ssh-rsa") + good[15:]]:
          client = join()
          assert code(client, bind(first, session, False, bad)) == 5, bad
          assert not signs(client, session) and not shown(client)
          # What it does not see it does not remove either.
          assert code(client, b"\\x12" + string(own.blob)) == 5 and code(client, b"\\x13") == 6 and shown(join())
      for broken in [bind(first, session, False)[:-1], bind(first, session, False) + b"x", bind(first, b"short", False),
                     bind(first, session, False)[:-1] + b"\\2"]:
          client = join()
          assert code(client, broken) == 5 and not shown(client), broken
      # A login at the first host.
      client = join()
      assert code(client, bind(first, session, False)) == 6
      assert signs(client, session) and signs(client, session, host=first.blob) and shown(client)
      assert not signs(client, other) and not signs(client, session, host=second.blob)
      # Nothing comes after a login, the same one included.
      for late in [bind(second, other, False), bind(second, other, True), bind(second, session, False)]:
          assert code(client, late) == 5
      assert signs(client, session)
      # One session has one host key.
      client = join()
      assert code(client, bind(first, session, True)) == 6
      assert code(client, bind(second, session, True)) == 5 and code(client, bind(second, session, False)) == 5
      assert code(client, bind(first, session, True)) == 6
      assert not signs(client, session), "by the one that forwards"
      assert code(client, bind(second, other, False)) == 6
      assert signs(client, other, host=second.blob) and not signs(client, other), "a login at the second, bound to its \
      host"
      assert not signs(client, session, host=first.blob)
      # After one that did not hold nothing can be told of where the connection comes from, and no other one holds.
      for begun in [bind(first, session, True, second.signature(session)), bind(first, session, True)[:-1]]:
          client = join()
          assert code(client, begun) == 5 and code(client, bind(first, session, False)) == 5
          assert not signs(client, session) and not shown(client)
      # One that is sent while the agent is locked is one all the same.
      assert code(join(), b"\\x16" + string("p")) == 6
      client = join()
      assert code(client, bind(first, session, True)) == 6 and blobs(client) == []
      assert code(join(), b"\\x17" + string("p")) == 6
      assert code(client, bind(second, other, False)) == 6 and signs(client, other, host=second.blob)
      assert not signs(client, session) and not signs(client, other)
      # A host that proves itself by a certificate is a host like others, but matches nothing.
      certificate = string("ssh-ed25519-cert-v01@openssh.com") + string(b"n" * 32) + string(first.public) + bytes(40)
      class Certified: blob = certificate
      client = join()
      assert code(client, bind(Certified, session, True, first.signature(session))) == 6
      assert code(client, bind(second, other, False)) == 6 and not signs(client, other, host=second.blob)
      assert code(join(), bind(Certified, session, True, second.signature(session))) == 5
      # The second one directly, and the first one from the second.
      client = join()
      assert code(client, bind(second, other, False)) == 6 and not signs(client, other) and not shown(client)
      client = join()
      for key, which, forwarding in [(second, other, True), (first, session, False)]:
          assert code(client, bind(key, which, forwarding)) == 6
      assert not signs(client, session, host=first.blob) and not shown(client)
      # As many sessions as there may be.
      client = join()
      for number in range(16): assert code(client, bind(first, bytes([number] * 32), True)) == 6
      assert code(client, bind(first, b"x" * 32, True)) == 5
      # Constraints that name nothing are none.
      for bad in [destinations(), destinations(step(host(), host())), destinations(step(host(first, "f", "u"), \
      host(second, "s")))]:
          assert code(join(), own.body(constraints=bad)) == 5
      # A host's authority is not the host.
      authority = string("") + string("first") + string("") + string(first.blob) + b"\\1"
      assert code(join(), own.body(constraints=destinations(step(host(), authority)))) == 6
      client = join()
      assert code(client, bind(first, session, False)) == 6 and not signs(client, session)
      """)
    let audit = try sandbox.sshAudit()
    #expect(
      audit.contains {
        $0.hasPrefix("use denied SSH login to an unknown host (SHA256:") && $0.contains(" with the session's key ")
      },
      "\(audit)")
  }
}
