import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Checks read the pages as they are at one moment, those in the log included, and write nothing.
@Suite struct FrozenPagesTests {
  /// Opens a store that has some of its records in the log only.
  private static func keychainWithLog(_ fixture: Fixture) throws -> Keychain {
    let keychain = try fixture.unlocked()
    for index in 0..<6 { try keychain.put("log/\(index)", String(repeating: "x", count: 3000 * index)) }
    #expect(keychain.database.connection.committed.frames > 10)
    return keychain
  }

  /// Runs a check to its end.
  private static func end(_ keychain: Keychain, records: Int = 3) throws -> Verification {
    while true { if let result = try keychain.continueVerification(records: records) { return result } }
  }

  @Test("a store that failed keeps its file and its log to the byte, through later checks and when it is closed")
  func failed() throws {
    let fixture = try IntegrityTests.filled()
    let before: [String: Data]
    do {
      let keychain = try Self.keychainWithLog(fixture)
      keychain.notice(.corrupt("item 3 cannot be read"))
      before = try fixture.files()
      let result = try keychain.verify()
      #expect(
        result.findings.map(\.text)
          == ["found since the store was opened, and not by this check: item 3 cannot be read"])
      #expect(try fixture.files() == before)
    }
    #expect(try fixture.files() == before)
    let keychain = try fixture.unlocked()
    #expect(try keychain.verify().isOK)
    #expect(try fixture.files() == before)
    #expect(try keychain.text("log/5").count == 15_000)
  }

  @Test("a check needs no room, and a disk that takes nothing is no finding", arguments: FaultyDisk.Failure.allCases)
  func fullDisk(failure: FaultyDisk.Failure) throws {
    let fixture = try IntegrityTests.filled()
    let disk = try FaultyDisk(fixture)
    let keychain = try Self.keychainWithLog(fixture)
    disk.fail(after: 0, failure)
    #expect(try keychain.verify().isOK)
    #expect(!disk.hasFailed)
    // A failed commit leaves frames in the log that belong to no transaction.
    for left in 1..<8 {
      disk.fail(after: left, failure, once: left % 2 == 0)
      expect(\.isStorage) { try keychain.put("log/1", String(repeating: "y", count: 700_000), update: true) }
      #expect(try keychain.verify().isOK, "\(left)")
    }
    disk.recover()
    try keychain.put("log/1", "short", update: true)
    #expect(try keychain.verify().isOK)
    #expect(try keychain.text("log/5").count == 15_000)
  }

  @Test("the log that was folded in before begins anew under a check", arguments: [1, 40, 200, 100_000])
  func begunAnew(records: Int) throws {
    let fixture = try IntegrityTests.filled()
    for frames in [1, 1000] {
      let keychain = try Self.keychainWithLog(fixture)
      let connection = keychain.database.connection
      if frames == 1 {
        connection.longLog = 1
        try keychain.put("folds", update: true)
      } else {
        try connection.checkpoint()
      }
      let before = try connection.logSalts()
      keychain.beginVerification()
      var result = try keychain.continueVerification(records: records)
      for index in 0..<20 where result == nil {
        try keychain.put("log/\(index)", String(repeating: "z", count: 5000), update: true)
        if index == 0 {
          #expect(try connection.logSalts() != before)
          // The log has begun anew, so its frames are new ones.
          #expect(connection.foldsLog || connection.committed.frames < 30)
        }
        result = try keychain.continueVerification(records: records)
      }
      let last = try result ?? Self.end(keychain)
      #expect(last.isOK, "\(last.findings.map(\.text))")
      try keychain.delete(keychain.names("name~log/*").map { try name($0) })
    }
  }

  // MARK: Damage

  private static func flip(_ fixture: Fixture, _ file: String, at offset: Int) throws {
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.path(file)))
    defer { try? handle.close() }
    try handle.seek(toOffset: UInt64(offset))
    let byte = try #require(try handle.read(upToCount: 1)?.first)
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: Data([byte ^ 1]))
  }

  @Test(
    "a byte that changes in the log under the open store is found, in the first frame and in the last", arguments: 0..<8
  )
  func damagedFrame(place: Int) throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try Self.keychainWithLog(fixture)
    let frames = keychain.database.connection.committed.frames
    let frame = place % 2 == 0 ? 0 : frames - 1
    // A byte of the frame's page number, of its mark of a transaction's end, of its checksums, or of its page.
    let offset = 32 + frame * 4120 + [3, 7, 17, 2000][place / 2]
    #expect(try keychain.verify().isOK)
    try Self.flip(fixture, "vault.db-wal", at: offset)
    #expect(try keychain.verify().findings.map(\.text).contains("the log: vault.db-wal is damaged"))
    expectCorrupt { try keychain.put("new") }
  }

  @Test("a page that only the log has damaged is found, and stays there")
  func forgedPage() throws {
    let fixture = try Fixture.withItems(40)
    var forge = try PageForge(fixture)
    let root = try forge.root("heads")
    // The header claims one free byte more than there is.
    forge.data(PageForge.offset(root) + 7, 1)
    try forge.writeLog([root])
    let before = try fixture.files()
    do {
      let keychain = try fixture.unlocked()
      let found = try keychain.verify().findings.map(\.text)
      #expect(found.contains("the table heads: page \(root) has bytes that nothing uses"), "\(found)")
    }
    #expect(try fixture.files() == before)
  }

  // MARK: The log's length

  private static func logSize(_ fixture: Fixture) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: fixture.path("vault.db-wal"))[.size] as? Int ?? 0
  }

  /// Makes a store of some megabytes.
  private static func large() throws -> Fixture {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for index in 0..<300 {
      // Long rows and short rows, so that the trees have pages of both kinds.
      try keychain.put("large/\(index)", String(repeating: "x", count: index % 3 == 0 ? 60_000 : 1500))
    }
    return fixture
  }

  @Test(
    """
    the log grows by half of the store and some megabytes beside a check, which comes to its end, however little it \
    is taken on
    """,
    arguments: [0, 1, 20])
  func bounded(records: Int) throws {
    let fixture = try Self.large()
    let keychain = try fixture.unlocked()
    let value = String(repeating: "y", count: 200_000)
    try keychain.put("written", value)
    let (store, log) = (try keychain.database.size(), try Self.logSize(fixture))
    // The last transaction, with the older value that it leaves, may exceed the limit: hence the last megabyte.
    let limit = log + FileShape.room + (store + log) / FileShape.pace + (1 << 20)
    keychain.beginVerification()
    #expect(try keychain.continueVerification(records: 1) == nil)
    #expect(!keychain.database.connection.foldsLog)
    var written = 0
    while !keychain.database.connection.foldsLog, written < 2 * limit {
      try keychain.put("written", value, update: true)
      written += value.count
      #expect(try Self.logSize(fixture) < limit)
      if records > 0 { _ = try keychain.continueVerification(records: records) }
    }
    #expect(keychain.database.connection.foldsLog)
    #expect(try Self.end(keychain, records: 100).isOK)
    // After the check the log is folded in, and is short again.
    for _ in 0..<30 {
      try keychain.put("written", value, update: true)
      if keychain.hasLongLog { keychain.foldLog() }
    }
    #expect(try Self.logSize(fixture) < 8 << 20)
  }

  @Test("crash after crash amid a check leaves a log that is bounded, and that the next check holds to its end")
  func crashed() throws {
    var fixture = try Self.large()
    let value = String(repeating: "y", count: 200_000)
    let store = try fixture.unlocked().database.size()
    let limit = FileShape.longLog(pages: store / DatabaseHeader.pageSize) + 4 * FileShape.room + (2 << 20)
    for _ in 0..<16 {
      let keychain = try fixture.unlocked()
      keychain.beginVerification()
      #expect(try keychain.continueVerification(records: 1) == nil)
      // Less than what may be written before the check must continue, if the log is short.
      for _ in 0..<(FileShape.room / (value.utf8.count + 40_000)) { try keychain.put("written", value, update: true) }
      #expect(try Self.logSize(fixture) < limit)
      fixture = try Fixture(copying: fixture)
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.verify().isOK)
    #expect(try keychain.text("written") == value)
  }

  @Test("whoever writes little does nothing for the check")
  func small() throws {
    let fixture = try Self.large()
    let keychain = try fixture.unlocked()
    keychain.beginVerification()
    #expect(try keychain.continueVerification(records: 1) == nil)
    let before = keychain.integrity
    for index in 0..<40 { try keychain.put("small/\(index)") }
    #expect(keychain.integrity == before)
    #expect(try Self.end(keychain).isOK)
  }
}
