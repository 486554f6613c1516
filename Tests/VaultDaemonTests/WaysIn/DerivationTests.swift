import Foundation
import Glibc
import Testing
import VaultCore
import VaultModel
import VaultTesting

private let password = "correct horse battery"

@Suite("Keys from secrets") struct DerivationTests {
  @Test("without the memory for it the right password is neither called wrong nor held against anybody") func memory()
    throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try MachineClock(in: sandbox)
    try sandbox.startDaemon()
    let made = try sandbox.converse("Init", ["kdf_memory": 256 << 20, "kdf_passes": 2]) { _ in password }
    #expect(made?.error == nil)
    #expect(try sandbox.client().call("Lock").error == nil)
    let pid = try #require(sandbox.daemonPid)
    let size = try ProcessMemory.bytes("VmSize", of: pid)
    func limit(_ bytes: String) throws {
      let set = try sandbox.run(["--pid", "\(pid)", "--as=\(bytes)"], program: "/usr/bin/prlimit")
      #expect(set.status == 0, "\(set)")
    }
    try limit("\(size + (96 << 20)):unlimited")
    for _ in 0..<2 { #expect(try sandbox.unlock(password)?.error == "OutOfMemory") }
    #expect(try sandbox.unlock("wrong")?.error == "OutOfMemory")
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/backoff"))
    try limit("unlimited:unlimited")
    #expect(try sandbox.unlock("wrong")?.error == "AuthenticationFailed")
    try sandbox.waitOut("password")
    try limit("\(size + (96 << 20)):unlimited")
    #expect(try sandbox.unlock(password)?.error == "OutOfMemory")
    // The failure of the derivation does not erase the record of an earlier failed attempt.
    let failures = try String(contentsOfFile: sandbox.store + "/backoff", encoding: .utf8)
    #expect(failures.hasPrefix("\(geteuid()) password 1 "), "\(failures)")
    try limit("unlimited:unlimited")
    #expect(try sandbox.unlock(password)?.error == nil)
  }

