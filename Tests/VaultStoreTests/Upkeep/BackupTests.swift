import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Helpers that make, read and restore backups.
struct BackedUp: ~Copyable {
  let fixture: Fixture

  init() throws { fixture = try Fixture() }

  /// Reads a backup that was begun to its end, and returns its bytes.
  static func bytes(of stream: BackupStream) throws -> [UInt8] {
    var all: [UInt8] = []
    var part = [UInt8](repeating: 0, count: BackupStream.largestPart)
    while true {
      var span = part.mutableSpan
      var room = unsafe span.mutableBytes
      let count = try stream.next(into: &room)
      if count == 0 { break }
      all += part[..<count]
    }
    #expect(all.count == stream.count)
    return all
  }

  static func backup(_ keychain: Keychain, now: Int64 = 3000) throws -> [UInt8] {
    defer { keychain.endBackup() }
    return try bytes(of: keychain.beginBackup(now: now))
  }

  static func header(_ backup: [UInt8]) throws -> BackupHeader {
    let prefix = try BackupPrefix(unsafe backup.span.bytes)
    guard prefix.headerCount <= backup.count else { throw VaultError.corrupt("no header") }
    let bytes = Array(backup[..<prefix.headerCount])
    return try BackupHeader(decoding: unsafe bytes.span.bytes)
  }

  /// Restores `backup` into `target` and returns the slots.
  static func restore(
    _ backup: [UInt8], vaultKey: borrowing SecureBytes, into target: Fixture
  ) throws -> [SlotRecord] {
    let header = try header(backup)
    var restoration = try Restoration(of: header, in: target.directory, vaultKey: vaultKey)
    var rest = backup[header.encoded().count...]
    while let expected = restoration.expected {
      guard rest.count >= expected else { throw VaultError.corrupt("cut short") }
      let piece = Array(rest.prefix(expected))
      try restoration.take(unsafe piece.span.bytes)
      rest = rest.dropFirst(expected)
    }
    guard rest.isEmpty else { throw VaultError.corrupt("goes on") }
    return try restoration.finish(vaultKey: vaultKey, bootKey: target.bootKey) {}
  }
}

@Suite struct BackupTests {
  /// Returns every item with its versions and values.
  private func content(_ keychain: Keychain) throws -> [String] {
    try keychain.names("").sorted().map { name in
      let versions = try keychain.history(of: ItemName(name)).map(\.number)
      let texts = try versions.map { "\($0)=\(try keychain.text(name, version: $0).hashValue)" }
      return "\(name) \(texts)"
    }
  }

  private func fill(_ keychain: Keychain, count: Int = 60) throws {
    try keychain.transaction { () throws(VaultError) in
      for index in 0..<count {
        do {
          try keychain.put(
            "item/\(index)", String(repeating: "\(index) ", count: 2000), attributes: ["index": "\(index)"],
            accessible: AccessClass.allCases[index % 3])
        } catch { throw (error as? VaultError) ?? .storage("\(error)") }
      }
    }
    try keychain.put("item/7", "new", update: true)
  }

