import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("A store that is closed while others still refer to it") struct CloseTests {
  /// The work that is using the store when it is closed.
  enum Use: CaseIterable {
    case nothing, check, backup, rekey, salvage
  }

  /// Begins such work, and returns a closure that expects that the work cannot continue.
  private func begin(_ use: Use, _ keychain: Keychain, _ fixture: Fixture) throws -> () -> Void {
    switch use {
    case .nothing: return {}
    case .check:
      keychain.beginVerification()
      #expect(try keychain.continueVerification(records: 1) == nil)
      return { #expect(keychain.integrity == .unchecked) }
    case .backup:
      let stream = try keychain.beginBackup(now: 1)
      var part = [UInt8](repeating: 0, count: BackupStream.largestPart)
      func next() throws -> Int {
        var span = part.mutableSpan
        var room = unsafe span.mutableBytes
        return try stream.next(into: &room)
      }
      // The header and the first piece.
      for _ in 0..<2 { #expect(try next() > 0) }
      return { #expect(throws: VaultError.locked) { _ = try next() } }
    case .rekey:
      let rekey = try fixture.rekey(keychain)
      _ = try rekey.step(records: 1)
      return { #expect(throws: VaultError.locked) { _ = try rekey.step(records: 1) } }
    case .salvage:
      let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
      #expect(try !salvage.step(items: 1))
      return { #expect(throws: VaultError.locked) { _ = try salvage.step(items: 1) } }
    }
  }

  @Test("it is one file with all that was written, and whoever used it is told", arguments: Use.allCases)
  func oneFile(use: Use) throws {
    let fixture = try Fixture.withItems(200)
    let keychain = try fixture.unlocked()
    try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
    let expectEnd = try begin(use, keychain, fixture)
    if use != .rekey { try keychain.put("last", "in the log alone") }
    let contents = try Contents(keychain)
    #expect(try fixture.names().contains("vault.db-wal"))
    try keychain.close()
    try keychain.close()
    #expect(keychain.isGone)
    #expect(try !fixture.names().contains("vault.db-wal"))
    expectEnd()
    keychain.endBackup()
    // The lock is free, too.
    let again = try fixture.unlocked()
    #expect(try Contents(again) == contents)
    #expect(try again.verify().isOK)
  }

  @Test("nothing can be read or written any more")
  func refused() throws {
    let fixture = try Fixture.withItems(12)
    let keychain = try fixture.unlocked()
    try keychain.close()
    let before = try fixture.files()
    #expect(throws: VaultError.locked) { try keychain.text("folder 0/item 0") }
    #expect(throws: VaultError.self) { try keychain.put("lost") }
    #expect(throws: VaultError.self) { try keychain.delete([name("folder 0/item 0")]) }
    #expect(throws: VaultError.self) { _ = try keychain.verify() }
    #expect(throws: VaultError.self) { _ = try keychain.beginBackup(now: 1) }
    #expect(throws: VaultError.self) { try keychain.dropRekey() }
    // Calls that need no key are refused, too.
    expect(\.isStorage) { try keychain.markStale(.recovery) }
    #expect(keychain.staleSlots.isEmpty)
    #expect(throws: VaultError.locked) { _ = try Salvage(keychain, in: fixture.path("salvage"), now: 1) }
    expectCorrupt { try keychain.unlock(vaultKey: fixture.vaultKey) }
    expectCorrupt { try keychain.openAlways(bootKey: fixture.bootKey) }
    expectCorrupt { try keychain.addSlot(fixture.slot(9, "ninth"), vaultKey: fixture.vaultKey) }
    keychain.lock(hidingNames: true, keepingAfterFirstUnlock: false)
    keychain.foldLog()
    #expect(!keychain.hasLongLog && !keychain.isRekeying && keychain.nextSlots().isEmpty)
    #expect(try fixture.files() == before)
  }

  @Test("one that failed keeps its file and its log to the byte")
  func failed() throws {
    let fixture = try Fixture.withItems(12)
    let keychain = try fixture.unlocked()
    try keychain.put("last", "in the log alone")
    keychain.notice(.corrupt("anything"))
    let before = try fixture.files()
    try keychain.close()
    #expect(try fixture.files() == before)
  }
}
