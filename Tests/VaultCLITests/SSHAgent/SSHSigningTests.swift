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

  @Test("ssh-keygen signs by a key that is never read") func neverRead() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.must(["set", "ssh/a", "--use", "ssh", "--generate", "ed25519", "--never-read"])
    let key = try sandbox.write(sandbox.must(["pubkey", "ssh/a", "--format", "openssh"]), to: "key.pub")
    let file = try sandbox.write("a message", to: "file")
    let signed = try sandbox.ssh("ssh-keygen", ["-Y", "sign", "-f", key, "-n", "file", file])
    #expect(signed.status == 0, "\(signed) \(sandbox.daemonLog)")
    let checked = try sandbox.ssh(
      "ssh-keygen", ["-Y", "check-novalidate", "-n", "file", "-s", file + ".sig"], stdin: "a message")
    #expect(checked.status == 0, "\(checked)")
    #expect(try sandbox.run("get", "ssh/a").status == 77)
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
    let keys = try Dictionary(uniqueKeysWithValues: sandbox.join().keys().map { ($0.name, $0.blob) })
    let (own, rsa) = (try #require(keys["ssh/ed25519"]), try #require(keys["ssh/rsa"]))
    let (session, foreign) = (Array(0..<32) as [UInt8], SSHTestKey().blob)
    func signs(_ blob: [UInt8], _ data: [UInt8], _ flags: Int = 0) throws -> Bool {
      try sandbox.join().code(.sign(blob, data, flags: flags)) == 14
    }
    func text(_ text: String) -> [UInt8] { Array(text.utf8) }
    let (good, message) = ([UInt8].login(own, session), [UInt8].message("git"))
    #expect(try signs(own, good) && signs(own, message))
    #expect(try signs(own, .login(own, session, host: own)))
    let bad: [String: [UInt8]] = [
      "random bytes": (0..<32).map { _ in .random(in: 0...255) }, "nothing": [],
      "a hash": SSHTestKey.sha256(text("x")), "trailing bytes": good + [0], "a cut": good.dropLast(),
      "another key": .login(rsa, session), "a key that is not here": .login(foreign, session),
      "no session": .login(own, []), "a short session": .login(own, .zeros(19)),
      "a long session": .login(own, .zeros(129)),
      "another algorithm": .login(own, session, algorithm: "rsa-sha2-256"),
      "another service": good.replacing(text("ssh-connection"), with: text("ssh-userauth\0\0")),
      "no signature to come": good.replacing(text("publickey\u{1}"), with: text("publickey\0")),
      "a message's trailing bytes": message + text("x"),
      "no namespace": message.replacing([UInt8].string("git"), with: [UInt8].string("")),
      "a short hash": message.dropLast(),
      "a reserved field": message.replacing([UInt8].string(""), with: [UInt8].string("x"), maxReplacements: 1),
      "a NUL": .login(own, session, user: "ana\0root"), "an OpenPGP packet": [0x99, 1] + .zeros(60),
      "a certificate's body": .string("ssh-ed25519-cert-v01@openssh.com")
        + repeatElement([UInt8].string(.zeros(32)), count: 5).joined(),
    ]
    for (name, data) in bad { #expect(try !signs(own, data), "\(name)") }
    #expect(try !signs(foreign, .login(foreign, session)), "a key that is not here")
    for (algorithm, flags, isGood) in [
      ("rsa-sha2-256", 2, true), ("rsa-sha2-512", 4, true), ("ssh-rsa", 0, false), ("ssh-rsa", 2, false),
      ("rsa-sha2-256", 0, false), ("rsa-sha2-512", 2, false),
    ] {
      let login = [UInt8].login(rsa, session, algorithm: algorithm)
      #expect(try signs(rsa, login, flags) == isGood, "\(algorithm) \(flags)")
    }
    #expect(try !signs(rsa, message) && signs(rsa, message, 2) && signs(rsa, message, 4))
    let audit = try sandbox.sshAudit()
    #expect(audit.contains("use ok ssh/ed25519 SSH login to a host that is not known as `ana`"), "\(audit)")
    #expect(audit.contains { $0.hasPrefix("use denied ssh signature with SHA256:") }, "\(audit)")
  }

  @Test("a name that the requester chose cannot pass for words of the daemon's") func quoted() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    let own = try #require(sandbox.join().keys().first).blob
    let user = "x` with `ssh/other`\u{1b}[2J"
    #expect(try sandbox.join().code(.sign(own, .login(own, .zeros(32), user: user))) == 14)
    let wanted = #"use ok ssh/a SSH login to a host that is not known as `x\u{60} with \u{60}ssh/other\u{60}\u{1b}[2J`"#
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
