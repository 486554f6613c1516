import Foundation
import Testing
import VaultTesting

/// Signatures by the agent for the programs that people use, and refusals for a program that asks for forbidden ones.
@Suite("Signatures by the ssh-agent") struct SSHSigningTests {
  @Test("ssh-keygen signs by a key of each type, and verifies it", arguments: sshKeyTypes.keys.sorted())
  func sshsig(_ type: String) throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let key = try sandbox.storeKey("a", sshKeyTypes[type] ?? [])
    try FileManager.default.removeItem(atPath: key)
    let file = try sandbox.write("a message", to: "file")
    let signed = try sandbox.ssh("ssh-keygen", ["-Y", "sign", "-f", key + ".pub", "-n", "file", file])
    #expect(signed.status == 0, "\(signed) \(sandbox.daemonLog)")
    let allowed = try sandbox.write("ana " + sandbox.publicKey(key) + "\n", to: "allowed")
    func verify(_ text: String) throws -> Int32 {
      try sandbox.ssh(
        "ssh-keygen", ["-Y", "verify", "-f", allowed, "-I", "ana", "-n", "file", "-s", file + ".sig"], stdin: text
      ).status
    }
    #expect(try verify("a message") == 0)
    #expect(try verify("another message") != 0)
    #expect(try sandbox.sshAudit().contains("use ok ssh/a SSH signature for `file`"))
  }

  @Test("git signs a commit, and verifies it") func git() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let key = try sandbox.storeKey("git")
    try FileManager.default.removeItem(atPath: key)
    let allowed = try sandbox.write("ana@host.test " + sandbox.publicKey(key) + "\n", to: "allowed")
    let folder = sandbox.home + "/project"
    for arguments in [
      ["init", "-q", folder], ["-C", folder, "config", "user.name", "Ana"],
      ["-C", folder, "config", "user.email", "ana@host.test"], ["-C", folder, "config", "gpg.format", "ssh"],
      ["-C", folder, "config", "user.signingkey", key + ".pub"],
      ["-C", folder, "config", "gpg.ssh.allowedSignersFile", allowed],
      ["-C", folder, "commit", "-q", "-S", "--allow-empty", "-m", "first"], ["-C", folder, "verify-commit", "HEAD"],
    ] {
      let outcome = try sandbox.ssh("git", arguments)
      #expect(outcome.status == 0, "\(arguments) \(outcome)")
      if arguments.last == "HEAD" { #expect(outcome.errors.contains("Good \"git\" signature for ana@host.test")) }
    }
    #expect(try sandbox.sshAudit().contains("use ok ssh/git SSH signature for `git`"))
  }

  @Test("nothing is signed but a login by that very key, or a message in SSH's form") func refused() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    for name in ["ed25519", "rsa"] { try sandbox.storeKey(name, sshKeyTypes[name] ?? []) }
    try sandbox.script(
      """
      keys = {name: blob for blob, name in blobs(join())}
      own, rsa = keys["ssh/ed25519"], keys["ssh/rsa"]
      session = bytes(range(32))
      def signs(blob, data, flags=0): return code(join(), sign_body(blob, data, flags)) == 14
      good = login(own, session)
      message = b"SSHSIG" + string("git") + string("") + string("sha512") + string(bytes(64))
      assert signs(own, good) and signs(own, message)
      assert signs(own, login(own, session, host=own))
      bad = {
          "random bytes": os.urandom(32), "nothing": b"", "a hash": hashlib.sha256(b"x").digest(),
          "trailing bytes": good + b"\\0", "a cut": good[:-1], "another key": login(rsa, session),
          "a key that is not here": login(Key(bytes(32)).blob, session), "no session": login(own, b""),
          "a short session": login(own, bytes(19)), "a long session": login(own, bytes(129)),
          "another algorithm": login(own, session, algorithm="rsa-sha2-256"),
          "another service": good.replace(b"ssh-connection", b"ssh-userauth\\0\\0"),
          "no signature to come": good.replace(b"publickey\\x01", b"publickey\\0"),
          "a message's trailing bytes": message + b"x", "no namespace": message.replace(string("git"), string("")),
          "a short hash": message[:-1], "a reserved field": message.replace(string(""), string("x"), 1),
          "a NUL": login(own, session, user="ana\\0root"), "an OpenPGP packet": b"\\x99\\x01" + bytes(60),
          "a certificate's body": string("ssh-ed25519-cert-v01@openssh.com") + string(bytes(32)) * 5,
      }
      for name, data in bad.items(): assert not signs(own, data), name
      assert not signs(Key(bytes(32)).blob, login(Key(bytes(32)).blob, session)), "a key that is not here"
      for algorithm, flags, is_good in [
          ("rsa-sha2-256", 2, True), ("rsa-sha2-512", 4, True), ("ssh-rsa", 0, False), ("ssh-rsa", 2, False),
          ("rsa-sha2-256", 0, False), ("rsa-sha2-512", 2, False),
      ]:
          assert signs(rsa, login(rsa, session, algorithm=algorithm), flags) == is_good, (algorithm, flags)
      assert not signs(rsa, message) and signs(rsa, message, 2) and signs(rsa, message, 4)
      """)
    let audit = try sandbox.sshAudit()
    #expect(audit.contains("use ok ssh/ed25519 SSH login to a host that is not known as `ana`"), "\(audit)")
    #expect(audit.contains { $0.hasPrefix("use denied ssh signature with SHA256:") }, "\(audit)")
  }

  @Test("a name that the requester chose cannot pass for words of the daemon's") func quoted() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    try sandbox.script(
      """
      own = blobs(join())[0][0]
      assert code(join(), sign_body(own, login(own, bytes(32), user="x` with `ssh/other`\\x1b[2J"))) == 14
      """)
    let wanted = #"use ok ssh/a SSH login to a host that is not known as `x' with 'ssh/other'\u{1b}[2J`"#
    let audit = try sandbox.sshAudit()
    #expect(audit.contains(wanted), "\(audit)")
  }

  @Test("an encrypted key file is refused with the command that opens it") func encrypted() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let key = try sandbox.makeKey("a", passphrase: "a long passphrase")
    let refused = try sandbox.run("set", "ssh/a", "--kind", "ssh-key", "--file", key)
    #expect(refused.status != 0 && refused.errors.contains("ssh-keygen -p"), "\(refused)")
  }
}
