import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("The ssh-agent") struct SSHAgentTests {
  /// Returns true if the agent refuses every request, and ssh-add says so.
  private func isRefused(_ sandbox: Sandbox) throws -> Bool {
    let outcome = try sandbox.ssh("ssh-add", ["-l"])
    return outcome.status == 1 && outcome.errors == "error fetching identities: agent refused operation\n"
  }

  private func reload(_ sandbox: Sandbox, _ text: String) throws {
    try sandbox.configure("pam-service = vault-test-none\n" + text)
    try sandbox.signalDaemon(SIGHUP)
  }

  @Test("refuses everything unless the settings want it, and again when they do not any more") func switched() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(config: "pam-service = vault-test-none\n")
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    var status = stat()
    #expect(unsafe stat(sandbox.sshSocket, &status) == 0 && status.st_mode & 0o077 == 0)
    for _ in 0..<10 { #expect(try isRefused(sandbox)) }
    // Every request is answered, and leaves no entry.
    let client = try sandbox.join()
    let requests: [[UInt8]] = [.list, .removeAll, .lock("x"), .unknown]
    for request in requests { #expect(try client.code(request) == 5) }
    #expect(try sandbox.sshAudit().isEmpty)
    try reload(sandbox, "ssh-agent = on\n")
    try wait(for: "the agent") { try sandbox.listed() == "The agent has no identities.\n" }
    #expect(try sandbox.ssh("ssh-add", [sandbox.makeKey("own")]).status == 0)
    #expect(try sandbox.listed().contains(" own (ED25519)"))
    try sandbox.must(["set", "ssh/key", "--generate=ed25519", "--use", "ssh"])
    let line = "ssh-agent:  on, at \(sandbox.sshSocket); offers 1 key and 1 of ssh-add\n"
    #expect(try sandbox.must(["status"]).contains(line))
    #expect(try sandbox.must(["status", "--json"]).contains(#""keys":1,"added":1}"#))
    try sandbox.must(["rm", "ssh/key"])
    try reload(sandbox, "ssh-agent = off\n")
    try wait(for: "its end") { try isRefused(sandbox) }
    #expect(try sandbox.must(["status"]).contains("ssh-agent:  off\n"))
    try reload(sandbox, "ssh-agent = on\n")
    // The session's keys are gone since the agent was switched off.
    try wait(for: "the agent") { try sandbox.listed() == "The agent has no identities.\n" }
  }

  @Test("a binding that is refused while it is off counts once it is on, because ssh continues without the answer")
  func refusedBinding() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let (key, gate, session) = (SSHTestKey(7), SSHTestKey(8), [UInt8].zeros(32))
    try reload(sandbox, "ssh-agent = off\n")
    try wait(for: "its end") { try isRefused(sandbox) }
    let (bound, broken) = (try sandbox.join(), try sandbox.join())
    #expect(try bound.code(.bind(gate, session, isForwarding: true)) == 5)
    let forged: [UInt8] = .bind(gate.blob, session, isForwarding: true, signature: key.signature(of: session))
    #expect(try broken.code(forged) == 5)
    try reload(sandbox, "ssh-agent = on\n")
    try wait(for: "the agent") { try sandbox.listed() == "The agent has no identities.\n" }
    let local = try sandbox.join()
    #expect(try local.code(key.adding()) == 6)
    for client in [bound, broken, local] { #expect(try client.code(.sign(key.blob, .login(key.blob, session))) == 14) }
    let logins = try sandbox.sshAudit().filter { $0.contains("SSH login") }
    #expect(logins.map { $0.contains(" for someone ") } == [true, true, false], "\(logins)")
  }

  @Test("another user gets nothing", .enabled(if: Root.isAtHand, "needs root to be another user")) func otherUser()
    throws
  {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let key = try sandbox.storeKey("a")
    for path in [sandbox.root, sandbox.runtime, sandbox.runtime + "/vault"] { unsafe chmod(path, 0o755) }
    #expect(unsafe chmod(sandbox.sshSocket, 0o666) == 0)
    for ask in [["-l"], ["-D"], ["-d", key]] {
      let outcome = try sandbox.ssh(
        "setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/ssh-add"] + ask)
      #expect(outcome.status != 0 && !outcome.output.contains("SHA256"), "\(outcome)")
    }
    #expect(try sandbox.listed().contains(" ssh/a (ED25519)"))
  }

  @Test("lists no key that has expired, whether it was listed before or not, and the status does not count it")
  func expired() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    for name in ["good", "past"] { try sandbox.must(["set", name, "--generate=ed25519", "--use", "ssh"]) }
    let both = try sandbox.listed()
    #expect(both.contains(" good (") && both.contains(" past ("), "\(both)")
    try sandbox.must(["set", "past", "--update", "--keep-value", "--expires", "2s"])
    try wait(for: "the end of a key") { try !sandbox.listed().contains(" past (") }
    #expect(try sandbox.listed().contains(" good ("))
    #expect(try sandbox.must(["status"]).contains("; offers 1 key"))
    try sandbox.must(["set", "past", "--update", "--keep-value", "--expires", "never"])
    #expect(try sandbox.listed() == both)
  }

  @Test("the machine's vault has none") func machine() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.configure(sshAgentOn)
    try sandbox.startDaemon(arguments: [
      "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", sandbox.configuration,
    ])
    #expect(FileManager.default.fileExists(atPath: sandbox.runtime + "/vault/credentials"))
    #expect(!FileManager.default.fileExists(atPath: sandbox.sshSocket))
  }

  @Test("lists the items that are keys for SSH by their names, also while the vault is locked") func listing() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    var lines: Set<String> = []
    for (name, type) in sshKeyTypes {
      lines.insert(try sandbox.publicKey(sandbox.storeKey(name, type)) + " ssh/" + name)
    }
    try sandbox.must(["set", "web"], stdin: "hunter2")
    try sandbox.must(["set", "k/sign", "--generate", "ed25519", "--use", "sign"])
    try sandbox.must(["set", "ssh/made", "--generate", "ed25519", "--use", "ssh"])
    let made = try sandbox.must(["pubkey", "ssh/made", "--format", "openssh"])
    lines.insert(made.split(whereSeparator: \.isWhitespace).prefix(2).joined(separator: " ") + " ssh/made")
    for state in ["unlocked", "locked"] {
      let listed = try sandbox.ssh("ssh-add", ["-L"]).output.split(separator: "\n").map(String.init)
      #expect(Set(listed) == lines && listed.count == lines.count, "\(state)")
      #expect(try sandbox.listed().contains(" ssh/p384 (ECDSA)\n"), "\(state)")
      try sandbox.must(["lock"])
    }
    // A moved item is listed by its new name, and a deleted one is not listed.
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try sandbox.must(["mv", "ssh/made", "ssh/moved"])
    try sandbox.must(["rm", "ssh/rsa"])
    let now = try sandbox.listed()
    #expect(now.contains(" ssh/moved ") && !now.contains(" ssh/made ") && !now.contains(" ssh/rsa "))
    #expect(try sandbox.sshAudit().contains("find ok \(lines.count) keys for ssh"))
  }

  @Test("where names cannot be read, a list fails at once if nobody can be asked") func hidden() throws {
    let sandbox = try Sandbox.withSSHAgent("hide-names = true\n")
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    #expect(try sandbox.listed().contains(" ssh/a "))
    try sandbox.must(["lock"])
    let refused = "error fetching identities: agent refused operation\n"
    #expect(try sandbox.listed() == refused)
    try sandbox.configure(sshAgentOn)
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    #expect(try sandbox.listed() == refused)
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try sandbox.listed().contains(" ssh/a "))
  }

  @Test(
    "a unit that is held to its grants sees and uses the keys that it may use, and none of the session",
    .enabled(if: Cgroups.canBeMade, "needs cgroups"))
  func confined() throws {
    let stand = try CredentialStand(isSystem: false, settings: "ssh-agent = on\n")
    defer { stand.close() }
    let sandbox = stand.sandbox
    let (mine, other) = (try sandbox.storeKey("mine"), try sandbox.storeKey("other"))
    // A grant in a user's vault requires fresh presence, so unlock just before it.
    let grant = "vault unlock --password-stdin && vault grant unit:\(stand.unit("a")) ssh/mine --can use"
    let granted = try sandbox.run("-c", "vault lock && " + grant, program: "/bin/sh", stdin: password + "\n")
    #expect(granted.status == 0, "\(granted)")
    let own = try sandbox.makeKey("own")
    #expect(try sandbox.ssh("ssh-add", ["-q", own]).status == 0)
    let file = try sandbox.write("x", to: "file")
    func inUnit(_ program: String, _ arguments: [String]) throws -> Outcome {
      let enter = "echo $$ >\(stand.processes(of: "a")) && exec \"$0\" \"$@\""
      return try sandbox.run(
        ["-c", enter, "/usr/bin/" + program] + arguments, program: "/bin/sh",
        environment: ["SSH_AUTH_SOCK": sandbox.sshSocket])
    }
    func sign(_ key: String) throws -> Int32 {
      try inUnit("ssh-keygen", ["-Y", "sign", "-f", key + ".pub", "-n", "file", file]).status
    }
    let listed = try inUnit("ssh-add", ["-l"])
    #expect(listed.output.contains(" ssh/mine ") && listed.output.split(separator: "\n").count == 1, "\(listed)")
    let seed = try Self.seed(mine)
    for path in [own, other] { try FileManager.default.removeItem(atPath: path) }
    #expect(try sign(mine) == 0)
    try FileManager.default.removeItem(atPath: file + ".sig")
    #expect(try sign(other) != 0)
    #expect(try sign(own) != 0)
    for change in [["-D"], ["-d", own], [try sandbox.makeKey("new")]] {
      #expect(try inUnit("ssh-add", change).status != 0, "\(change)")
    }
    // No request, with any body that a client can put together, yields a byte of the key.
    let process = try OtherProcess(in: sandbox)
    try stand.move(process.pid, to: "a")
    let told = try Self.walk { try process.connect(to: sandbox.sshSocket) }
    try #require(told.count > 256 * 7)
    #expect(MemorySearch(of: told).find(seed).isEmpty)
    // The unit can neither lock the agent for the user's other programs nor undo such a lock, though it knows the
    // passphrase.
    #expect(try process.connect(to: sandbox.sshSocket).code(.lock("p")) == 5)
    #expect(try sandbox.listed().contains(" own "))
    #expect(try sandbox.join().code(.lock("p")) == 6)
    #expect(try process.connect(to: sandbox.sshSocket).code(.unlock("p")) == 5)
    #expect(try sandbox.join().code(.unlock("p")) == 6)
    let all = try sandbox.listed()
    #expect(["ssh/mine", "ssh/other", " own "].allSatisfy(all.contains) && !all.contains(" new "), "\(all)")
  }

  /// Returns the seed of an Ed25519 key in OpenSSH's format: the 32 bytes before the last copy of the public key.
  private static func seed(_ path: String) throws -> [UInt8] {
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst().dropLast()
    let key = try #require(Data(base64Encoded: lines.joined()))
    let words = try String(contentsOfFile: path + ".pub", encoding: .utf8).split(separator: " ")
    let publicKey = try #require(Data(base64Encoded: String(words[1]))).suffix(32)
    let place = try #require(key.range(of: publicKey, options: .backwards)).lowerBound
    return [UInt8](key[(place - 32)..<place])
  }

  /// Returns the answers to requests of every type, with several bodies, each on a connection of its own.
  private static func walk(_ join: () throws -> WireClient) throws -> [UInt8] {
    let keys = try join().keys()
    try #require(keys.count == 1)
    let own = [UInt8].string(keys[0].blob)
    let login = [UInt8].string(.login(keys[0].blob, .zeros(32)))
    let bodies: [[UInt8]] = [
      [], own, own + login + .zeros(4), own + .string("x") + .zeros(4), .string("query"),
      .string("session-bind@openssh.com") + own, Array(SSHTestKey().adding().dropFirst()),
    ]
    var told: [UInt8] = []
    for type in UInt8.min...UInt8.max {
      for body in bodies {
        let client = try join()
        client.ask([type] + body)
        told += try client.answer() ?? Array("closed".utf8)
      }
    }
    return told
  }
}
