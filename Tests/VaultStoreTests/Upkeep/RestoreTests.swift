import Foundation
import Testing
import VaultBytes
import VaultCore
import VaultModel

@testable import VaultStore

@Suite struct RestoreTests {
  /// Makes a vault of a few pieces, and its backup.
  private func backup(values: Int = 8) throws -> (fixture: Fixture, bytes: [UInt8]) {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for index in 0..<values { try keychain.put("item/\(index)", String(repeating: "v", count: 20_000)) }
    return (fixture, try BackedUp.backup(keychain))
  }

  /// Returns true if the restore fails; it must then leave neither a vault nor a part of one.
  private func isRefused(_ bytes: [UInt8], _ fixture: Fixture) throws -> Bool {
    let target = try Fixture(create: false)
    defer { withExtendedLifetime(target) {} }
    do {
      _ = try BackedUp.restore(bytes, vaultKey: fixture.vaultKey, into: target)
      return false
    } catch {
      let left = (try? target.files().keys.sorted()) ?? []
      #expect(left == [] || left == ["vault.lock"], "\(left)")
      return true
    }
  }

  @Test("A cut at any piece, and at many other places, is noticed and leaves nothing") func truncated() throws {
    let (fixture, bytes) = try backup()
    let piece = BackupHeader.pieceCount + StreamSealer.overhead
    let start = try BackupPrefix(unsafe bytes.span.bytes).headerCount
    #expect(bytes.count > start + 2 * piece)
    let cuts = [0, 1, 12, 13, 14, start - 1, start, start + 1, bytes.count - 1]
    for cut in cuts + Array(stride(from: start + piece, to: bytes.count, by: piece)) {
      #expect(try isRefused(Array(bytes[..<cut]), fixture), "\(cut)")
    }
    #expect(try isRefused(bytes + [0], fixture))
    #expect(try !isRefused(bytes, fixture))
  }

  @Test("Every flipped byte of the header is noticed") func header() throws {
    let (fixture, bytes) = try backup(values: 1)
    let start = try BackupPrefix(unsafe bytes.span.bytes).headerCount
    for offset in 0..<start {
      var flipped = bytes
      flipped[offset] ^= 1 << UInt8(offset % 8)
      #expect(try isRefused(flipped, fixture), "\(offset)")
    }
  }

  /// Makes a backup of the closed vault's file as somebody could who has the key that seals backups.
  private func sealed(_ fixture: Fixture, slots: [SlotRecord]) throws -> [UInt8] {
    let wrapped = try #require(try fixture.open().database.key(KeyName.vault(.afterFirstUnlock)))
    let vault = try VaultID(fixture.vaultID)
    let classKey = try wrapped.withSpan { (wrapped: RawSpan) throws(CryptoError) in
      try KeyWrap.unwrap(wrapped, of: .afterFirstUnlock, under: .vault, key: fixture.vaultKey, vaultID: vault)
    }
    let file = [UInt8](try #require(fixture.files()["vault.db"]))
    var header = try BackupHeader(vaultID: vault, created: 3000, size: file.count, slots: slots, wrappedKey: wrapped)
    var sealer = header.seal(backupKey: Subkey.backup.derive(from: classKey))
    var all = header.encoded()
    for index in 0..<header.pieces {
      let start = index * BackupHeader.pieceCount
      let piece = Array(file[start..<start + header.pieceSize(index)])
      var room = [UInt8](repeating: 0, count: piece.count + StreamSealer.overhead)
      var span = room.mutableSpan
      var out = unsafe span.mutableBytes
      let first = index == 0 ? header.encoded() : []
      _ = first.withSpan { (first: RawSpan) in
        piece.withSpan { sealer.seal($0, isLast: index == header.pieces - 1, associatedData: first, into: &out) }
      }
      all += room
    }
    return all
  }

  @Test("Slots that the vault in a backup does not have, or that it does not vouch for, are refused") func otherSlots()
    throws
  {
    let fixture = try Fixture()
    let own = try fixture.open().slots
    #expect(try !isRefused(sealed(fixture, slots: own), fixture))
    // Somebody who knew an earlier password also has a slot that opens the vault.
    let old = try fixture.slot(1, "an old password")
    #expect(try isRefused(sealed(fixture, slots: [old]), fixture))
    #expect(try isRefused(sealed(fixture, slots: own + [fixture.slot(2, "another")]), fixture))
    let record = old.encoded().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    try fixture.sql("UPDATE slots SET record = x'\(record)' WHERE id = 1")
    #expect(try isRefused(sealed(fixture, slots: [old]), fixture))
  }

  @Test("A flipped byte anywhere is noticed, and so is an exchanged or repeated piece") func pieces() throws {
    let (fixture, bytes) = try backup()
    let piece = BackupHeader.pieceCount + StreamSealer.overhead
    let start = try BackupPrefix(unsafe bytes.span.bytes).headerCount
    for offset in stride(from: start, to: bytes.count, by: 9973) {
      var flipped = bytes
      flipped[offset] ^= 1
      #expect(try isRefused(flipped, fixture), "\(offset)")
    }
    let (first, second) = (start..<start + piece, start + piece..<start + 2 * piece)
    var exchanged = bytes
    exchanged.replaceSubrange(first, with: bytes[second])
    exchanged.replaceSubrange(second, with: bytes[first])
    #expect(try isRefused(exchanged, fixture))
    var repeated = bytes
    repeated.replaceSubrange(second, with: bytes[first])
    #expect(try isRefused(repeated, fixture))
  }

  @Test("A piece of another backup of the same vault does not fit") func mixed() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for index in 0..<8 { try keychain.put("item/\(index)", String(repeating: "v", count: 20_000)) }
    let (first, second) = (try BackedUp.backup(keychain), try BackedUp.backup(keychain))
    #expect(first.count == second.count)
    let start = try BackupPrefix(unsafe first.span.bytes).headerCount
    #expect(try isRefused(Array(first[..<start] + second[start...]), fixture))
    #expect(try isRefused(Array(second[..<start] + first[start...]), fixture))
  }

