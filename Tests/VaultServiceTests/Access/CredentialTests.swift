import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("Credentials of units") struct CredentialTests {
  private static let unit = "tls.service"

  private static func give(
    _ stand: RoomStand, _ subject: String, _ pattern: String, as id: String?, rights: String = "get",
    until: Int64? = nil
  ) throws {
    _ = try stand.access.give(
      try Subject(parsing: subject), try ItemPattern(pattern), try Rights(parsing: rights),
      as: try id.map { try CredentialID($0) }, until: until, for: stand.administrator)
  }

  /// Makes a caller that is a service manager's process in a unit.
  private static func manager(_ uid: UInt32 = 0, unit: String? = CredentialTests.unit) -> Caller {
    var caller = RoomStand.caller(uid, unit: unit)
    (caller.door, caller.session) = (.credentials, nil)
    return caller
  }

  /// Returns the name of the item that was lent; nil if the caller must wait.
  private static func lent(
    _ stand: RoomStand, _ id: String, of unit: String = CredentialTests.unit, _ caller: Caller = manager()
  ) throws -> String? {
    var name: String?
    let wait = try stand.items.credential(try CredentialID(id), of: unit, for: caller) { item, _, _ in
      name = item.name.text
    }
    try wait.orRefused()
    #expect((wait == nil) == (name != nil))
    return name
  }

  @Test("are the items that grants name, for the service manager in that unit alone") func basics() throws {
    let stand = try RoomStand.unlocked(system: true)
    for name in ["tls/key", "tls/other", "express.key"] { try stand.set(name) }
    try Self.give(stand, "unit:\(Self.unit)", "tls/key", as: "express.key")
    #expect(try Self.lent(stand, "express.key") == "tls/key")
    // Neither an item with that name nor an item that the unit may read by another grant is the credential.
    try Self.give(stand, "unit:\(Self.unit)", "**", as: nil)
    for id in ["tls", "other", "key"] {
      #expect(throws: Refusal.denied("no grant names an item for this credential")) { try Self.lent(stand, id) }
    }
    #expect(throws: Refusal.denied("uid 990 is not that of the service manager")) {
      try Self.lent(stand, "express.key", Self.manager(990))
    }
    // An administrator, too, is limited to the unit in the address.
    for unit in ["other.service", nil] {
      #expect(throws: Refusal.denied("the caller is not in that unit")) {
        try Self.lent(stand, "express.key", Self.manager(unit: unit))
      }
    }
    #expect(throws: Refusal.denied("no grant names an item for this credential")) {
      try Self.lent(stand, "express.key", of: "other.service", Self.manager(unit: "other.service"))
    }
  }

  @Test("are no keys that are never read") func neverRead() throws {
    let stand = try RoomStand.unlocked(system: true)
    let change = ItemChange(name: try ItemName("tls/key"), use: .sign, neverRead: true)
    _ = try stand.items.set(change, .generated(.key(.ed25519)), for: stand.administrator) { _ in false }
    try Self.give(stand, "unit:\(Self.unit)", "tls/key", as: "express.key")
    #expect(throws: Refusal.neverRead("tls/key")) { try Self.lent(stand, "express.key") }
  }

  @Test("end with their grants") func ends() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("tls/key")
    try Self.give(stand, "unit:\(Self.unit)", "tls/key", as: "a")
    try Self.give(stand, "unit:\(Self.unit)", "tls/key", as: "b")
    try Self.give(stand, "unit:\(Self.unit)", "tls/key", as: nil, rights: "find")
    #expect(try Self.lent(stand, "a") != nil && Self.lent(stand, "b") != nil)
    _ = try stand.access.revoke(
      try Subject(parsing: "unit:\(Self.unit)"), try ItemPattern("tls/key"), for: stand.administrator)
    for id in ["a", "b"] { #expect(throws: Refusal.self) { try Self.lent(stand, id) } }
  }

  @Test("end at the time of their grant, and a later grant makes another item the credential") func laterItem() throws {
    let stand = try RoomStand.unlocked(system: true)
    for name in ["tls/key", "tls/next"] { try stand.set(name) }
    try Self.give(stand, "unit:\(Self.unit)", "tls/key", as: "a", until: 3000)
    #expect(try Self.lent(stand, "a") == "tls/key")
    stand.hands.wall.value = 3000
    #expect(throws: Refusal.denied("no grant names an item for this credential")) { try Self.lent(stand, "a") }
    try Self.give(stand, "unit:\(Self.unit)", "tls/next", as: "a")
    #expect(try Self.lent(stand, "a") == "tls/next")
  }

  @Test(
    "are one item of one service each",
    arguments: [
      ("unit:tls.service", "tls/other", "taken", "get"), ("unit:tls.service", "tls/*", "id", "get"),
      ("unit:tls.service", "tls/ke?", "id", "get"), ("user:0", "tls/key", "id", "get"),
      ("user:0,unit:tls.service", "tls/key", "id", "get"), ("unit:tls.slice", "tls/key", "id", "get"),
      ("unit:tls.service", "tls/key", "id", "find"), ("unit:tls.service", "tls/key", "id", "use"),
    ])
  func invalid(subject: String, pattern: String, id: String, rights: String) throws {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "unit:tls.service", "tls/key", as: "taken")
    try Self.give(stand, "unit:other.service", "tls/other", as: "taken")
    #expect {
      try Self.give(stand, subject, pattern, as: id, rights: rights)
    } throws: { error in
      if case .invalidGrant = error as? Refusal { true } else { false }
    }
    try stand.set("tls/key")
    #expect(try Self.lent(stand, "taken") == "tls/key")
  }

  @Test("of items that ask for a person, have expired or are not there are none") func unavailable() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("asks", require: .userPresence)
    try Self.give(stand, "unit:\(Self.unit)", "asks", as: "asks")
    try Self.give(stand, "unit:\(Self.unit)", "missing", as: "missing")
    #expect(throws: Refusal.presenceRequired("asks", .userPresence)) { try Self.lent(stand, "asks") }
    #expect(throws: Refusal.noSuchItem("missing", isVerified: true)) { try Self.lent(stand, "missing") }
  }
}