  @Test("a backup whose slots would take hours to try is refused at once, and nothing is held against anybody")
  func header() throws {
    let header = try BackupHeader(
      vaultID: .random(), created: 1, size: 1, slots: Array(repeating: try Self.costly(id: 1), count: 255),
      wrappedKey: [UInt8](repeating: 0, count: 72))
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    let reply = try sandbox.client().call(
      "Restore", ["header": Data(header.encoded()).base64EncodedString()], more: true, upgrade: true)
    #expect(
      reply.error == "InvalidBackup" && reply.string("reason") == "its slots would take too long to try", "\(reply)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/backoff"))
  }

  @Test("of a store with more slots than can be tried the cheapest and first are, and the others are told of")
  func tooManySlots() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try MachineClock(in: sandbox)
    _ = try sandbox.makeVault(password: password)
    try sandbox.stopDaemon()
    let other = try SlotRecord.make(
      id: 2, kind: .password, label: "", created: 1, secret: RandomBytes.secret(count: 32), kdf: .floor,
      vaultKey: RandomBytes.secret(count: 32), vaultID: VaultID.random().bytes)
    var record = other.encoded()
    for id in UInt8(2)...66 {
      // The byte behind the format's version is the slot's number.
      record[1] = id
      let hex = record.map { String(format: "%02x", $0) }.joined()
      try sandbox.editStore("INSERT INTO slots VALUES(\(id), x'\(hex)')")
    }
    try sandbox.startDaemon()
    let wrong = try sandbox.unlock("wrong")
    #expect(wrong?.error == "Corrupt", "\(String(describing: wrong))")
    #expect(wrong?.string("reason") == "2 slots were not tried, because that would take too long")
    try sandbox.waitOut("password")
    #expect(try sandbox.unlock(password)?.error == nil)
  }

  @Test("no password is taken that would make the vault's backups such") func limit() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: password)
    try sandbox.stopDaemon()
    // Eight slots of the highest allowed cost; nobody has their secret.
    for id in UInt32(2)...9 {
      let record = try Self.costly(id: id).encoded().map { String(format: "%02x", $0) }.joined()
      try sandbox.editStore("INSERT INTO slots VALUES(\(id), x'\(record)')")
    }
    try sandbox.startDaemon()
    var asked: [String] = []
    let reply = try sandbox.converse("AddSlot", ["kind": "password", "kdf_memory": 19 << 20, "kdf_passes": 2]) {
      asked.append($0["style"] as? String ?? "")
      return password
    }
    #expect(reply?.error == "Denied" && asked == ["secret"], "\(asked) \(String(describing: reply))")
  }

  /// Makes a slot that claims the highest cost; no secret opens it.
  private static func costly(id: UInt32) throws -> SlotRecord {
    let vaultKey = RandomBytes.secret(count: 32)
    let slot = try SlotRecord.make(
      id: id, kind: .password, label: String(repeating: "x", count: 16), created: 1, secret: vaultKey, kdf: .floor,
      vaultKey: vaultKey, vaultID: VaultID.random().bytes)
    // The cost stands in the clear: memory and passes follow the kind, the time and the mark of their presence.
    var bytes = slot.encoded()
    let floor = cost(.floor)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: floor) })
    bytes.replaceSubrange(place..<(place + floor.count), with: cost(.ceiling))
    let costly = try SlotRecord(decoding: unsafe bytes.span.bytes)
    #expect(costly.kdf == .ceiling)
    return costly
  }

  /// Memory and passes as encoded in a slot's record.
  private static func cost(_ parameters: Argon2id.Parameters) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: parameters.memory >> ($0 * 8)) }
      + (0..<4).map { UInt8(truncatingIfNeeded: parameters.passes >> ($0 * 8)) }
  }

  @Test("of the keys that one user has derived there is one at a time") func oneAtATime() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    // The first derivation takes seconds; the other calls come at once.
    let cost: WireClient.Message = ["kdf_memory": 256 << 20, "kdf_passes": 20]
    var asking: [WireClient] = []
    for _ in 0..<20 {
      let client = try sandbox.client()
      let conversation = try #require(try client.call("Init", cost, more: true).string("conversation"))
      asking.append(client)
      #expect(
        try sandbox.client().call("Respond", ["conversation": conversation, "answer": password]).error == nil)
    }
    #expect(try asking.dropFirst().map { try $0.reply().error } == Array(repeating: "BackingOff", count: 19))
  }

  @Test("who leaves while an answer is tried on the first of several slots has made an attempt") func left() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    // The derivation is long enough for a client to leave meanwhile, even on a busy machine.
    #expect(try sandbox.converse("Init", ["kdf_memory": 256 << 20, "kdf_passes": 10]) { _ in password }?.error == nil)
    // A slot that costs less than the other would be tried before it.
    let second: WireClient.Message = ["kind": "password", "kdf_memory": 256 << 20, "kdf_passes": 10]
    let added = try sandbox.converse("AddSlot", second) {
      $0["style"] as? String == "secret" ? password : "another password"
    }
    #expect(added?.error == nil)
    #expect(try sandbox.client().call("Lock").error == nil)
    let pid = try #require(sandbox.daemonPid)
    func size() throws -> Int {
      let pages = try String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8).prefix { $0 != " " }
      return try #require(Int(pages)) * 4096
    }
    func isOver() throws -> Bool {
      let methods = try sandbox.client().call("Status").parameters["methods"] as? [WireClient.Message] ?? []
      return methods.contains { $0["name"] as? String == "password" && $0["available"] as? Bool == true }
    }
    let before = try size()
    var asking: WireClient? = try sandbox.client()
    let id = try #require(try asking?.call("Unlock", more: true).string("conversation"))
    #expect(try sandbox.client().call("Respond", ["conversation": id, "answer": "wrong"]).error == nil)
    while try size() < before + (128 << 20), try !isOver() { sched_yield() }
    asking = nil
    while try !isOver() { sched_yield() }
    let failures = try String(contentsOfFile: sandbox.store + "/backoff", encoding: .utf8)
    #expect(failures.hasPrefix("\(geteuid()) password 1 "), "\(failures)")
  }

  @Test("while one is derived, Status says of every way that would derive another that it has to wait") func status()
    throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: password, recovery: true)
    let asking = try sandbox.client()
    // This derivation takes at least seconds.
    let prompt = try asking.call(
      "AddSlot", ["kind": "password", "kdf_memory": 512 << 20, "kdf_passes": 20], more: true)
    let conversation = try #require(prompt.string("conversation"))
    func answer(_ text: String) throws {
      let answered = try sandbox.client().call("Respond", ["conversation": conversation, "answer": text])
      #expect(answered.error == nil)
    }
    func available() throws -> Set<String> {
      let methods = try sandbox.client().call("Status").parameters["methods"] as? [WireClient.Message] ?? []
      return Set(methods.filter { $0["available"] as? Bool == true }.compactMap { $0["name"] as? String })
    }
    try answer(password)
    #expect(try asking.reply().prompt?["style"] as? String == "new-secret")
    #expect(try available().isSuperset(of: ["password", "recovery"]))
    try answer("another password")
    #expect(try available().isDisjoint(with: ["password", "recovery"]))
    // Nobody is prompted in vain for either secret.
    for method in ["password", "recovery"] {
      #expect(try sandbox.client().call("Unlock", ["method": method], more: true).error == "BackingOff")
    }
  }
}
