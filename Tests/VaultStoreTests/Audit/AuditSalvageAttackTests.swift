import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Changes by somebody who has the files and none of the keys, for which a salvage must leave no other entries out.
@Suite("The audit log in a salvage after an attack") struct AuditSalvageAttackTests {
  /// Makes a log of three parts with two entries each: one of the unlocked vault, one of a cold start, and one of the
  /// unlocked vault. The third row begins the chain of the cold start, and the sixth row is the last one.
  private static func log() throws -> Fixture {
    let fixture = try Fixture.withItems(1)
    try AuditSalvageTests.vouch(fixture)
    try AuditSalvageTests.add(1, to: fixture)
    try AuditSalvageTests.vouch(fixture)
    return fixture
  }

  private static let anchorLoss = "DELETE FROM meta WHERE name = 'audit-anchor'"

  // MARK: Beginnings of chains

  /// Puts the beginning of a chain, which no key vouches for, behind the log or in the place of another one.
  private static func forge(
    _ fixture: Fixture, at row: Int64? = nil, _ origin: AuditChain.Origin, isEndMoved: Bool,
    _ change: (inout AuditPosition) throws -> Void
  ) throws {
    let forger = try fixture.open()
    let end = try #require(try forger.storedEnd())
    var (position, ended) = (end.position, end.mac)
    if let row {
      let chain = try Keychain.chain(try #require(try forger.database.auditRow(row)))
      (position, ended) = (AuditPosition(before: chain, in: row), chain.ended)
      try forger.database.dropAudit(row)
    }
    try change(&position)
    let chain = try AuditChain(
      origin: origin, time: 5000, after: position, ended: ended, seed: RandomBytes.secret(count: 32),
      publicKey: try forger.checkedPublicKey())
    let number = position.row + 1
    try forger.database.insertAudit(AuditRow(row: number, chain: number, bytes: chain.encoded))
    position.pass(chain)
    if isEndMoved { try forger.database.putMeta(MetaName.auditEnd, AuditEnd(position, chain: number).encoded) }
    try forger.close()
  }

  private static let changes: [@Sendable (inout AuditPosition) throws -> Void] = [
    { $0.entries += 1000 }, { $0.link = AuditChain.link(1, after: $0.link, [1]) }, { _ in },
  ]

  @Test(
    "a forged beginning of a chain behind the log takes no entry",
    arguments: [.cold, .continued] as [AuditChain.Origin], changes.indices)
  func behind(origin: AuditChain.Origin, change: Int) throws {
    for isEndMoved in [true, false] {
      for losesAnchor in [false, true] {
        let fixture = try Self.log()
        try Self.forge(fixture, origin, isEndMoved: isEndMoved, Self.changes[change])
        if losesAnchor { try fixture.sql(Self.anchorLoss) }
        let saved = try AuditSalvageTests.salvaged(fixture)
        #expect(saved.numbers == Array(1...6), "\(saved.numbers)")
      }
    }
  }

  @Test("a forged beginning of a chain within the log takes no entry before it", arguments: changes.indices)
  func within(change: Int) throws {
    for losesAnchor in [false, true] {
      let fixture = try Self.log()
      try Self.forge(fixture, at: 3, .cold, isEndMoved: false, Self.changes[change])
      if losesAnchor { try fixture.sql(Self.anchorLoss) }
      let saved = try AuditSalvageTests.salvaged(fixture)
      #expect(saved.numbers == [1, 2, 5, 6] && saved.notes.contains("the entries 3 to 4 are lost"), "\(saved.notes)")
    }
  }
}
