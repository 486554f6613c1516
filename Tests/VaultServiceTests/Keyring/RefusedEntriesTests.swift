import Testing
import VaultModel

@testable import VaultService

@Suite("The audit entries of a program's refused calls about items") struct RefusedEntriesTests {
  private static func stand(hidesNames: Bool = false) throws -> KeyringStand {
    var settings = VaultSettings()
    settings.hideNames = hidesNames
    settings.keyring.accessible = .whenUnlocked
    return try KeyringStand(settings)
  }

  /// Returns the entries of refused calls about the items in the default collection, sorted; the vault must be
  /// unlocked.
  private static func refused(_ stand: KeyringStand) throws -> [String] {
    try AuditTests.told(stand.rooms).filter { !$0.contains(" ok ") && $0.contains("secret-service/login/") }.sorted()
  }

  private static func lock(_ stand: KeyringStand, byProgram: Bool) throws {
    if byProgram { try stand.keyring.lock(for: stand.program) } else { stand.vault.lock(because: .asked) }
  }

  @Test("name each item of a locked vault, after a program's lock and after another one", arguments: [true, false])
  func locked(byProgram: Bool) throws {
    let stand = try Self.stand()
    let (path, other) = (try stand.make("v"), try stand.make("w"))
    try Self.lock(stand, byProgram: byProgram)
    for path in [path, other] { #expect(throws: KeyringFault.isLocked) { try stand.value(path) } }
    #expect(throws: KeyringFault.isLocked) {
      try stand.keyring.set(KeyringStand.secret("n"), of: path, for: stand.program)
    }
    try stand.rooms.unlock()
    let entries = [
      "get locked secret-service/login/\(path.element)", "get locked secret-service/login/\(other.element)",
      "set locked secret-service/login/\(path.element)",
    ]
    #expect(try Self.refused(stand) == entries.sorted())
  }

  @Test("name nothing while names are hidden", arguments: [true, false]) func hidden(byProgram: Bool) throws {
    let stand = try Self.stand(hidesNames: true)
    let path = try stand.make("v")
    try Self.lock(stand, byProgram: byProgram)
    #expect(throws: KeyringFault.isLocked) { try stand.value(path) }
    try stand.rooms.unlock()
    #expect(try Self.refused(stand) == [])
  }

  @Test("name the change that a program without a right wanted") func confined() throws {
    let stand = try Self.stand()
    let path = try stand.make("v")
    let confined = AttendanceStand.process(60, executable: "/usr/bin/confined")
    stand.rooms.access.add(.password, by: stand.rooms.administrator, with: [])
    _ = try stand.rooms.access.give(
      try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/confined"), try ItemPattern("else/*"), Rights(.get),
      until: nil, for: stand.rooms.administrator)
    #expect(throws: KeyringFault.isLocked) { try stand.keyring.item(path, for: confined) }
    #expect(throws: KeyringFault.isLocked) {
      try stand.keyring.set(KeyringStand.secret("n"), of: path, for: confined)
    }
    #expect(throws: KeyringFault.isLocked) { try stand.keyring.delete(path, for: confined) }
    let entries = ["delete", "find", "set"].map { "\($0) denied secret-service/login/\(path.element)" }
    #expect(try Self.refused(stand) == entries)
  }
}
