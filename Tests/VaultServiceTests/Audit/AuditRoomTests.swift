import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("The room of the audit log that all subjects share") struct AuditRoomTests {
  private static let long = String(repeating: "x", count: 400)
  private static var reader: Caller { RoomStand.caller(1001) }

  private static func settings(_ size: Int64) -> VaultSettings {
    var settings = VaultSettings()
    settings.audit.size = size
    return settings
  }

  private static func noise(_ stand: RoomStand, _ action: AuditAction, _ count: Int, by uid: UInt32) {
    for number in 0..<count {
      stand.vault.audit.record(action, .ok, RoomStand.caller(uid), item: "\(number) \(long)")
    }
  }

  /// Makes separate subjects of these users.
  private static func giveRights(_ stand: RoomStand) throws {
    for uid in 1001...1005 { try AuditFilling.give(stand, "user:\(uid)", "a/*") }
  }

  // MARK: While nothing can be written

  /// Records noise, and after it what must not be lost to the noise.
  private static func record(_ stand: RoomStand, _ noisy: AuditAction) {
    noise(stand, noisy, 12_000, by: 1002)
    stand.hands.pass(seconds: 2)
    noise(stand, noisy, 8_000, by: 1003)
    stand.vault.audit.record(.use, .ok, reader, item: "served")
    stand.vault.audit.record(.unlock, .unproven, reader, item: "by password")
    stand.vault.audit.record(.grant, .ok, stand.administrator, item: "user:1004")
  }

  @Test(
    "noise while the disk is full is counted, and takes the room of nothing else", arguments: [AuditAction.find, .use])
  func fullDisk(noisy: AuditAction) throws {
    var disk: SmallDisk?
    let stand = try RoomStand.unlocked(Self.settings(1 << 30), system: true) { disk = SmallDisk($0) }
    defer { stand.vault.closeStore() }
    try Self.giveRights(stand)
    stand.hands.pass(seconds: 61)
    disk?.fill()
    Self.record(stand, noisy)
    #expect(stand.vault.audit.lost == 0)
    #expect(try stand.vault.keychain().unwrittenAuditBytes <= Keychain.mostUnwrittenAudit)
    disk?.free()
    for _ in 0..<3 { stand.hands.pass(seconds: 61) }
    let found = try AuditTests.found(stand)
    for item in ["by password", "user:1004"] {
      #expect(found.contains { $0.item == item && $0.repeats == nil }, "\(item)")
    }
    // Values are at least counted by item when others fill the room of values.
    #expect(found.contains { $0.item == "served" && $0.caller?.uid == 1001 && ($0.repeats == nil || noisy == .use) })
    let counted = found.filter { $0.action == noisy && $0.item != "served" }
    #expect(counted.reduce(0) { $0 + Int($1.repeats?.count ?? 1) } == 20_000)
    #expect(try !AuditTests.told(stand).contains { $0.hasSuffix("lost") })
  }

  @Test("noise in a store that has failed its check loses nothing either, and status tells why nothing is written")
  func failedStore() throws {
    let stand = try AuditTests.failed(Self.settings(1 << 30))
    Self.record(stand, .find)
    #expect(stand.vault.audit.lost == 0)
    let told = try AuditTests.told(stand)
    for entry in ["use ok served", "unlock unproven by password", "grant ok user:1004"] {
      #expect(told.contains(entry), "\(entry)")
    }
    #expect(stand.vault.audit.problem?.contains("disk full") == false, "\(stand.vault.audit.problem ?? "none")")
  }

  @Test("noise that comes before an attempt to write shows that the store has failed loses nothing either")
  func failing() throws {
    let stand = try RoomStand.unlocked(Self.settings(1 << 30), system: true)
    try Self.giveRights(stand)
    try stand.set("a")
    try stand.edit("UPDATE heads SET sealed = zeroblob(length(sealed))")
    try stand.unlock()
    stand.run()
    #expect(try stand.vault.keychain().hasFailed)
    #expect(stand.vault.audit.problem == nil)
    Self.noise(stand, .use, 20_000, by: 1002)
    stand.vault.audit.record(.use, .ok, Self.reader, item: "served")
    stand.vault.audit.record(.unlock, .unproven, Self.reader, item: "by password")
    stand.hands.pass(seconds: 2)
    #expect(stand.vault.audit.lost == 0)
    let found = try AuditTests.found(stand)
    #expect(found.contains { $0.item == "by password" && $0.repeats == nil })
    #expect(found.contains { $0.item == "served" && $0.caller?.uid == 1001 })
    let counted = found.filter { $0.caller?.uid == 1002 }
    #expect(counted.reduce(0) { $0 + Int($1.repeats?.count ?? 1) } == 20_000)
  }

  // MARK: Before an unlock

  /// Makes a vault with a small log, and entries that were vouched for.
  private static func victim() throws -> RoomStand {
    let stand = try RoomStand.unlocked(settings(1 << 20), system: true)
    try giveRights(stand)
    noise(stand, .use, 40, by: 1001)
    stand.hands.pass(seconds: 61)
    stand.vault.audit.record(.unlock, .unproven, reader, item: "the theft")
    stand.hands.pass(seconds: 61)
    return stand
  }

  /// Lets somebody add to the files what no daemon with these settings would write before an unlock.
  private static func flooded(
    _ victim: RoomStand, withBootKey: Bool = false, by count: Int = 4_000, _ size: Int64 = 1 << 20
  ) throws -> RoomStand {
    let flooded = try AuditPartTests.killed(victim, settings(1 << 26), system: true)
    if withBootKey { try flooded.openWithBootKey() }
    for _ in 0..<4 {
      noise(flooded, .use, count / 4, by: 1001)
      flooded.hands.pass(seconds: 2)
    }
    return try AuditPartTests.killed(flooded, settings(size), system: true)
  }

  private static let excess = "more were written before an unlock than have room in the log"

  /// Expects that a log holds the entries from before, and is whole.
  private static func expect(_ before: [String], in stand: RoomStand) throws {
    let told = try AuditTests.told(stand)
    #expect(Array(told.prefix(before.count)) == before)
    #expect(!told.contains { $0.hasPrefix("audit failed") && !$0.hasSuffix(excess) })
    #expect(try stand.vault.keychain().verify().isOK)
  }

  @Test(
    "who adds to the file makes the vault remove that, and none of the entries from before", arguments: [false, true])
  func atRest(withBootKey: Bool) throws {
    let victim = try Self.victim()
    let before = try AuditTests.told(victim).filter { $0 != "audit ok read" }
    let stand = try Self.flooded(victim, withBootKey: withBootKey)
    #expect(try stand.vault.keychain().auditFacts.bytes > 1 << 20)
    if withBootKey { try stand.openWithBootKey() }
    try stand.unlock()
    for _ in 0..<5 { stand.hands.pass(seconds: 61) }
    try Self.expect(before, in: stand)
    #expect(try AuditTests.told(stand).contains { $0.hasSuffix(Self.excess) })
    // Every reader is told that reads are missing.
    for reader in [stand.administrator, Self.reader] {
      #expect(try AuditGapsTests.told(stand, by: reader)?.haveLost == true)
    }
    #expect(try stand.vault.keychain().auditFacts.bytes < 1 << 20)
    // The log goes on, also over a restart.
    stand.vault.audit.record(.use, .ok, Self.reader, item: "later")
    stand.hands.pass(seconds: 61)
    let next = try AuditPartTests.killed(stand, Self.settings(1 << 20), system: true)
    try next.unlock()
    try Self.expect(before, in: next)
    #expect(try AuditTests.told(next).contains("use ok later"))
  }

  @Test("who adds a little before each unlock has no more room than who adds all at once") func manyTimes() throws {
    var stand = try Self.victim()
    let before = try AuditTests.told(stand).filter { $0 != "audit ok read" }
    for _ in 0..<10 {
      stand = try Self.flooded(stand, by: 280)
      try stand.unlock()
      for _ in 0..<3 { stand.hands.pass(seconds: 61) }
    }
    try Self.expect(before, in: stand)
    #expect(try stand.vault.keychain().auditFacts.bytes < 1 << 20)
  }

  @Test("damage behind such a flood is told in an entry, and nothing is removed for the flood") func damaged() throws {
    let victim = try Self.victim()
    let before = try AuditTests.told(victim).filter { $0 != "audit ok read" }
    let stand = try Self.flooded(victim)
    try stand.edit("UPDATE audit SET sealed = zeroblob(length(sealed)) WHERE id = (SELECT max(chain) FROM audit)")
    try stand.unlock()
    for _ in 0..<3 { stand.hands.pass(seconds: 61) }
    let told = try AuditTests.told(stand)
    #expect(Array(told.prefix(before.count)) == before)
    let fault = "missing, or not what was written"
    #expect(told.contains { $0.hasPrefix("audit failed ") && $0.hasSuffix(fault) })
    #expect(try stand.vault.keychain().hasFailed)
  }

  @Test("what the daemon itself writes behind such a flood stays") func behind() throws {
    let victim = try Self.victim()
    let before = try AuditTests.told(victim).filter { $0 != "audit ok read" }
    // The daemon starts with settings under which it would write still more.
    let cold = try Self.flooded(victim, 1 << 26)
    cold.vault.audit.record(.use, .ok, RoomStand.caller(1002), item: "a theft before the unlock")
    cold.hands.pass(seconds: 2)
    let stand = try AuditPartTests.killed(cold, Self.settings(1 << 20), system: true)
    try stand.unlock()
    for _ in 0..<3 { stand.hands.pass(seconds: 61) }
    try Self.expect(before, in: stand)
    #expect(try AuditTests.told(stand).contains("use ok a theft before the unlock"))
  }

  @Test("a full disk at the unlock delays the removal, and no other entry goes meanwhile") func fullAtUnlock() throws {
    let victim = try Self.victim()
    let before = try AuditTests.told(victim).filter { $0 != "audit ok read" }
    let flooded = try Self.flooded(victim)
    let from = flooded.vault.directory
    var disk: SmallDisk?
    let stand = try RoomStand(Self.settings(1 << 20), system: true) { store in
      try FileManager.default.createDirectory(
        atPath: store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      disk = SmallDisk(store)
      for name in ["vault.db", "vault.db-wal"] where FileManager.default.fileExists(atPath: "\(from)/\(name)") {
        try FileManager.default.copyItem(atPath: "\(from)/\(name)", toPath: "\(store)/\(name)")
      }
    }
    defer { stand.vault.closeStore() }
    stand.hands.wall.value = flooded.hands.wall.value
    stand.hands.pass(flooded.hands.now - stand.hands.now)
    disk?.fill()
    stand.vault.audit.record(.unlock, .unproven, Self.reader, item: "waits")
    stand.hands.pass(seconds: 2)
    #expect(try stand.vault.keychain().hasUnwrittenAudit)
    try stand.unlock()
    stand.hands.pass(seconds: 61)
    disk?.free()
    for _ in 0..<5 { stand.hands.pass(seconds: 61) }
    try Self.expect(before, in: stand)
    #expect(try stand.vault.keychain().auditFacts.bytes < 1 << 20)
    #expect(try AuditTests.told(stand).contains { $0.hasPrefix("unlock unproven") })
  }

  @Test("a log that was made smaller before the unlock keeps the newest entries from before it") func smaller() throws {
    let victim = try Self.victim()
    let stand = try AuditPartTests.killed(victim, Self.settings(1 << 24), system: true)
    Self.noise(stand, .use, 1_000, by: 1002)
    stand.hands.pass(seconds: 2)
    let next = try AuditPartTests.killed(stand, Self.settings(1 << 24), system: true)
    next.vault.audit.record(.use, .ok, RoomStand.caller(1003), item: "the newest")
    next.hands.pass(seconds: 2)
    let last = try AuditPartTests.killed(next, Self.settings(1 << 20), system: true)
    try last.unlock()
    for _ in 0..<3 { last.hands.pass(seconds: 61) }
    let told = try AuditTests.told(last)
    #expect(told.contains("use ok the newest") && told.contains { $0.hasSuffix(Self.excess) })
    // The newest of the many from before it stay as well, as far as they have room.
    let kept = told.filter { $0.hasPrefix("use ok ") && $0.hasSuffix(Self.long) }
    let numbers = kept.compactMap { $0.split(separator: " ").dropFirst(2).first.flatMap { Int($0) } }
    let newest = numbers.suffix(300)
    let first = try #require(newest.first)
    #expect(newest.count == 300 && Array(newest) == Array(first..<first + 300) && !numbers.contains(200), "\(numbers)")
    #expect(try last.vault.keychain().verify().isOK)
  }

  @Test("entries that somebody has added in a user's name take none of that user's parts") func inTheNameOfOthers()
    throws
  {
    var stand = try Self.victim()
    for _ in 0..<3 {
      stand = try AuditPartTests.killed(stand, Self.settings(1 << 20), system: true)
      for _ in 0..<3 {
        Self.noise(stand, .use, 200, by: 1005)
        stand.hands.pass(seconds: 2)
      }
      stand = try AuditPartTests.killed(stand, Self.settings(1 << 20), system: true)
      try stand.unlock()
      stand.hands.pass(seconds: 61)
    }
    stand.vault.audit.record(.use, .ok, RoomStand.caller(1005), item: "a real read")
    stand.hands.pass(seconds: 2)
    #expect(try AuditTests.found(stand).contains { $0.item == "a real read" && $0.repeats == nil })
  }
}
