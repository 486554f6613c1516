import CLinux
import Foundation
import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

private let password = "correct horse battery"

@Suite("Backups that are not read") struct SlowBackupTests {
  @Test("one is called off when the log of changes has grown too much, and the client hears why") func log() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: password, config: "idle = off", recovery: true)
    try sandbox.unlock(password)
    let writer = try sandbox.client()
    let value = String(repeating: "x", count: 1 << 20)
    for index in 0..<4 { #expect(try writer.call("Set", ["name": "\(index)", "value": value]).error == nil) }
    let reader = try sandbox.client()
    #expect(try reader.call("Backup", upgrade: true).error == nil)
    // The client reads nothing, so the write-ahead log grows until the backup is called off. After that the log can be
    // emptied.
    var count = 0
    while !sandbox.daemonLog.contains("the backup was called off"), count < 400 {
      let reply = try writer.call("Set", ["name": "0", "value": value, "update": true])
      #expect(reply.error == nil)
      count += 1
    }
    #expect(count > 20 && count < 400)
    var last: WireClient.Reply?
    while let length = try reader.receive(count: 4), last == nil {
      let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
      if count == 0 { last = try reader.reply() } else { _ = try reader.receive(count: count) }
    }
    #expect(last?.error == "Busy" && last?.string("reason")?.contains("log of changes") == true)
    #expect(try writer.call("Backup", upgrade: true).error == nil)
  }
}

@Suite("Backup over the socket") struct BackupTests {
  /// Makes an unlocked vault with two items.
  private func sandbox(_ config: String = "idle = off", recovery: Bool = false) throws -> (Sandbox, String?) {
    let sandbox = try Sandbox()
    let code = try sandbox.makeVault(password: password, config: config, recovery: recovery)
    try sandbox.unlock(password)
    #expect(try sandbox.client().call("Set", ["name": "a", "value": "kept"]).error == nil)
    #expect(try sandbox.client().call("Set", ["name": "boot", "value": "b", "accessible": "always"]).error == nil)
    return (sandbox, code)
  }

  /// Makes another home, with a daemon but no vault.
  private func empty() throws -> Sandbox {
    let other = try Sandbox()
    try other.startDaemon(config: "idle = off")
    return other
  }

