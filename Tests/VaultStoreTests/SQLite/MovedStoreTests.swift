import Foundation
import Glibc
import Testing
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultStore

/// A store that is moved to another folder while it is open.
@Suite("A store that was moved under the open files") struct MovedStoreTests {
  /// The ways to move all files. The store's folder is `$S`, and the files are in `$S.new` then.
  private static let ways = [
    "mv $S $S.new", "mkdir -m 700 $S.new && mv $S/* $S.new", "mv $S $S.new && cp -a $S.new $S",
  ]

  private func shell(_ line: String, _ fixture: Fixture) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-ec", "S=\(fixture.directory); \(line)"]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  /// Returns the unlocked keychain of a filled store, with a value and entries that are in the log of changes alone.
  private func opened(_ fixture: Fixture) throws -> Keychain {
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    try keychain.put("last", "in the log alone")
    try AuditStoreTests.write(1, to: keychain)
    return keychain
  }

  @Test("takes no change, has not failed, and has all entries of its audit log in its new place", arguments: ways)
  func moved(way: String) throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try opened(fixture)
    try shell(way, fixture)
    #expect(throws: SQLiteConnection.moved) { try keychain.put("refused") }
    #expect(keychain.lostFile == SQLiteConnection.moved && keychain.hasLostLock && !keychain.isLastCopy)
    try AuditStoreTests.write(1, to: keychain)
    keychain.lock(hidingNames: false)
    try AuditStoreTests.write(1, to: keychain)
    #expect(keychain.unwrittenAuditEntries == 0 && !keychain.hasFailed)
    // The files belong to nobody else as long as they are open.
    #expect(throws: VaultError.inUse(pid: getpid())) { _ = try Keychain(opening: fixture.directory + ".new") }
    try keychain.close()
    let again = try Keychain(opening: fixture.directory + ".new")
    try again.unlock(vaultKey: fixture.vaultKey)
    #expect(try again.joinAudit(rows: .max) == [])
    let (entries, faults) = try AuditStoreTests.walk(again)
    #expect(entries.count == 6 && faults == [])
    #expect(try again.text("last") == "in the log alone")
    #expect(try again.verify().isOK && !again.isCopy)
  }

  @Test("is as it was once it is moved back, whatever was refused meanwhile") func movedBack() throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try opened(fixture)
    try shell("mv $S $S.new", fixture)
    #expect(throws: SQLiteConnection.moved) { try keychain.put("refused", String(repeating: "x", count: 100_000)) }
    #expect(throws: SQLiteConnection.moved) { _ = try keychain.verify() }
    try AuditStoreTests.write(1, to: keychain)
    try shell("mv $S.new $S", fixture)
    #expect(keychain.lostFile == nil && !keychain.hasLostLock)
    try keychain.put("refused", "by now")
    #expect(try keychain.verify().isOK)
  }

  @Test(
    "of which only a part was moved takes nothing, and the words are about that, and say what is lost",
    arguments: [
      "mkdir $S.new && mv $S/vault.db $S/vault.lock $S.new",
      "mkdir $S.new && mv $S/vault.db $S/vault.db-wal $S.new && mv $S/vault.lock $S.new/other",
    ])
  func part(way: String) throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try opened(fixture)
    try shell(way, fixture)
    let error = VaultError.distrusted(
      "vault.db was moved, removed or replaced while vaultd has it open",
      advice: "vaultd locks the vault and ends; put back the files that were moved; entries of the audit log that were "
        + "not written yet are lost")
    for _ in 0..<2 {
      #expect(throws: error) { try AuditStoreTests.write(1, to: keychain) }
      #expect(throws: error) { try keychain.put("refused") }
    }
    #expect(keychain.hasFailed && keychain.unwrittenAuditEntries == 4)
  }
}
