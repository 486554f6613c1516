import Foundation
import Testing
import VaultTesting

@Suite("Keys that ssh-add hands over") struct SSHSessionKeyTests {
  @Test("a key of each type is added, signs, and is removed by itself or with all") func types() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let file = try sandbox.write("x", to: "file")
    for (name, type) in sshKeyTypes {
      let key = try sandbox.makeKey(name, type)
      let added = try sandbox.ssh("ssh-add", ["-q", key])
      #expect(added.status == 0, "\(name) \(added) \(sandbox.daemonLog)")
      try FileManager.default.removeItem(atPath: key)
      let signature = try sandbox.ssh("ssh-keygen", ["-Y", "sign", "-f", key + ".pub", "-n", "file", file])
      #expect(signature.status == 0, "\(name) \(signature) \(sandbox.daemonLog)")
      let checked = try sandbox.ssh(
        "ssh-keygen", ["-Y", "check-novalidate", "-n", "file", "-s", file + ".sig"], stdin: "x")
      #expect(checked.status == 0, "\(name) \(checked)")
      try FileManager.default.removeItem(atPath: file + ".sig")
    }
    // Adding a key again does not list it twice.
    #expect(try sandbox.ssh("ssh-add", ["-q", sandbox.makeKey("more")]).status == 0)
    #expect(try sandbox.ssh("ssh-add", ["-q", sandbox.home + "/more"]).status == 0)
    #expect(try sandbox.listed().split(separator: "\n").count == sshKeyTypes.count + 1)
    #expect(try sandbox.ssh("ssh-add", ["-q", "-d", sandbox.home + "/p384.pub"]).status == 0)
    #expect(try !sandbox.listed().contains(" p384 "))
    #expect(try sandbox.ssh("ssh-add", ["-q", "-d", sandbox.home + "/p384.pub"]).status != 0)
    try sandbox.storeKey("item")
    #expect(try sandbox.ssh("ssh-add", ["-q", "-D"]).status == 0)
    // `ssh-add -D` and `-d` remove the session's keys only, never an item.
    #expect(try sandbox.listed().split(separator: "\n").count == 1)
    #expect(try sandbox.ssh("ssh-add", ["-q", "-d", sandbox.home + "/item.pub"]).status != 0)
    #expect(try sandbox.listed().contains(" ssh/item "))
    let audit = try sandbox.sshAudit()
    #expect(audit.contains { $0.hasPrefix("use ok ssh-add of SHA256:") }, "\(audit)")
    #expect(
      audit.contains { $0.hasPrefix("use ok SSH signature for `file` with the session's key SHA256:") }, "\(audit)")
  }

  @Test("are listed even if the list has no room for all items, of which it then has those whose names come first")
  func room() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    // Each key takes 571 bytes of the list, which has 262,144.
    let names = (0..<480).map { number in
      let text = "\(1000 + number)"
      return text + String(repeating: "n", count: 512 - text.utf8.count)
    }
    let lines = names.reversed().map { #"{"name":"\#($0)","generate":"ed25519","use":"ssh"}"# + "\n" }
    try sandbox.must(["set", "--batch"], stdin: lines.joined())
    let (client, own) = (try sandbox.join(), SSHTestKey(1))
    #expect(try client.keys().map { $0.name } == Array(names.prefix(459)))
    #expect(try client.code(own.adding("own")) == 6)
    #expect(try client.keys().map { $0.name } == Array(names.prefix(458)) + ["own"])
    let audit = try sandbox.sshAudit()
    #expect(audit.contains("find ok 459 of 480 keys for ssh"), "\(audit)")
    #expect(audit.contains("find ok 459 of 481 keys for ssh"), "\(audit)")
    #expect(try sandbox.must(["status"]).contains("; offers 480 keys and 1 of ssh-add\n"))
  }

  @Test("a lifetime ends") func lifetime() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    #expect(try sandbox.ssh("ssh-add", ["-q", "-t", "1", sandbox.makeKey("brief")]).status == 0)
    #expect(try sandbox.ssh("ssh-add", ["-q", "-t", "1h", sandbox.makeKey("long")]).status == 0)
    try wait(for: "its end") { try !sandbox.listed().contains(" brief ") }
    #expect(try sandbox.listed().contains(" long "))
  }

  @Test("a passphrase locks the agent, and it alone unlocks it, after a pause for each wrong one") func locked() throws
  {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let key = try sandbox.storeKey("item")
    try FileManager.default.removeItem(atPath: key)
    #expect(try sandbox.ssh("ssh-add", ["-q", sandbox.makeKey("own")]).status == 0)
    let file = try sandbox.write("x", to: "file")
    func unlock(_ passphrase: String) throws -> Bool {
      try sandbox.ssh("ssh-add", ["-X"], passphrase: passphrase).status == 0
    }
    #expect(try !unlock("none is set"))
    #expect(try sandbox.ssh("ssh-add", ["-x"], passphrase: "a passphrase").status == 0)
    #expect(try sandbox.listed() == "The agent has no identities.\n")
    let locked = "; locked by `ssh-add -x`, so it offers no key; `ssh-add -X` unlocks it\n"
    #expect(try sandbox.must(["status"]).contains(locked))
    #expect(try sandbox.ssh("ssh-keygen", ["-Y", "sign", "-f", key + ".pub", "-n", "file", file]).status != 0)
    #expect(try sandbox.ssh("ssh-add", ["-x"], passphrase: "another").status != 0)
    #expect(try sandbox.ssh("ssh-add", ["-q", sandbox.home + "/own"]).status != 0)
    #expect(try sandbox.ssh("ssh-add", ["-D"]).status != 0)
    let clock = ContinuousClock()
    var pauses: [Duration] = []
    for _ in 0..<3 {
      let began = clock.now
      #expect(try !unlock("a passphrasf"))
      pauses.append(clock.now - began)
    }
    #expect(pauses[2] >= .milliseconds(300), "\(pauses)")
    // Other clients are served meanwhile.
    #expect(try sandbox.client().call("Status").string("state") == "unlocked")
    #expect(try unlock("a passphrase"))
    #expect(try sandbox.listed().split(separator: "\n").count == 2)
    // None is looked at before the pause after the one before it: nobody guesses by many connections, and the right one
    // waits, too. Those whose clients have left are not looked at.
    #expect(try sandbox.join().code(.lock("right")) == 6)
    let began = clock.now
    var clients = try (0..<6).map { _ in try sandbox.join() }
    for client in clients { client.ask(.unlock("wrong")) }
    clients.removeFirst(3)
    #expect(try sandbox.join().code(.unlock("right")) == 6)
    #expect(clock.now - began >= .milliseconds(1000))
    for client in clients { #expect(try client.code() == 5) }
  }

  @Test("no more than 64 are kept, and none is taken while the vault is locked") func limits() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let keys = (0..<65).map { SSHTestKey($0) }
    let client = try sandbox.join()
    for key in keys[..<64] { #expect(try client.code(key.adding()) == 6) }
    #expect(try client.code(keys[64].adding()) == 5)
    #expect(try client.code(keys[0].adding("again")) == 6)
    #expect(try client.keys().count == 64)
    #expect(try client.code(.remove(keys[1].blob)) == 6)
    #expect(try client.code(keys[64].adding()) == 6)
    #expect(try client.code(.removeAll) == 6 && client.keys().isEmpty)
    // A public half that is another key's, a part of one, and types that are not held.
    let (good, lifetime) = (keys[0].adding(), [1, 0, 0, 0, 9] as [UInt8])
    for bad in [
      good.replacing(keys[0].publicKey, with: keys[1].publicKey), good.dropLast(6), good + [0x78],
      keys[0].adding(constraints: [3, 0, 0, 0, 0]), keys[0].adding(constraints: [0xff] + .string("x@y")),
      keys[0].adding(constraints: lifetime + lifetime), [0x11] + .string("ssh-dss") + .zeros(40),
      keys[0].adding("a\0b"), keys[0].adding(String(repeating: "x", count: 1025)),
      [0x11] + .string("sk-ssh-ed25519@openssh.com") + .zeros(40),
    ] as [[UInt8]] {
      #expect(try client.code(bad) == 5, "\(bad)")
    }
    #expect(try client.keys().isEmpty)
    _ = try sandbox.outcome("Lock")
    #expect(try client.code(keys[0].adding()) == 5)
    #expect(try sandbox.answer("Unlock") == "")
    #expect(try client.code(keys[0].adding()) == 6)
    #expect(try client.code(.extension("query")) == 29)
    #expect(try client.code(.extension("nonsense@x")) == 5)
    for type in [1, 3, 7, 8, 9, 20, 21, 24, 26, 99, 200, 255] as [UInt8] { #expect(try client.code([type]) == 5) }
    #expect(sandbox.daemonLog.contains("the agent has as many keys as it can hold"))
  }

  @Test("a lock takes them, and leaves nothing of them in memory") func wiped() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let seed = (0..<32).map { _ in UInt8.random(in: 0...255) }
    let own = SSHTestKey(seed)
    func add() throws { #expect(try sandbox.join().code(own.adding()) == 6) }
    try add()
    let keys = try ["p256", "rsa"].map { try sandbox.makeKey($0, sshKeyTypes[$0] ?? []) }
    #expect(try sandbox.ssh("ssh-add", ["-q"] + keys).status == 0)
    let file = try sandbox.write("x", to: "file")
    for key in keys {
      _ = try sandbox.ssh("ssh-keygen", ["-Y", "sign", "-f", key + ".pub", "-n", "file", file])
    }
    // The private numbers stand at the end of the key's file, and form longer runs than anything else in it.
    let pieces = try keys.map { key in
      let lines = try String(contentsOfFile: key, encoding: .utf8).split(separator: "\n").dropFirst().dropLast()
      let bytes = [UInt8](Data(base64Encoded: lines.joined()) ?? Data())
      return key.hasSuffix("rsa")
        ? Array(bytes[(bytes.count - 400)..<(bytes.count - 100)]) : Array(bytes.suffix(44).prefix(30))
    }
    #expect(try sandbox.listed().split(separator: "\n").count == 3)
    guard MemorySearch.isPossible else { return }
    let pid = try #require(sandbox.daemonPid)
    let sought = ["seed": seed, "scalar": pieces[0], "factors": pieces[1]]
    let before = try MemorySearch(pid: pid).findForms(of: sought)
    #expect(Set(before.keys) == ["seed", "scalar", "factors"], "\(before)")
    try sandbox.must(["lock"])
    #expect(try sandbox.listed() == "The agent has no identities.\n")
    #expect(try MemorySearch(pid: pid).findForms(of: sought).isEmpty)
    // Nothing is left of a removed key either, though the client that added and used it stays connected.
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    for removal in [.remove(own.blob), .removeAll] as [[UInt8]] {
      let client = try sandbox.join()
      #expect(try client.code(own.adding()) == 6)
      #expect(try client.code(.sign(own.blob, .login(own.blob, .zeros(32)))) == 14)
      #expect(try client.code(removal) == 6)
      #expect(try MemorySearch(pid: pid).findForms(of: ["seed": seed]).isEmpty)
      #expect(try client.keys().isEmpty)
    }
    // Nothing is left of a key that expired, or that was only a part of a request.
    try add()
    #expect(try sandbox.ssh("ssh-add", ["-q", "-D"]).status == 0)
    #expect(try MemorySearch(pid: pid).findForms(of: ["seed": seed]).isEmpty)
    let client = try sandbox.join()
    client.send([UInt8].string(own.adding()).dropLast(3))
    // It has come when what was sent after it is answered.
    for _ in 0..<2 { #expect(try sandbox.join().code(.list) == 12) }
    _ = try sandbox.outcome("Lock")
    #expect(try client.answer() == nil)
    #expect(try MemorySearch(pid: pid).findForms(of: ["seed": seed]).isEmpty)
  }
}
