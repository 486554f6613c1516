import Foundation
import Testing
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultStore

/// Power cuts while a store's files get their names: every acknowledged step survives.
@Suite struct NameCutTests {
  /// Returns true if there is a vault, which must be whole; if there is none, a new one must be possible.
  private func isThere(_ left: Fixture) throws -> Bool {
    do {
      let keychain = try left.unlocked()
      #expect(try keychain.verify().isOK)
      return true
    } catch VaultError.noVault {
      try left.create()
      return false
    }
  }

  private func check(_ disk: DurableDisk, _ fixture: Fixture, _ isThere: (Fixture) throws -> Bool) throws {
    var before = 0
    for cut in disk.cuts {
      do {
        let isThere = try isThere(Fixture(cut.tree, of: fixture))
        if cut.isAfterwards { #expect(isThere, "\(cut)") } else { before += isThere ? 0 : 1 }
      } catch {
        Issue.record("\(cut): \(error)")
      }
    }
    // Without such cuts, this test would prove nothing.
    #expect(before > 3 && disk.cuts.contains { $0.isAfterwards })
  }

  @Test("while a vault is made there is none of it or all, and once it is made it stays, with the folders above it")
  func made() throws {
    for folder in ["", "one/two/"] {
      let fixture = try Fixture(create: false, in: folder)
      let disk = try DurableDisk(at: fixture.parent)
      try disk.watch { try fixture.create() }
      try check(disk, fixture, isThere)
    }
  }

  @Test("while a backup is restored there is none of the vault or all, and once it is restored it stays")
  func restored() throws {
    let fixture = try Fixture.withItems(6)
    let backup = try BackedUp.backup(fixture.unlocked())
    let target = try Fixture(create: false)
    let disk = try DurableDisk(at: target.parent)
    _ = try disk.watch { try BackedUp.restore(backup, vaultKey: fixture.vaultKey, into: target) }
    try check(disk, fixture, isThere)
  }

  @Test(
    "while a vault gets a new key there is the old one, with all that was stored, or the new one, and at the end that")
  func rekeyed() throws {
    let fixture = try Fixture.withItems(6)
    let keychain = try fixture.unlocked()
    let expected = try Contents(keychain)
    let disk = try DurableDisk(at: fixture.parent)
    try disk.watch { try fixture.rekey(keychain).complete() }
    try check(disk, fixture) { try RekeyCutTests.check($0, expected) }
  }
}
