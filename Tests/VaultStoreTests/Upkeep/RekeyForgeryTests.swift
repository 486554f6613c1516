import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Files of a rekey that somebody keeps and puts back when it is over, or changes while it is running.
@Suite struct RekeyForgeryTests {
  /// The parts of a rekey that was begun: the second store's files, and its row.
  private struct Copy {
    let files: [String: Data]
    let row: [String]
  }

  private func begun(_ fixture: Fixture) throws -> Copy {
    do {
      let rekey = try fixture.rekey(fixture.unlocked())
      #expect(try !rekey.step(records: 4))
    }
    return Copy(files: try fixture.files(in: "rekey"), row: try fixture.copied("meta", where: "name = 'rekeying'"))
  }

  private func putBack(_ copy: Copy, _ fixture: Fixture) throws {
    let manager = FileManager.default
    try? manager.removeItem(atPath: fixture.path("rekey"))
    try manager.createDirectory(atPath: fixture.path("rekey"), withIntermediateDirectories: false)
    try setMode(fixture.path("rekey"), 0o700)
    for (name, data) in copy.files {
      let path = fixture.path("rekey/" + name)
      #expect(manager.createFile(atPath: path, contents: data, attributes: [.posixPermissions: 0o600]))
    }
    try fixture.putBack(copy.row)
  }

