import CLinux
import Foundation
import Testing
import VaultTesting

private let password = "correct horse battery"

@Suite("Restore over the socket") struct RestoreTests {
  /// Makes a backup of a vault with some items; the backup has a few pieces.
  private static func backup() throws -> [UInt8] {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: password, config: "idle = off")
    try sandbox.unlock(password)
    for index in 0..<3 {
      let value = String(repeating: "\(index)", count: 60_000)
      #expect(try sandbox.client().call("Set", ["name": "item/\(index)", "value": value]).error == nil)
    }
    return try sandbox.client().backup().bytes
  }

  private func empty(onClock: Bool = false) throws -> Sandbox {
    let sandbox = try Sandbox()
    if onClock { try MachineClock(in: sandbox) }
    try sandbox.startDaemon(config: "idle = off")
    return sandbox
  }

  private func expectNew(_ sandbox: Sandbox) throws {
    #expect(try sandbox.client().call("Status").string("state") == "new")
    let left = (try? FileManager.default.contentsOfDirectory(atPath: sandbox.store)) ?? []
    #expect(!left.contains { $0.hasPrefix("vault.db") || $0 == "boot.key" }, "\(left)")
  }

  @Test("a wrong secret is refused, backs off, and leaves no vault") func wrongSecret() throws {
    let backup = try Self.backup()
    let sandbox = try empty()
    defer { sandbox.close() }
    let refused = try sandbox.restore(backup, secret: "wrong horse battery")
    #expect(refused.error == "AuthenticationFailed")
    #expect(refused.integer("retry_after_ms") == 1000)
    #expect(try sandbox.restore(backup, secret: password).error == "BackingOff")
    #expect(try sandbox.restore(backup, method: "recovery").error == "MethodUnavailable")
    #expect(try sandbox.restore(backup, method: "pam").error == "MethodUnavailable")
    try expectNew(sandbox)
  }

  @Test("a check reads a backup to its end, whether there is a vault or not, and writes nothing") func checks() throws {
    let backup = try Self.backup()
    let new = try empty()
    defer { new.close() }
    let reply = try new.restore(backup, check: true)
    #expect(reply.error == nil && reply.parameters["left_out"] == nil, "\(reply)")
    try expectNew(new)
    let other = try Sandbox()
    defer { other.close() }
    _ = try other.makeVault(password: "another horse battery", config: "idle = off")
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: other.store).filter { $0 != "backoff" }.sorted()
    }
    let before = try files()
    #expect(try other.restore(backup, check: true).error == nil)
    #expect(try other.restore(backup, secret: "wrong horse battery", check: true).error == "AuthenticationFailed")
    #expect(try files() == before)
    #expect(try other.client().call("Status").string("state") == "cold")
    #expect(try other.restore(backup).error == "VaultExists")
  }

  @Test("a check names what is damaged, as a restore does") func checksDamage() throws {
    let backup = try Self.backup()
    let sandbox = try empty()
    defer { sandbox.close() }
    let body = Array(backup[sandbox.headerCount(backup)...])
    var flipped = body
    flipped[70_000] ^= 1
    for (bytes, reason) in [
      (flipped, "it is damaged 65536 bytes into the store"), (Array(body.dropLast()), "it is cut short"),
      (body + [0], "there is data after its end"), ([], "it is cut short"),
    ] {
      let reply = try sandbox.restore(backup, sending: bytes, check: true)
      #expect(reply.error == "InvalidBackup" && reply.string("reason") == reason, "\(reply)")
    }
    // Another check may follow at once.
    #expect(try sandbox.restore(backup, check: true).error == nil)
    try expectNew(sandbox)
  }

  @Test("a damaged, cut, lengthened or foreign backup is refused, and leaves no vault") func damaged() throws {
    let backup = try Self.backup()
    let sandbox = try empty()
    defer { sandbox.close() }
    let start = sandbox.headerCount(backup)
    let body = Array(backup[start...])
    var flipped = body
    flipped[70_000] ^= 1
    for (name, bytes) in [
      ("flipped", flipped), ("cut", Array(body.dropLast())), ("cut at a piece", Array(body[..<(65_536 + 17)])),
      ("empty", []), ("longer", body + [0]), ("much longer", body + body),
    ] {
      let reply = try sandbox.restore(backup, sending: bytes)
      #expect(reply.error == "InvalidBackup", "\(name): \(reply)")
      try expectNew(sandbox)
    }
    var header = backup
    header[40] ^= 1
    #expect(try sandbox.restore(header).error == "InvalidBackup")
    for text in ["", "AAAA", Data(backup[..<20]).base64EncodedString()] {
      let reply = try sandbox.client().call("Restore", ["header": text], more: true, upgrade: true)
      #expect(reply.error == "InvalidBackup", "\(reply)")
    }
    let reply = try sandbox.client().call("Restore", ["header": "no base64"], more: true, upgrade: true)
    #expect(reply.string("parameter") == "header")
    try expectNew(sandbox)
    // After all these refusals, the undamaged backup is restored.
    #expect(try sandbox.restore(backup).error == nil)
    #expect(try sandbox.client().call("Status").string("state") == "cold")
  }

  @Test("a vault that is there is never touched") func existing() throws {
    let backup = try Self.backup()
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // With the audit log on, the refused call would be recorded in the vault.
    _ = try sandbox.makeVault(password: password, config: "audit = off")
    let before = FileManager.default.contents(atPath: sandbox.store + "/vault.db")
    #expect(try sandbox.restore(backup).error == "VaultExists")
    try sandbox.stopDaemon()
    #expect(FileManager.default.contents(atPath: sandbox.store + "/vault.db") == before)
    try Data("damaged".utf8).write(to: URL(fileURLWithPath: sandbox.store + "/vault.db"))
    try sandbox.startDaemon()
    #expect(try sandbox.restore(backup).error == "Corrupt")
  }

  /// Begins a restore and sends half of the backup.
  private func begin(_ sandbox: Sandbox, _ backup: [UInt8]) throws -> WireClient {
    let start = sandbox.headerCount(backup)
    let client = try sandbox.client()
    let reply = try client.call(
      "Restore", ["header": Data(backup[..<start]).base64EncodedString()], more: true, upgrade: true)
    let conversation = try #require(reply.string("conversation"))
    #expect(
      try sandbox.client().call("Respond", ["conversation": conversation, "answer": password]).error == nil)
    #expect(try client.reply().error == nil)
    client.send(Array(backup[start..<(start + 100_000)]))
    return client
  }

  @Test("while a backup is restored there is no vault, and none can be made") func meanwhile() throws {
    let backup = try Self.backup()
    let sandbox = try empty()
    defer { sandbox.close() }
    let client = try begin(sandbox, backup)
    #expect(try sandbox.client().call("Status").string("state") == "new")
    #expect(try sandbox.converse("Init") { _ in password }?.error == "Busy")
    #expect(try sandbox.restore(backup).error == "Busy")
    #expect(try sandbox.client().call("Get", ["name": "item/0"]).error == "NoVault")
    client.send(Array(backup[(sandbox.headerCount(backup) + 100_000)...]))
    client.finishSending()
    #expect(try client.reply().error == nil)
    #expect(try sandbox.unlock(password)?.error == nil)
    #expect(try sandbox.client().call("Get", ["name": "item/2"]).string("value")?.count == 60_000)
  }

  @Test("one that was asked for its password before another began is refused behind it") func second() throws {
    let backup = try Self.backup()
    let sandbox = try empty()
    defer { sandbox.close() }
    let asking = try sandbox.client()
    let header = Data(backup[..<sandbox.headerCount(backup)]).base64EncodedString()
    let asked = try asking.call("Restore", ["header": header], more: true, upgrade: true)
    let conversation = try #require(asked.string("conversation"))
    let client = try begin(sandbox, backup)
    let answer: WireClient.Message = ["conversation": conversation, "answer": password]
    #expect(try sandbox.client().call("Respond", answer).error == nil)
    #expect(try asking.reply().error == "Busy")
    client.send(Array(backup[(sandbox.headerCount(backup) + 100_000)...]))
    client.finishSending()
    #expect(try client.reply().error == nil)
    #expect(try sandbox.unlock(password)?.error == nil)
  }

  @Test("who was asked before another one gave a wrong secret has to wait after it, too") func asked() throws {
    let backup = try Self.backup()
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // The next failure costs the longest wait, and until then there is none.
    #expect(unsafe mkdir(sandbox.store, 0o700) == 0)
    let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    try Data("\(geteuid()) password 6 \(boot.trimmingCharacters(in: .newlines)) 0\n".utf8).write(
      to: URL(fileURLWithPath: sandbox.store + "/backoff"))
    try sandbox.startDaemon()
    let header = Data(backup[..<sandbox.headerCount(backup)]).base64EncodedString()
    var asking: [(client: WireClient, id: String)] = []
    for _ in 0..<2 {
      let client = try sandbox.client()
      let asked = try client.call("Restore", ["header": header], more: true, upgrade: true)
      asking.append((client, try #require(asked.string("conversation"), "\(asked)")))
    }
    var errors: [String?] = []
    for (one, answer) in zip(asking, ["wrong horse battery", password]) {
      #expect(try sandbox.client().call("Respond", ["conversation": one.id, "answer": answer]).error == nil)
      errors.append(try one.client.reply().error)
    }
    #expect(errors == ["AuthenticationFailed", "BackingOff"])
    try expectNew(sandbox)
  }

  @Test("settings with another boot key end it, at the question and on the way, and leave nothing") func settings()
    throws
  {
    let backup = try Self.backup()
    let sandbox = try empty()
    defer { sandbox.close() }
    let files = ["first", "second"].map { "\(sandbox.home)/\($0).key" }
    let asking = try sandbox.client()
    let header = Data(backup[..<sandbox.headerCount(backup)]).base64EncodedString()
    #expect(try asking.call("Restore", ["header": header], more: true, upgrade: true).prompt != nil)
    try sandbox.configure("idle = off\nboot-key = \(files[0])\n")
    try sandbox.signalDaemon(SIGHUP)
    #expect(try asking.reply().error == "Busy")
    let sending = try begin(sandbox, backup)
    try sandbox.configure("idle = off\nboot-key = \(files[1])\n")
    try sandbox.signalDaemon(SIGHUP)
    let reply = try sending.reply()
    #expect(reply.error == "Busy" && reply.string("reason")?.contains("boot key were changed") == true, "\(reply)")
    try expectNew(sandbox)
    #expect(try sandbox.restore(backup).error == nil)
    #expect(files.map { FileManager.default.fileExists(atPath: $0) } == [false, true])
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/boot.key"))
  }

  @Test("a client that goes away, and a daemon that is killed, leave no vault; the next restore makes it") func cut()
    throws
  {
    let backup = try Self.backup()
    let sandbox = try empty(onClock: true)
    defer { sandbox.close() }
    do { _ = try begin(sandbox, backup) }
    try sandbox.waitOut("password", of: backup)
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    try expectNew(sandbox)
    do {
      let client = try begin(sandbox, backup)
      #expect(try sandbox.client().call("Status").string("state") == "new")
      try sandbox.stopDaemon(signal: SIGKILL)
      _ = consume client
    }
    try sandbox.startDaemon()
    #expect(try sandbox.client().call("Status").string("state") == "new")
    try sandbox.waitOut("password", of: backup)
    #expect(try sandbox.restore(backup).error == nil)
    #expect(try sandbox.unlock(password)?.error == nil)
  }

  @Test(
    "a full disk ends a restore with its cause, and leaves nothing; with room again it succeeds",
    .disabled(if: Sanitizer.needsFiles, "a program of ThreadSanitizer's writes one when it begins"))
  func fullDisk() throws {
    let backup = try Self.backup()
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // A limit on the size of files simulates a full disk: 100 KiB, about half of the backup.
    try sandbox.startDaemon(
      config: "idle = off",
      through: ["/bin/sh", "-c", "trap '' XFSZ; ulimit -f 200; exec \"$@\"", "sh", Sandbox.path(of: "vaultd")])
    let reply = try sandbox.restore(backup)
    #expect(reply.error == "StorageFailed", "\(reply)")
    #expect(reply.string("reason")?.contains("File too large") == true, "\(reply)")
    try expectNew(sandbox)
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    #expect(try sandbox.restore(backup).error == nil)
  }

  @Test("a login slot stays behind, and the answer names it") func leftOut() throws {
    let source = try Sandbox()
    defer { source.close() }
    _ = try source.makeVault(password: password, config: "idle = off")
    try source.unlock(password)
    let added = try source.converse(
      "AddSlot", ["kind": "login", "label": "at login", "kdf_memory": 19 << 20, "kdf_passes": 2]
    ) { prompt in prompt["style"] as? String == "secret" ? password : "the login password" }
    #expect(added?.error == nil)
    let backup = try source.client().backup().bytes
    let sandbox = try empty()
    defer { sandbox.close() }
    let reply = try sandbox.restore(backup)
    let slots = try #require(reply.parameters["left_out"] as? [[String: Any]])
    #expect(slots.map { $0["kind"] as? String } == ["login"])
    #expect(slots.map { $0["label"] as? String } == ["at login"])
    let listed = try sandbox.client().call("ListSlots").parameters["slots"] as? [[String: Any]]
    #expect(listed?.map { $0["kind"] as? String } == ["password"])
  }
}

extension Sandbox {
  /// Waits until the daemon would begin a restore.
  func waitOut(_ method: String, of backup: [UInt8]) throws {
    let header = Data(backup[..<headerCount(backup)]).base64EncodedString()
    while true {
      let reply = try client().call("Restore", ["header": header, "method": method], more: true, upgrade: true)
      if reply.error == "Busy" { continue }
      guard try waitOut(reply) else { return }
    }
  }
}