  @Test("Another vault's key does not open a backup") func otherKey() throws {
    let (_, bytes) = try backup(values: 1)
    let target = try Fixture(create: false)
    expectCorrupt { _ = try BackedUp.restore(bytes, vaultKey: target.vaultKey, into: target) }
  }

  @Test("A vault that is there is never touched, at the beginning or at the end") func existing() throws {
    let (fixture, bytes) = try backup(values: 1)
    let before = try fixture.files()["vault.db"]
    #expect(throws: VaultError.vaultExists) {
      _ = try BackedUp.restore(bytes, vaultKey: fixture.vaultKey, into: fixture)
    }
    #expect(try fixture.files()["vault.db"] == before)
    // A vault that appears while the restore is running.
    let target = try Fixture(create: false)
    let start = try BackupPrefix(unsafe bytes.span.bytes).headerCount
    let header = try BackedUp.header(bytes)
    var restoration = try Restoration(of: header, in: target.directory, vaultKey: fixture.vaultKey)
    var rest = bytes[start...]
    while let expected = restoration.expected {
      let piece = Array(rest.prefix(expected))
      try restoration.take(unsafe piece.span.bytes)
      rest = rest.dropFirst(expected)
    }
    try Data("somebody's".utf8).write(to: URL(fileURLWithPath: target.path("vault.db")))
    var isReady = false
    #expect(throws: VaultError.vaultExists) {
      _ = try restoration.finish(vaultKey: fixture.vaultKey, bootKey: target.bootKey) { isReady = true }
    }
    #expect(!isReady)
    _ = consume restoration
    #expect(try target.files()["vault.db"] == Data("somebody's".utf8))
    #expect(try target.files().keys.sorted() == ["vault.db", "vault.lock"])
  }

  @Test("Until it is finished there is no vault, and nobody else makes one") func unfinished() throws {
    let (fixture, bytes) = try backup()
    let target = try Fixture(create: false)
    let start = try BackupPrefix(unsafe bytes.span.bytes).headerCount
    let header = try BackedUp.header(bytes)
    do {
      var restoration = try Restoration(of: header, in: target.directory, vaultKey: fixture.vaultKey)
      let piece = Array(bytes[start..<start + BackupHeader.pieceCount + StreamSealer.overhead])
      try restoration.take(unsafe piece.span.bytes)
      #expect(throws: VaultError.noVault) { _ = try target.open() }
      #expect(throws: VaultError.inUse(pid: getpid())) { try target.create() }
      expectCorrupt {
        _ = try restoration.finish(vaultKey: fixture.vaultKey, bootKey: target.bootKey) {}
      }
    }
    #expect(try target.files().keys.sorted() == ["vault.lock"])
    try target.create()
  }

  @Test("What has to be there first comes before the vault, and its failure leaves none") func ready() throws {
    let (fixture, bytes) = try backup(values: 1)
    let target = try Fixture(create: false)
    let start = try BackupPrefix(unsafe bytes.span.bytes).headerCount
    let header = try BackedUp.header(bytes)
    do {
      var restoration = try Restoration(of: header, in: target.directory, vaultKey: fixture.vaultKey)
      var rest = bytes[start...]
      while let expected = restoration.expected {
        let piece = Array(rest.prefix(expected))
        try restoration.take(unsafe piece.span.bytes)
        rest = rest.dropFirst(expected)
      }
      #expect(throws: VaultError.storage("no room")) {
        _ = try restoration.finish(vaultKey: fixture.vaultKey, bootKey: target.bootKey) { () throws(VaultError) in
          #expect(!FileManager.default.fileExists(atPath: target.path("vault.db")))
          throw .storage("no room")
        }
      }
    }
    #expect(try target.files().keys.sorted() == ["vault.lock"])
  }
}