  private func expectForeign(_ fixture: Fixture, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let keychain = try fixture.open()
    try keychain.openAlways(bootKey: fixture.bootKey)
    #expect(!keychain.isRekeying, sourceLocation: sourceLocation)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(!keychain.isRekeying, sourceLocation: sourceLocation)
    #expect(throws: VaultError.self, sourceLocation: sourceLocation) {
      _ = try Rekey(resuming: keychain, nextKey: secret(Fixture.nextKey))
    }
    #expect(keychain.integrity == .failed, sourceLocation: sourceLocation)
    expectCorrupt(sourceLocation: sourceLocation) { try keychain.put("new") }
    #expect(!FileManager.default.fileExists(atPath: fixture.path("rekey")), sourceLocation: sourceLocation)
    let result = try keychain.verify()
    #expect(result.findings.map(\.kind) == [.foreign], "\(result.findings)", sourceLocation: sourceLocation)
    #expect(try keychain.text("folder 0/item 0") == "second 0", sourceLocation: sourceLocation)
    // Nothing of the foreign rekey is left, but its presence is remembered.
    let later = try keychain.verify().findings.map(\.text)
    #expect(later.count == 1 && later[0].contains("found since the store was opened"), sourceLocation: sourceLocation)
    #expect(keychain.integrity == .failed, sourceLocation: sourceLocation)
  }

  private func expectWhole(_ fixture: Fixture, sourceLocation: SourceLocation = #_sourceLocation) throws {
    #expect(try fixture.unlocked().verify().isOK, sourceLocation: sourceLocation)
  }

  @Test("a rekey that was cancelled is not gone on with when its files are put back")
  func cancelled() throws {
    let fixture = try Fixture.withItems(6)
    let copy = try begun(fixture)
    do { try fixture.unlocked().dropRekey() }
    try putBack(copy, fixture)
    try expectForeign(fixture)
    try expectWhole(fixture)
  }

  @Test("nor after a lock and an unlock in between, nor when the store was changed since")
  func cancelledLater() throws {
    let fixture = try Fixture.withItems(6)
    let copy = try begun(fixture)
    do {
      let keychain = try fixture.unlocked()
      try keychain.dropRekey()
      keychain.lock(hidingNames: true, keepingAfterFirstUnlock: false)
      try keychain.unlock(vaultKey: fixture.vaultKey)
      #expect(keychain.integrity == .unchecked)
      try keychain.put("later")
    }
    try putBack(copy, fixture)
    try expectForeign(fixture)
  }

  @Test("the files of a first rekey do not fit a second one")
  func second() throws {
    let fixture = try Fixture.withItems(6)
    let first = try begun(fixture)
    do { try fixture.unlocked().dropRekey() }
    _ = try begun(fixture)
    // All of the first rekey is put back, but its row is not the one that counts.
    try putBack(first, fixture)
    try expectForeign(fixture)
    // Only the second store is put back, under the row of the present one.
    let third = try begun(fixture)
    try putBack(Copy(files: first.files.mapValues { $0 }, row: third.row), fixture)
    let keychain = try fixture.unlocked()
    #expect(keychain.isRekeying)
    #expect(throws: VaultError.self) { try fixture.resume(keychain).complete() }
    try keychain.dropRekey()
    #expect(try keychain.verify().isOK)
  }

  @Test("a row that the boot key's holder counts in the record of always is no rekey")
  func forged() throws {
    let fixture = try Fixture.withItems(6)
    let copy = try begun(fixture)
    do { try fixture.unlocked().dropRekey() }
    try putBack(copy, fixture)
    try fixture.forgeAlways { _ in }
    let keychain = try fixture.open()
    try keychain.openAlways(bootKey: fixture.bootKey)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(!keychain.isRekeying && keychain.integrity == .failed)
    expectCorrupt { try keychain.put("new") }
  }

  @Test(
    "a way in that somebody adds to the second store, or puts in another's place, ends the rekey",
    arguments: [true, false])
  func otherSlots(added: Bool) throws {
    let fixture = try Fixture.withItems(6)
    _ = try begun(fixture)
    do {
      // Somebody with the next key could do this: the result is valid in itself.
      let second = try Keychain(opening: fixture.path("rekey"))
      let slot = try fixture.nextSlot(added ? 5 : 1)
      if added {
        try second.addSlot(slot, vaultKey: secret(Fixture.nextKey))
      } else {
        try second.replaceSlot(slot, vaultKey: secret(Fixture.nextKey))
      }
    }
    let keychain = try fixture.unlocked()
    expect(\.isOfSecondStore) { _ = try fixture.resume(keychain) }
    try keychain.dropRekey()
    #expect(try keychain.verify().isOK)
    #expect(keychain.slots.map(\.label) == ["slot 1"])
  }

  @Test("a rekey is given up only with all keys, and also when the check has failed")
  func givingUp() throws {
    let fixture = try Fixture.withItems(6)
    _ = try begun(fixture)
    try fixture.sql("UPDATE heads SET value = zeroblob(length(value)) WHERE id = 1")
    let keychain = try fixture.open()
    #expect(throws: VaultError.locked) { try keychain.dropRekey() }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    keychain.lock(hidingNames: false)
    #expect(throws: VaultError.locked) { try keychain.dropRekey() }
    #expect(keychain.isRekeying)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try !keychain.verify().isOK)
    try keychain.dropRekey()
    #expect(!keychain.isRekeying)
    #expect(!FileManager.default.fileExists(atPath: fixture.path("rekey")))
    #expect(try keychain.verify().findings.allSatisfy { $0.item == 1 })
  }

  @Test("the files of a rekey that came to its end do not fit the new vault")
  func done() throws {
    let fixture = try Fixture.withItems(6)
    let copy = try begun(fixture)
    do {
      let keychain = try fixture.unlocked()
      try fixture.resume(keychain).complete()
    }
    try putBack(copy, fixture)
    let keychain = try fixture.open()
    try keychain.unlock(vaultKey: secret(Fixture.nextKey))
    #expect(!keychain.isRekeying && keychain.integrity == .failed)
  }

  @Test("every changed bit of the next vault key's record is refused, and so are other slots")
  func record() throws {
    let fixture = try Fixture()
    let vault = try VaultID(fixture.vaultID)
    let slots = [try fixture.nextSlot(1), try fixture.nextSlot(2)]
    let next = NextVaultKey(
      sealing: secret(Fixture.nextKey), slots: slots, under: fixture.vaultKey, vaultID: vault)
    #expect(next.isFor(slots) && next.isFor(slots.reversed()))
    let others = [slots[0], try fixture.nextSlot(2)]
    #expect(!next.isFor([slots[0]]) && !next.isFor([]) && !next.isFor(others))
    let opened = try next.open(under: fixture.vaultKey, vaultID: vault)
    let isSame = opened.isEqual(to: secret(Fixture.nextKey))
    #expect(isSame)
    for byte in next.encoded.indices {
      var changed = next.encoded
      changed[byte] ^= 1
      let record = try NextVaultKey(decoding: changed)
      #expect(throws: CryptoError.authenticationFailed) {
        _ = try record.open(under: fixture.vaultKey, vaultID: vault)
      }
    }
    #expect(throws: CryptoError.self) { try NextVaultKey(decoding: Array(next.encoded.dropLast())) }
  }
}
