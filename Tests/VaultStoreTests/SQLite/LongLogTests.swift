import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Long logs: folded into the main file between two changes if the owner does so, and otherwise in the end by a commit.
@Suite("A log that has grown long") struct LongLogTests {
  private static let mainFile = "vault.db"

  /// Opens a keychain whose log counts as long from 10 frames, and is folded by a commit at 80.
  private func keychain(_ fixture: Fixture) throws -> Keychain {
    let keychain = try fixture.unlocked()
    try keychain.database.connection.checkpoint()
    keychain.database.connection.longLog = 80
    return keychain
  }

  private func write(_ keychain: Keychain, bytes: Int) throws {
    try keychain.put("written", String(repeating: "x", count: bytes), update: true)
  }

  @Test("it is told of once it is an eighth as long as a commit lets it be, and then folded in on request")
  func onRequest() throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try keychain(fixture)
    try write(keychain, bytes: 100)
    #expect(!keychain.hasLongLog)
    try write(keychain, bytes: 40_000)
    #expect(keychain.hasLongLog)
    let before = try fixture.files()[Self.mainFile]

    keychain.foldLog()
    let folded = try fixture.files()[Self.mainFile]
    #expect(before != folded)
    #expect(!keychain.hasLongLog)
    // The whole log was folded in, so the next change begins it anew.
    try keychain.put("other")
    #expect(keychain.database.connection.committed.frames < 10)
    #expect(try fixture.files()[Self.mainFile] == folded)
  }

  @Test("a commit folds it in where nobody else does") func byCommit() throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try keychain(fixture)
    try write(keychain, bytes: 40_000)
    let before = try fixture.files()[Self.mainFile]
    try write(keychain, bytes: 320_000)
    #expect(try fixture.files()[Self.mainFile] != before)
    #expect(!keychain.hasLongLog)
  }

  @Test("it stays where a check reads it, within a transaction, and in a store that failed") func stays() throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try keychain(fixture)
    let connection = keychain.database.connection
    // The first change of a daemon is folded in.
    try write(keychain, bytes: 100)
    try write(keychain, bytes: 40_000)
    let before = try fixture.files()[Self.mainFile]

    connection.holdMainFile()
    #expect(!keychain.hasLongLog)
    connection.releaseMainFile()
    #expect(keychain.hasLongLog)
    try keychain.transaction { () throws(VaultError) in keychain.foldLog() }
    #expect(try fixture.files()[Self.mainFile] == before)
    keychain.notice(.corrupt("item 3 cannot be read"))
    #expect(!keychain.hasLongLog)
  }
}