  /// Stores `count` values of 1 MiB.
  private func fill(_ sandbox: Sandbox, _ count: Int) throws {
    let client = try sandbox.client()
    let value = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }).base64EncodedString()
    for index in 0..<count {
      #expect(try client.call("Set", ["name": "big/\(index)", "data": value]).error == nil)
    }
  }

  @Test("what the record and its counts had only in memory is in a backup", arguments: ["on", "required"])
  func record(_ mode: String) throws {
    let (sandbox, _) = try sandbox("idle = off\naudit = \(mode)")
    defer { sandbox.close() }
    let client = try sandbox.client()
    let subject = "user:\(getuid())"
    #expect(try client.call("Grant", ["subject": subject, "items": "a", "rights": ["get"]]).error == nil)
    for _ in 0..<160 { #expect(try client.call("Get", ["name": "a"]).error == nil) }
    func gets(_ client: WireClient) throws -> Int {
      var reply = try client.call("Audit", ["action": "get", "item": "a"], more: true)
      var count = 0
      while true {
        let entries = reply.parameters["entries"] as? [WireClient.Message] ?? []
        count += entries.reduce(0) { $0 + ($1["count"] as? Int ?? 1) }
        guard reply.continues else { return count }
        reply = try client.reply()
      }
    }
    let (bytes, last) = try client.backup()
    #expect(last.error == nil)
    let other = try empty()
    defer { other.close() }
    #expect(try other.restore(bytes).error == nil)
    try other.unlock(password)
    #expect(try gets(other.client()) == 160)
  }

  @Test("a backup restores on another machine, with a password or a recovery code") func roundTrip() throws {
    let (sandbox, code) = try sandbox(recovery: true)
    defer { sandbox.close() }
    let (bytes, last) = try sandbox.client().backup()
    #expect(last.error == nil)
    for (secret, method) in [(password, nil), (try #require(code), "recovery")] as [(String, String?)] {
      let other = try empty()
      defer { other.close() }
      let reply = try other.restore(bytes, secret: secret, method: method)
      #expect(reply.error == nil, "\(reply)")
      #expect((reply.parameters["left_out"] as? [Any])?.isEmpty == true)
      let status = try other.client().call("Status")
      #expect(status.string("state") == "cold")
      #expect(status.string("cause") == "the vault was restored from a backup")
      // With the new boot key, the daemon serves the item although nobody unlocks, after a restart, too.
      #expect(try other.client().call("Get", ["name": "boot"]).string("value") == "b")
      try other.stopDaemon()
      try other.startDaemon()
      #expect(try other.client().call("Get", ["name": "boot"]).string("value") == "b")
      #expect(try other.unlock(password)?.error == nil)
      #expect(try other.client().call("Get", ["name": "a"]).string("value") == "kept")
    }
  }

  @Test("others are served, and what they change meanwhile is not in it") func meanwhile() throws {
    let (sandbox, _) = try sandbox()
    defer { sandbox.close() }
    try fill(sandbox, 2)
    let client = try sandbox.client()
    #expect(try client.call("Backup", upgrade: true).error == nil)
    // The backup is still running: the socket's buffer takes less than two values.
    let other = try sandbox.client()
    #expect(try other.call("Set", ["name": "a", "value": "changed", "update": true]).error == nil)
    for index in 0..<200 { #expect(try other.call("Set", ["name": "new/\(index)", "value": "x"]).error == nil) }
    #expect(try other.call("Get", ["name": "a"]).string("value") == "changed")
    #expect(try other.call("Backup", upgrade: true).error == "Busy")
    var all: [UInt8] = []
    while let length = try client.receive(count: 4), length != [0, 0, 0, 0] {
      all += try #require(try client.receive(count: length.reversed().reduce(0) { $0 << 8 | Int($1) }))
    }
    #expect(try client.reply().error == nil)
    let restored = try empty()
    defer { restored.close() }
    #expect(try restored.restore(all).error == nil)
    #expect(try restored.unlock(password)?.error == nil)
    #expect(try restored.client().call("Get", ["name": "a"]).string("value") == "kept")
    #expect(try restored.client().call("Get", ["name": "new/0"]).error == "NoSuchItem")
    // A further backup can be made.
    #expect(try sandbox.client().backup().last.error == nil)
  }

  @Test("a client that goes away ends the backup, and the next one may begin") func gone() throws {
    let (sandbox, _) = try sandbox()
    defer { sandbox.close() }
    try fill(sandbox, 2)
    do {
      let client = try sandbox.client()
      #expect(try client.call("Backup", upgrade: true).error == nil)
      #expect(try client.receive(count: 4) != nil)
    }
    // The daemon may not have noticed the client's end yet.
    let next = try sandbox.client()
    while true {
      let (bytes, last) = try next.backup()
      guard last.error == "Busy" else {
        #expect(last.error == nil && !bytes.isEmpty)
        break
      }
    }
    #expect(try sandbox.client().call("Get", ["name": "a"]).string("value") == "kept")
  }

  @Test("an idle lock lets a backup be made and go on; before the first unlock there is none") func locked() throws {
    let (sandbox, _) = try sandbox()
    defer { sandbox.close() }
    #expect(try sandbox.client().call("Lock").error == nil)
    let (bytes, last) = try sandbox.client().backup()
    #expect(last.error == nil && !bytes.isEmpty)
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    let refused = try sandbox.client().call("Backup", upgrade: true)
    #expect(refused.error == "Locked")
    #expect(refused.string("state") == "cold")
  }

  /// Makes a client to which a backup of two megabytes is being sent.
  private func begin(_ stand: LockStand) throws -> WireClient {
    let value = String(repeating: "v", count: 1 << 20)
    let client = try stand.sandbox.client()
    #expect(try client.call("Set", ["name": "big", "value": value]).error == nil)
    #expect(try client.call("Set", ["name": "big2", "value": value]).error == nil)
    #expect(try client.call("Backup", upgrade: true).error == nil)
    return client
  }

  /// Returns the number of bytes left of a backup, and the last reply.
  private func rest(_ client: WireClient) throws -> (count: Int, last: WireClient.Reply) {
    var count = 0
    while let length = try client.receive(count: 4), length != [0, 0, 0, 0] {
      count += try #require(try client.receive(count: length.reversed().reduce(0) { $0 << 8 | Int($1) })).count
    }
    return (count, try client.reply())
  }

  @Test("a sleep, which wipes its key, calls a backup off, and its client is told") func sleep() throws {
    let stand = try LockStand()
    let client = try begin(stand)
    try stand.prepareForSleep(true)
    // The daemon releases the inhibitor once no key is left, though the client still does not read.
    try stand.wait("the inhibitor to be released") { try !stand.inhibitors().contains(#""sleep" "vault""#) }
    let (count, last) = try rest(client)
    #expect(last.error == "Locked")
    #expect(last.string("cause") == "the machine goes to sleep")
    #expect(count < 2 << 20)
  }

  @Test("a sleep that leaves its key leaves a backup alone") func keptAcrossSleep() throws {
    let stand = try LockStand(config: "keep-across-sleep = true")
    let client = try begin(stand)
    try stand.prepareForSleep(true)
    // The events of the stored items come first.
    while try stand.nextEvent() != "locked: the machine goes to sleep" {}
    let (count, last) = try rest(client)
    #expect(last.error == nil)
    #expect(count > 2 << 20)
  }

  @Test("a vault that nothing portable opens is not backed up, and the answer says what to do") func noSlot() throws {
    let (sandbox, _) = try sandbox()
    defer { sandbox.close() }
    let added = try sandbox.converse(
      "AddSlot", ["kind": "login", "kdf_memory": 19 << 20, "kdf_passes": 2]
    ) { prompt in prompt["style"] as? String == "secret" ? password : "the login password" }
    #expect(added?.error == nil)
    // No vault is made like this: its password slot became unreadable.
    try sandbox.stopDaemon()
    try sandbox.editStore("UPDATE slots SET record = x'00' WHERE id = 1")
    try sandbox.startDaemon()
    let refused = try sandbox.client().call("Backup", upgrade: true)
    #expect(refused.error == "MethodUnavailable")
    #expect(refused.sentence?.hasSuffix("make a new vault and copy the items into it") == true)
  }

  @Test("both calls are refused unless the client says what follows") func upgrade() throws {
    let (sandbox, _) = try sandbox()
    defer { sandbox.close() }
    let client = try sandbox.client()
    for reply in [try client.call("Backup"), try client.call("Restore", ["header": ""], more: true)] {
      #expect(reply.error == "org.varlink.service.InvalidParameter")
      #expect(reply.string("parameter") == "upgrade")
    }
    // The connection still speaks Varlink.
    #expect(try client.call("Get", ["name": "a"]).string("value") == "kept")
    // A client that does not wait for the answer is cut off: its next bytes would be taken for something else.
    let hasty = try sandbox.client()
    let call = #"{"method":"io.vaultd.Vault.Backup","upgrade":true}"# + "\0"
    hasty.send(Array((call + call).utf8))
    #expect(try hasty.receive() == nil)
    #expect(try sandbox.client().backup().last.error == nil)
  }

  @Test("the daemon holds no more of a large store in memory than of a small one") func memory() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try makeLargeVault(in: sandbox.store)
    try sandbox.startDaemon(config: "idle = off")
    try sandbox.unlock(password)
    // The check after the unlock fills the database's cache.
    try sandbox.awaitCheck()
    func peak(_ sandbox: Sandbox) throws -> Int {
      try ProcessMemory.bytes("VmHWM", of: #require(sandbox.daemonPid))
    }
    let before = try peak(sandbox)
    let (bytes, last) = try sandbox.client().backup()
    #expect(last.error == nil)
    #expect(bytes.count > 64 << 20)
    #expect(try peak(sandbox) < before + 8 << 20)
    let other = try empty()
    defer { other.close() }
    let start = try peak(other)
    #expect(try other.restore(bytes).error == nil)
    // Argon2id used 19 MiB of this.
    #expect(try peak(other) < start + (19 + 12) << 20)
    #expect(try other.unlock(password)?.error == nil)
    #expect(try other.client().call("Status").integer("items") == 64)
  }

  /// Makes a vault with 64 values of 1 MiB each, without the daemon, because a debug build of it would take long.
  private func makeLargeVault(in directory: String) throws {
    let vaultKey = RandomBytes.secret(count: 32)
    let vaultID = RandomBytes.array(count: 16)
    let text = Array(password.utf8)
    let secret = SecureBytes(copying: unsafe text.span.bytes)
    let slot = try SlotRecord.make(
      id: 1, kind: .password, label: "", created: 1000, secret: secret, kdf: .floor, vaultKey: vaultKey,
      vaultID: vaultID)
    try Keychain.create(
      in: directory, slots: [slot], vaultID: vaultID, vaultKey: vaultKey, bootKey: RandomBytes.secret(count: 32),
      now: 1000)
    let keychain = try Keychain(opening: directory)
    try keychain.unlock(vaultKey: vaultKey)
    let value = SecureBytes(count: Keychain.maximumValue)
    for index in 0..<64 {
      _ = try keychain.set(ItemChange(name: ItemName("big/\(index)"), kind: .blob), value: value, now: 1000)
    }
  }
}
