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
  private static func flooded(_ victim: RoomStand, withBootKey: Bool) throws -> RoomStand {
    let flooded = try AuditPartTests.killed(victim, settings(1 << 26), system: true)
    if withBootKey { try flooded.openWithBootKey() }
    for _ in 0..<4 {
      noise(flooded, .use, 1_000, by: 1001)
      flooded.hands.pass(seconds: 2)
    }
    #expect(try flooded.vault.keychain().auditFacts.bytes > 1 << 20)
    return try AuditPartTests.killed(flooded, settings(1 << 20), system: true)
  }

  @Test(
    "who adds to the file makes the vault remove that, and none of the entries from before", arguments: [false, true])
  func atRest(withBootKey: Bool) throws {
    let victim = try Self.victim()
    let before = try AuditTests.told(victim).filter { $0 != "audit ok read" }
    let stand = try Self.flooded(victim, withBootKey: withBootKey)
    if withBootKey { try stand.openWithBootKey() }
    try stand.unlock()
    for _ in 0..<5 { stand.hands.pass(seconds: 61) }
    let told = try AuditTests.told(stand)
    #expect(Array(told.prefix(before.count)) == before)
    #expect(told.contains { $0.hasSuffix("more were written before the unlock than vaultd writes then") })
    #expect(try stand.vault.keychain().auditFacts.bytes < 1 << 20 && stand.vault.keychain().verify().isOK)
    // The log goes on, also over a restart.
    stand.vault.audit.record(.use, .ok, Self.reader, item: "later")
    stand.hands.pass(seconds: 61)
    let next = try AuditPartTests.killed(stand, Self.settings(1 << 20), system: true)
    try next.unlock()
    let last = try AuditTests.told(next)
    #expect(Array(last.prefix(before.count)) == before && last.contains("use ok later"))
    #expect(!last.contains { $0.hasPrefix("audit failed") && !$0.contains("than vaultd writes then") })
    #expect(try next.vault.keychain().verify().isOK)
  }

  @Test("entries that somebody has added in a user's name leave that user half of its parts") func inTheNameOfOthers()
    throws
  {
    let victim = try Self.victim()
    var stand = try AuditPartTests.killed(victim, Self.settings(1 << 20), system: true)
    for _ in 0..<3 {
      Self.noise(stand, .use, 200, by: 1005)
      stand.hands.pass(seconds: 2)
    }
    stand = try AuditPartTests.killed(stand, Self.settings(1 << 20), system: true)
    try stand.unlock()
    stand.vault.audit.record(.use, .ok, RoomStand.caller(1005), item: "a real read")
    stand.hands.pass(seconds: 2)
    #expect(try AuditTests.found(stand).contains { $0.item == "a real read" && $0.repeats == nil })
  }
}