  @Test("A restored vault is the vault as it was when the backup began, and passes the check") func roundTrip() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try fill(keychain)
    let before = try content(keychain)
    let backup = try BackedUp.backup(keychain)
    let target = try Fixture(create: false)
    #expect(try BackedUp.restore(backup, vaultKey: fixture.vaultKey, into: target).isEmpty)
    let restored = try target.open()
    #expect(restored.vaultID == fixture.vaultID)
    try restored.unlock(vaultKey: fixture.vaultKey)
    #expect(try content(restored) == before)
    #expect(try restored.verify().isOK)
    try restored.put("more")
    #expect(try restored.text("more") == "value")
  }

  @Test("What is written while a backup is made is kept, and is not in it") func whileWriting() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try fill(keychain)
    let before = try content(keychain)
    let stream = try keychain.beginBackup(now: 3000)
    var all: [UInt8] = []
    var part = [UInt8](repeating: 0, count: BackupStream.largestPart)
    var round = 0
    var count = 1
    while count > 0 {
      // Many times the log's usual length: without the backup, commits would fold the log into the main file.
      for _ in 0..<40 {
        round += 1
        try keychain.put("new/\(round)", String(repeating: "x", count: 4000))
        try keychain.put("item/\(round % 60)", "changed in round \(round)", update: true)
      }
      var span = part.mutableSpan
      var room = unsafe span.mutableBytes
      count = try stream.next(into: &room)
      all += part[..<count]
    }
    #expect(all.count == stream.count && all.count > 4 * BackupHeader.pieceCount)
    keychain.endBackup()
    let target = try Fixture(create: false)
    _ = try BackedUp.restore(all, vaultKey: fixture.vaultKey, into: target)
    let restored = try target.unlocked(with: fixture.vaultKey)
    #expect(try content(restored) == before)
    #expect(try restored.verify().isOK)
    // The backed-up store has everything that was written meanwhile.
    #expect(try keychain.names("name~new/*").count == round)
    #expect(try keychain.verify().isOK)
  }

  @Test("After a backup the log is folded in again, and the store opens with everything") func logShrinks() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      let stream = try keychain.beginBackup(now: 3000)
      for index in 0..<300 { try keychain.put("big/\(index)", String(repeating: "y", count: 20_000)) }
      func logSize() throws -> Int {
        try FileManager.default.attributesOfItem(atPath: fixture.path("vault.db-wal"))[.size] as? Int ?? 0
      }
      #expect(try logSize() > 6 << 20)
      stream.wipe()
      keychain.endBackup()
      // The log is folded in, and the next commit begins it anew.
      try keychain.put("after/0")
      #expect(keychain.hasLongLog)
      keychain.foldLog()
      try keychain.put("after/1")
      #expect(try logSize() < 6 << 20)
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.names("name~big/*").count == 300)
    #expect(try keychain.verify().isOK)
  }

  @Test("Slots that need their machine are left out; passwords and recovery codes still open the vault") func slots()
    throws
  {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.addSlot(fixture.slot(2, "hunter2"), vaultKey: fixture.vaultKey)
    let login = try SlotRecord.make(
      id: 3, kind: .login, label: "", created: 1000, secret: secret("login"), kdf: .floor, vaultKey: fixture.vaultKey,
      vaultID: fixture.vaultID)
    try keychain.addSlot(login, vaultKey: fixture.vaultKey)
    let backup = try BackedUp.backup(keychain)
    let target = try Fixture(create: false)
    let leftOut = try BackedUp.restore(backup, vaultKey: fixture.vaultKey, into: target)
    #expect(leftOut == [login])
    let restored = try target.unlocked(with: fixture.vaultKey)
    #expect(restored.slots.map(\.id) == [1, 2])
    #expect(restored.nextSlotID == 4)
    let opened = try #require(restored.slots.last).openVaultKey(secret: secret("hunter2"), vaultID: fixture.vaultID)
    #expect(opened.isEqual(to: fixture.vaultKey) == true)
    #expect(try restored.verify().isOK)
  }

  @Test("A restored vault's `always` items open with the new boot key, and not with the old one") func bootKey() throws
  {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("boot", accessible: .always)
    let backup = try BackedUp.backup(keychain)
    let target = try Fixture(create: false)
    _ = try BackedUp.restore(backup, vaultKey: fixture.vaultKey, into: target)
    let restored = try target.open()
    expectCorrupt { try restored.openAlways(bootKey: fixture.bootKey) }
    try restored.openAlways(bootKey: target.bootKey)
    #expect(try restored.text("boot") == "value")
  }

  @Test("A backup needs the keys of after-first-unlock, and no others") func keys() throws {
    let fixture = try Fixture()
    let keychain = try fixture.open()
    #expect(throws: VaultError.locked) { _ = try keychain.beginBackup(now: 3000) }
    try keychain.openAlways(bootKey: fixture.bootKey)
    #expect(throws: VaultError.locked) { _ = try keychain.beginBackup(now: 3000) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    keychain.lock(hidingNames: true)
    let backup = try BackedUp.backup(keychain)
    #expect(try BackedUp.restore(backup, vaultKey: fixture.vaultKey, into: Fixture(create: false)).isEmpty)
    keychain.lock(hidingNames: true, keepingAfterFirstUnlock: false)
    #expect(throws: VaultError.locked) { _ = try keychain.beginBackup(now: 3000) }
  }

  @Test("A stream whose key was wiped gives nothing more") func wiped() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    defer { keychain.endBackup() }
    let stream = try keychain.beginBackup(now: 3000)
    stream.wipe()
    #expect(throws: VaultError.locked) { _ = try BackedUp.bytes(of: stream) }
  }

  @Test("A backup that cannot begin keeps neither the log from being folded in nor a new store from its place")
  func notBegun() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    // These keys of the class lack the one that seals backups.
    let key = try keychain.unwrap(.afterFirstUnlock, under: .vault, fixture.vaultKey)
    keychain.keys.afterFirstUnlock = ClassKeys(classKey: key, of: .always)
    #expect(throws: VaultError.locked) { _ = try keychain.beginBackup(now: 3000) }
    #expect(keychain.database.connection.foldsLog && keychain.canBeReplaced)
  }

  @Test("There is one backup at a time") func one() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    _ = try keychain.beginBackup(now: 3000)
    #expect(throws: VaultError.backingUp) { _ = try keychain.beginBackup(now: 3000) }
    keychain.endBackup()
    _ = try BackedUp.backup(keychain)
  }

  @Test("A store whose slots were edited, or whose check failed, is not copied") func damaged() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      try keychain.addSlot(fixture.slot(2, "hunter2"), vaultKey: fixture.vaultKey)
      try fill(keychain)
    }
    let good = try fixture.copied("slots", where: "id = 2")
    try fixture.sql("DELETE FROM slots WHERE id = 2")
    do {
      let keychain = try fixture.unlocked()
      expectCorrupt { _ = try keychain.beginBackup(now: 3000) }
    }
    try fixture.putBack(good)
    try fixture.sql("UPDATE heads SET value = x'' WHERE id = 3")
    let keychain = try fixture.unlocked()
    #expect(try !keychain.verify().isOK)
    expectCorrupt { _ = try keychain.beginBackup(now: 3000) }
  }

  @Test("A file that somebody cut short under the open store is not copied") func cutShort() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try fill(keychain)
    // The backup folds the log into the main file.
    _ = try BackedUp.backup(keychain)
    let size = try #require(try fixture.files()["vault.db"]?.count)
    #expect(unsafe truncate(fixture.path("vault.db"), size - 4096) == 0)
    expectCorrupt { _ = try keychain.beginBackup(now: 3000) }
  }

  @Test("No other process can open the store while it is backed up, nor after") func locks() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for _ in 0..<2 {
      _ = try BackedUp.backup(keychain)
      // SQLite's own locks do not stop the process that holds them, so another process tries.
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
      process.arguments = [
        "-c",
        "import sqlite3,sys; sqlite3.connect(sys.argv[1], timeout=0).execute('SELECT count(*) FROM heads').fetchone()",
        fixture.path("vault.db"),
      ]
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus != 0)
    }
    try keychain.put("still there")
  }
}

extension Fixture {
  /// Opens and unlocks a vault that was restored here.
  func unlocked(with vaultKey: borrowing SecureBytes) throws -> Keychain {
    let keychain = try open()
    try keychain.unlock(vaultKey: vaultKey)
    return keychain
  }
}
