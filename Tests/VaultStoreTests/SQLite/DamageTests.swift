import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore

/// Files that are no whole vault of this program are refused and stay byte for byte as they were.
@Suite struct DamageTests {
  /// Makes a vault of several pages, and closes it.
  private func fixture() throws -> Fixture {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for index in 0..<20 { try keychain.put("item \(index)", String(repeating: "x", count: 2000)) }
    return fixture
  }

  private func write(_ data: Data, _ fixture: Fixture) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.path("vault.db")))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: data)
    try file.close()
  }

  private func expectUntouched(
    _ fixture: Fixture, _ expected: (VaultError) -> Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try fixture.files()
    expect(expected, sourceLocation: sourceLocation) { _ = try fixture.open() }
    #expect(try fixture.files() == before, sourceLocation: sourceLocation)
  }

  @Test(
    "a database that was cut short is refused", arguments: [0, 1, 16, 99, 100, 512, 4095, 4096, 5000, 8192, -4096, -1])
  func truncated(size: Int) throws {
    let fixture = try fixture()
    let whole = try #require(try fixture.files()["vault.db"])
    try write(whole.prefix(size >= 0 ? size : whole.count + size), fixture)
    try expectUntouched(fixture, \.isCorrupt)
    try FileManager.default.removeItem(atPath: fixture.path("vault.lock"))
    try expectUntouched(fixture, \.isCorrupt)
  }

  @Test(
    "a database of zeros, of noise or of text is refused",
    arguments: [
      Data(count: 40960), Data((0..<40960).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }),
      Data(String(repeating: "notes\n", count: 3000).utf8),
    ])
  func foreign(content: Data) throws {
    let fixture = try fixture()
    try write(content, fixture)
    try expectUntouched(fixture, \.isCorrupt)
  }

  @Test("another program's SQLite database is refused")
  func otherProgram() throws {
    let fixture = try fixture()
    try write(Data(), fixture)
    try fixture.sql("CREATE TABLE places(url TEXT)", "PRAGMA journal_mode = WAL")
    try expectUntouched(fixture, \.isCorrupt)
    try fixture.sql("PRAGMA user_version = 1")
    try expectUntouched(fixture, \.isCorrupt)
  }

  @Test("a newer program's vault is refused with its version", arguments: [7, 8, 1_000_000])
  func newer(version: Int) throws {
    let fixture = try fixture()
    try fixture.sql("PRAGMA user_version = \(version)")
    try expectUntouched(fixture, { $0 == .newer(version) })
    try fixture.sql("PRAGMA user_version = 0")
    try expectUntouched(fixture, \.isCorrupt)
    try fixture.sql("PRAGMA user_version = 6")
    #expect(try fixture.unlocked().names("").count == 20)
  }

  @Test(
    "an older schema is refused before anything of it is run", arguments: [1, 2],
    [
      "DROP TABLE hashes", "CREATE VIEW v AS SELECT * FROM vals", "CREATE VIRTUAL TABLE spy USING fts5(text)",
      "CREATE VIRTUAL TABLE spy USING fts5(text); DROP TABLE tags; CREATE VIEW tags AS SELECT * FROM spy",
    ])
  func older(version: Int, sql: String) throws {
    let fixture = try fixture()
    for statement in sql.split(separator: ";") { try fixture.sql(String(statement)) }
    try fixture.sql("PRAGMA user_version = \(version)")
    try expectUntouched(fixture, \.isCorrupt)
  }

  @Test("an older schema that only the log knows of is refused as well, and the log stays", arguments: [1, 2])
  func olderInLog(version: Int) throws {
    try refusedInLog("PRAGMA user_version = \(version)", \.isCorrupt)
  }

  @Test("a newer version that only the log knows of is refused as well, and the log stays")
  func newerInLog() throws {
    try refusedInLog("PRAGMA user_version = 9") { $0 == .newer(9) }
  }

  /// SQLite reports such a log as a failure of the system.
  @Test("a log of another version of the format is refused, with a frame and without", arguments: [0, 1, 200])
  func logVersion(missing: Int) throws {
    try refusedInLog("PRAGMA user_version = 3", \.isCorrupt) { log in
      log[7] = 0x1A
      let sums = Self.sums(of: log[..<24])
      log.replaceSubrange(24..<32, with: sums)
      if missing > 0 { log = log.prefix(32 + missing) }
    }
  }

  @Test("page 1 of a log that tells of tables that SQLite cannot read is damage, and no failure")
  func schemaFormatInLog() throws {
    let fixture = try fixture()
    var forge = try PageForge(fixture)
    // The format of the tables; SQLite knows 1 to 4.
    forge.put(5, at: 44, bytes: 4)
    try forge.writeLog([])
    try expectRefusedWithLog(fixture)
  }

  /// SQLite treats such a frame as the end of the log and does not read behind it. A check that read on would look at a
  /// different store than the one that is written to.
  @Test("a frame of a log that has no page ends it, whatever its checksum") func frameWithoutPage() throws {
    let fixture = try fixture()
    var forge = try PageForge(fixture)
    try forge.writeLog([0, 2], endingEach: true)
    try expectRefusedWithLog(fixture)
  }

  private func expectRefusedWithLog(_ fixture: Fixture) throws {
    let before = try fixture.files()
    expectCorrupt { _ = try fixture.open() }
    for (name, data) in before { #expect(try fixture.files()[name] == data, "\(name)") }
  }

  /// Returns the checksum of a log's header, whose first number tells the byte order of its words
  /// (sqlite.org/walformat.html).
  private static func sums(of header: Data) -> [UInt8] {
    let isBig = header[header.startIndex + 3] & 1 == 1
    var sums: (UInt32, UInt32) = (0, 0)
    for start in stride(from: header.startIndex, to: header.endIndex, by: 8) {
      func word(_ offset: Int) -> UInt32 {
        let bytes = header[start + offset..<start + offset + 4]
        return (isBig ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
      }
      sums.0 = sums.0 &+ word(0) &+ sums.1
      sums.1 = sums.1 &+ word(4) &+ sums.0
    }
    return [sums.0, sums.1].flatMap { sum in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) } }
  }

  private func refusedInLog(
    _ sql: String, _ expected: (VaultError) -> Bool, changing change: (inout Data) -> Void = { _ in }
  ) throws {
    let fixture = try fixture()
    let other = try Fixture(create: false)
    try other.makeDirectory()
    try fixture.withOpenLog(after: sql) {
      for name in ["vault.db", "vault.db-wal"] {
        try FileManager.default.copyItem(atPath: fixture.path(name), toPath: other.path(name))
        try setMode(other.path(name), 0o600)
      }
    }
    let log = URL(fileURLWithPath: other.path("vault.db-wal"))
    var changed = try Data(contentsOf: log)
    change(&changed)
    try changed.write(to: log)
    try setMode(other.path("vault.db-wal"), 0o600)
    let before = try other.files()
    expect(expected) { _ = try other.open() }
    let after = try other.files()
    for (name, data) in before { #expect(after[name] == data) }
  }

  @Test(
    "a table more, a table less or another one is refused",
    arguments: [
      "CREATE TABLE extra(x)", "CREATE INDEX spy ON heads(class)", "DROP TABLE hashes",
      "CREATE VIEW v AS SELECT * FROM vals",
      "CREATE TRIGGER t AFTER INSERT ON vals BEGIN DELETE FROM heads; END", "ALTER TABLE slots ADD COLUMN more INTEGER",
    ])
  func schema(sql: String) throws {
    let fixture = try fixture()
    try fixture.sql(sql)
    try expectUntouched(fixture, \.isCorrupt)
  }

  /// Changes each byte of a block of the disk.
  private static func damage(_ data: inout Data, block: Int) {
    for offset in block * 4096..<(block + 1) * 4096 { data[offset] ^= 0x55 }
  }

  @Test("damage inside is found when it is read, and never a wrong value")
  func flipped() throws {
    let fixture = try fixture()
    let whole = try #require(try fixture.files()["vault.db"])
    for page in 1..<(whole.count / 4096) {
      var damaged = whole
      Self.damage(&damaged, block: page)
      try write(damaged, fixture)
      guard let keychain = try? fixture.unlocked() else { continue }
      for index in 0..<20 {
        guard let value = try? keychain.text("item \(index)") else { continue }
        #expect(value == String(repeating: "x", count: 2000))
      }
    }
  }

  /// A crash cuts off one transaction, with its last frame on the disk. The next one is begun only without it.
  @Test("the frames of one transaction that was cut off are no damage, and further ones behind them are")
  func leftFrames() throws {
    let fixture = try fixture()
    let keychain = try fixture.unlocked()
    for index in 0..<4 { try keychain.put("more \(index)", String(repeating: "y", count: 9000)) }
    let other = try Fixture(copying: fixture)
    let log = URL(fileURLWithPath: other.path("vault.db-wal"))
    let whole = try Data(contentsOf: log)
    let frames = stride(from: 32, to: whole.count, by: 24 + 4096).map { whole[$0..<$0 + 24 + 4096] }
    let ends = frames.indices.filter { frames[$0].dropFirst(4).prefix(4) != Data(count: 4) }
    let last = try #require(ends.last)
    try #require(last > 1)
    let left = whole + frames[0] + frames[last]
    try (left + frames[0]).write(to: log)
    try setMode(log.path, 0o600)
    expectCorrupt { _ = try other.open() }
    try left.write(to: log)
    try setMode(log.path, 0o600)
    let found = try other.unlocked()
    #expect(try found.text("more 3") == String(repeating: "y", count: 9000))
    #expect(try found.verify().isOK)
    // They are cut off, so that they never stand behind the end of another change.
    #expect(try found.hadUnfinishedChange && Data(contentsOf: log) == whole)
    try found.put("last")
    try found.close()
    // If the frame after the end goes on from it, something before the end was damaged.
    let third = try Fixture(copying: fixture)
    let damaged = URL(fileURLWithPath: third.path("vault.db-wal"))
    try #require(ends.count > 1)
    try (whole + frames[0] + frames[ends[0]] + frames[ends[0] + 1]).write(to: damaged)
    try setMode(damaged.path, 0o600)
    expectCorrupt { _ = try third.open() }
    withExtendedLifetime(keychain) {}
  }

  /// A block of the disk is shorter than a frame, so it can hide where the last but one transaction ends and the last
  /// one begins. Without it, SQLite would read a log that ends before both of them.
  @Test("a log is refused if one damaged block lies across the boundary of its last two transactions")
  func damagedBoundary() throws {
    let fixture = try fixture()
    let keychain = try fixture.unlocked()
    for index in 0..<4 { try keychain.put("more \(index)", String(repeating: "y", count: 9000)) }
    let other = try Fixture(copying: fixture)
    let log = URL(fileURLWithPath: other.path("vault.db-wal"))
    let whole = try Data(contentsOf: log)
    let size = 24 + 4096
    let ends = (0..<(whole.count - 32) / size).filter { frame in
      whole[32 + frame * size + 4..<32 + frame * size + 8] != Data(count: 4)
    }
    try #require(ends.count > 2 && ends[ends.count - 1] > ends[ends.count - 2] + 2)
    let (kept, boundary) = (32 + (ends[ends.count - 3] + 1) * size, 32 + (ends[ends.count - 2] + 1) * size)
    var damaged = whole
    Self.damage(&damaged, block: boundary / 4096)
    try damaged.write(to: log)
    try setMode(log.path, 0o600)
    let reason = "vault.db-wal is damaged after byte \(kept), before changes that were stored later"
    #expect(throws: VaultError.corrupt(reason)) { _ = try other.open() }
    #expect(try Data(contentsOf: log) == damaged)
    // A person without a backup can cut the log there, and loses the changes behind that byte.
    try damaged.prefix(kept).write(to: log)
    try setMode(log.path, 0o600)
    let found = try other.unlocked()
    #expect(try found.text("more 1") == String(repeating: "y", count: 9000))
    #expect(try found.names("").filter { $0.hasPrefix("more") }.count == 2 && found.verify().isOK)
    #expect(!found.hadUnfinishedChange)
    withExtendedLifetime(keychain) {}
  }

  @Test("a file that lacks its last page alone is refused where the log has other pages")
  func lastPage() throws {
    let fixture = try fixture()
    let other = try Fixture(create: false)
    try other.makeDirectory()
    do {
      let keychain = try fixture.unlocked()
      // The facts about the vault have pages of their own, none of which is the last page.
      try keychain.markStale(.recovery)
      for (name, data) in try fixture.files() where name != "vault.lock" {
        #expect(
          FileManager.default.createFile(
            atPath: other.path(name), contents: data, attributes: [.posixPermissions: 0o600]))
      }
      withExtendedLifetime(keychain) {}
    }
    let whole = try #require(try other.files()["vault.db"])
    try write(whole.dropLast(4096), other)
    let before = try other.files()
    expectCorrupt { _ = try other.open() }
    #expect(try other.files().filter { $0.key != "vault.lock" } == before)
    try write(whole, other)
    let keychain = try other.open()
    #expect(keychain.staleSlots == [1])
  }

  @Test("a file that the log completes is opened, and one that it does not is refused")
  func shortWithLog() throws {
    let fixture = try fixture()
    var small = try #require(try fixture.files()["vault.db"])
    let other = try Fixture(create: false)
    do {
      let keychain = try fixture.unlocked()
      // The first change is folded in. All pages of later changes are in the log, and the main file is unchanged.
      try keychain.put("first", "y")
      small = try #require(try fixture.files()["vault.db"])
      for index in 0..<20 { try keychain.put("more \(index)", String(repeating: "y", count: 2000)) }
      try other.makeDirectory()
      for (name, data) in try fixture.files() where name != "vault.lock" {
        #expect(
          FileManager.default.createFile(
            atPath: other.path(name), contents: data, attributes: [.posixPermissions: 0o600]))
      }
    }
    #expect(try other.files()["vault.db"]?.count == small.count)
    let log = try #require(try other.files()["vault.db-wal"])
    try write(small.prefix(small.count - 8192), other)
    let before = try other.files()
    expectCorrupt { _ = try other.open() }
    for (name, data) in before { #expect(try other.files()[name] == data) }
    try write(small, other)
    #expect(
      FileManager.default.createFile(
        atPath: other.path("vault.db-wal"), contents: log, attributes: [.posixPermissions: 0o600]))
    let keychain = try other.open()
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.text("more 19") == String(repeating: "y", count: 2000))
  }
}
