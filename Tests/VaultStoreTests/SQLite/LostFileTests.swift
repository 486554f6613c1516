import Foundation
import Testing
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultStore

/// Files that lose their names, or whose names get other files, while the store is open.
@Suite("Files that lose their names under the open store") struct LostFileTests {
  enum Loss: CaseIterable {
    case removed, replaced, movedWithDirectory

    func strike(_ name: String, of fixture: Fixture) throws {
      let (manager, path) = (FileManager.default, fixture.path(name))
      switch self {
      case .removed: try manager.removeItem(atPath: path)
      case .replaced:
        // A copy has the same bytes, but the open file still lost its name.
        try manager.copyItem(atPath: path, toPath: path + ".other")
        try setMode(path + ".other", 0o600)
        #expect(unsafe rename(path + ".other", path) == 0)
      case .movedWithDirectory:
        let kept = fixture.directory + ".kept"
        try manager.moveItem(atPath: fixture.directory, toPath: kept)
        try fixture.makeDirectory()
        for other in try manager.contentsOfDirectory(atPath: kept) where other != name {
          try manager.moveItem(atPath: kept + "/" + other, toPath: fixture.path(other))
        }
      }
    }
  }

  private static func reason(_ name: String, _ loss: Loss) -> String {
    name == "vault.db-wal" && loss != .replaced ? goneLog : lost(name)
  }

  /// Returns the error with the reason and the advice apart.
  private static func error(_ name: String, _ loss: Loss) -> VaultError {
    let parts = reason(name, loss).split(separator: "; ", maxSplits: 1).map(String.init)
    return .distrusted(parts[0], advice: parts[1])
  }

  private static let goneLog =
    "vault.db-wal was removed while vaultd has it open; stop vaultd, which writes the rest of the log into "
    + "vault.db, and start it again"

  private static func lost(_ name: String) -> String {
    "\(name) was moved, removed or replaced while vaultd has it open; `vault salvage FILE` saves what vaultd still "
      + "has; do not end vaultd before that; entries of the audit log that were not written yet are lost"
  }

  @Test(
    "a write is refused with the reason, the check has failed, and a salvage saves all that was written",
    arguments: ["vault.db", "vault.db-wal"], Loss.allCases)
  func write(name: String, loss: Loss) throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try fixture.unlocked()
    try keychain.put("last", "in the log alone")
    #expect(try keychain.verify().isOK)
    try loss.strike(name, of: fixture)
    #expect(throws: Self.error(name, loss)) { try keychain.put("lost") }
    #expect(keychain.integrity == .failed)
    #expect(throws: VaultError.noSuchItem) { try keychain.text("lost") }
    #expect(try keychain.verify().findings.map(\.text) == [Self.reason(name, loss)])
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
    while try !salvage.step(items: 8) {}
    #expect(salvage.result.saved == 13 && salvage.result.losses.isEmpty)
    #expect(try salvage.target.text("last") == "in the log alone")
    #expect(try salvage.target.verify().isOK)
  }

  @Test("a check finds it where nothing is written", arguments: ["vault.db", "vault.db-wal"], Loss.allCases)
  func check(name: String, loss: Loss) throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try fixture.unlocked()
    #expect(try keychain.verify().isOK)
    try loss.strike(name, of: fixture)
    #expect(try keychain.verify().findings.map(\.text) == [Self.reason(name, loss)])
    #expect(keychain.integrity == .failed)
    #expect(try keychain.text("room 0/item 0") == "value 0.0")
  }

  /// The ways to notice that a file has lost its name.
  enum Notice: CaseIterable {
    case nothing, change, amidChange, check, twoChecks, checkAfterReturn, backup

    func take(_ keychain: Keychain, _ fixture: Fixture) throws {
      switch self {
      case .nothing: return
      case .change: expectCorrupt { try keychain.put("lost") }
      case .amidChange:
        expectCorrupt { try keychain.transaction { () throws(VaultError) in keychain.beginVerification() } }
        while try keychain.continueVerification(records: 1 << 20) == nil {}
      case .check: #expect(try !keychain.verify().isOK)
      case .twoChecks:
        for _ in 0..<2 { #expect(try !keychain.verify().isOK) }
      case .checkAfterReturn:
        #expect(try !keychain.verify().isOK)
        // The open file itself gets its name back, but any file of that name would look the same.
        try FileManager.default.moveItem(atPath: fixture.path("kept"), toPath: fixture.path("vault.db-wal"))
        #expect(try !keychain.verify().isOK)
        try FileManager.default.moveItem(atPath: fixture.path("vault.db-wal"), toPath: fixture.path("kept"))
      case .backup: expectCorrupt { _ = try keychain.beginBackup(now: 1) }
      }
      #expect(keychain.integrity == .failed)
      expectCorrupt { try keychain.put("lost") }
      #expect(try keychain.text("last") == "in the log alone")
    }
  }

  @Test("where only the log is gone, closing the store loses nothing, whoever noticed it", arguments: Notice.allCases)
  func closed(notice: Notice) throws {
    let fixture = try IntegrityTests.filled()
    do {
      let keychain = try fixture.unlocked()
      try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
      try keychain.put("last", "in the log alone")
      try FileManager.default.moveItem(atPath: fixture.path("vault.db-wal"), toPath: fixture.path("kept"))
      try notice.take(keychain, fixture)
    }
    try FileManager.default.removeItem(atPath: fixture.path("kept"))
    #expect(try fixture.names() == ["vault.db", "vault.lock"])
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("last") == "in the log alone")
    #expect(try keychain.verify().isOK)
  }

  @Test("where the log was folded in as a whole before it went, closing has nothing of it to put back")
  func foldedBefore() throws {
    let fixture = try IntegrityTests.filled()
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("last", "in the main file")
      _ = try BackedUp.backup(keychain)
      try FileManager.default.removeItem(atPath: fixture.path("vault.db-wal"))
      try keychain.database.connection.putBackLog()
    }
    #expect(try fixture.unlocked().text("last") == "in the main file")
  }

  @Test("where only the log is gone, and the disk fails amid the closing, the next opening finds everything")
  func closedOnFailingDisk() throws {
    var operations = 0
    var hasFailed = true
    while hasFailed, operations < 100 {
      let fixture = try Fixture()
      let disk = try FaultyDisk(fixture)
      do {
        let keychain = try fixture.unlocked()
        try keychain.put("last", "in the log alone")
        try Loss.removed.strike("vault.db-wal", of: fixture)
        expectCorrupt { try keychain.put("lost") }
        disk.fail(after: operations, FaultyDisk.Failure.allCases[0])
        if operations % 2 == 0 { try keychain.close() }
      }
      hasFailed = disk.hasFailed
      operations += 1
      disk.recover()
      let keychain = try fixture.unlocked()
      #expect(try keychain.text("last") == "in the log alone", "\(operations)")
      #expect(try keychain.verify().isOK)
    }
    #expect(3..<100 ~= operations)
  }

  @Test("the log that is put back is on the disk, name and all, before the file changes")
  func closedInOrder() throws {
    let fixture = try IntegrityTests.filled()
    var keychain: Keychain? = try fixture.unlocked()
    try keychain?.put("last", "in the log alone")
    try Loss.removed.strike("vault.db-wal", of: fixture)
    let disk = try DurableDisk(at: fixture.parent)
    disk.watch { keychain = nil }
    let log = try #require(disk.syncs.firstIndex(of: "vault/vault.db-wal"), "\(disk.syncs)")
    let directory = try #require(disk.syncs[log...].firstIndex(of: "vault"), "\(disk.syncs)")
    let file = try #require(disk.syncs.firstIndex(of: "vault/vault.db"), "\(disk.syncs)")
    #expect(directory < file, "\(disk.syncs)")
    #expect(try fixture.unlocked().text("last") == "in the log alone")
  }

  @Test("where only the log is gone and it cannot be put back, the file stays as it is", arguments: [false, true])
  func notPutBack(isClosed: Bool) async throws {
    let fixture = try Fixture(key: [UInt8](repeating: 4, count: 32))
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String, isClosed = isClosed as Bool] in
      signal(SIGXFSZ, SIG_IGN)
      var keychain: Keychain? = try Keychain(opening: directory)
      try keychain?.unlock(vaultKey: secret([UInt8](repeating: 4, count: 32)))
      // The first change is folded into the main file.
      try keychain?.put("first", "kept")
      let before = try Data(contentsOf: URL(fileURLWithPath: directory + "/vault.db"))
      for index in 0..<40 { try keychain?.put("last", "\(index)", update: true) }
      #expect(unsafe unlink(directory + "/vault.db-wal") == 0)
      // The log is longer than this limit, and the main file is not.
      var limit = rlimit(rlim_cur: 300_000, rlim_max: 300_000)
      #expect(unsafe setrlimit(__rlimit_resource_t(1), &limit) == 0)
      if isClosed { expect(\.isStorage) { try keychain?.close() } }
      keychain = nil
      #expect(try Data(contentsOf: URL(fileURLWithPath: directory + "/vault.db")) == before)
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.names("") == ["first"])
    #expect(keychain.isCopy, "it has lost its log")
  }

  @Test(
    "where anything else is wrong with the store too, before or after, its file stays as it is",
    arguments: [false, true])
  func closedWithDamage(isFoundLast: Bool) throws {
    let fixture = try IntegrityTests.filled()
    let before: Data
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("last", "in the log alone")
      func find() throws {
        keychain.notice(.corrupt("anything"))
        #expect(keychain.integrity == .failed)
      }
      if !isFoundLast { try find() }
      try Loss.removed.strike("vault.db-wal", of: fixture)
      expectCorrupt { try keychain.put("lost") }
      #expect(try !keychain.verify().isOK)
      if isFoundLast { try find() }
      before = try #require(fixture.files()["vault.db"])
    }
    #expect(try fixture.files()["vault.db"] == before)
  }

  @Test("nothing is folded in while another log has the open one's name")
  func folding() throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try fixture.unlocked()
    try keychain.put("last", "in the log alone")
    try Loss.replaced.strike("vault.db-wal", of: fixture)
    let before = try fixture.files()
    keychain.foldLog()
    #expect(try fixture.files() == before)
  }

  @Test(
    "what was put in the place of the open store, or of its log alone, stays as it is when that is closed",
    arguments: [["vault.db", "vault.db-wal"], ["vault.db-wal"]], [false, true])
  func otherStore(names: [String], isNoticed: Bool) throws {
    let fixture = try IntegrityTests.filled()
    let before: [String: Data]
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("last", "in the log alone")
      for name in names { try Loss.replaced.strike(name, of: fixture) }
      before = try fixture.files()
      if isNoticed { expectCorrupt { try keychain.put("lost") } }
    }
    #expect(try fixture.files() == before)
    #expect(try fixture.unlocked().text("last") == "in the log alone")
  }

  /// The errors of a look at a path whose folder something else stands in for.
  enum Hiding: CaseIterable {
    case notADirectory, loop

    /// Hides the store, whose files stay as they are.
    func begin(_ fixture: Fixture) throws {
      let manager = FileManager.default
      try manager.moveItem(atPath: fixture.directory, toPath: fixture.directory + ".kept")
      switch self {
      case .notADirectory: #expect(manager.createFile(atPath: fixture.directory, contents: nil))
      case .loop: try manager.createSymbolicLink(atPath: fixture.directory, withDestinationPath: fixture.directory)
      }
    }

    func end(_ fixture: Fixture) throws {
      #expect(unsafe unlink(fixture.directory) == 0)
      try FileManager.default.moveItem(atPath: fixture.directory + ".kept", toPath: fixture.directory)
    }

    var error: VaultError {
      let reason = unsafe String(cString: strerror(self == .loop ? ELOOP : ENOTDIR))
      return .storage("cannot look at vault.db: \(reason)")
    }
  }

  @Test(
    "a store that cannot be looked at is served and not written, counts as whole, and comes back by itself",
    arguments: Hiding.allCases)
  func hidden(hiding: Hiding) throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try fixture.unlocked()
    try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
    try keychain.put("last", "in the log alone")
    #expect(try keychain.verify().isOK)
    try hiding.begin(fixture)
    #expect(throws: hiding.error) { try keychain.put("refused") }
    #expect(throws: hiding.error) { _ = try keychain.verify() }
    #expect(throws: hiding.error) { _ = try keychain.beginBackup(now: 1) }
    #expect(try keychain.text("last") == "in the log alone")
    #expect(keychain.lostFile == hiding.error && !keychain.hasLostLock && !keychain.hasFailed)
    try hiding.end(fixture)
    #expect(keychain.lostFile == nil)
    try keychain.put("refused", "by now")
    #expect(try keychain.verify().isOK)
    try keychain.close()
    #expect(try fixture.unlocked().text("refused") == "by now")
  }

  @Test(
    "a store that is closed while it cannot be looked at has lost nothing when it comes back",
    arguments: Hiding.allCases)
  func closedWhileHidden(hiding: Hiding) throws {
    let fixture = try IntegrityTests.filled()
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("last", "in the log alone")
      try hiding.begin(fixture)
      #expect(throws: hiding.error) { try keychain.put("refused") }
    }
    try hiding.end(fixture)
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("last") == "in the log alone" && keychain.verify().isOK && !keychain.isCopy)
  }

  @Test("a backup is refused with the reason, and the check has failed", arguments: ["vault.db", "vault.db-wal"])
  func backup(name: String) throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try fixture.unlocked()
    try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
    try Loss.removed.strike(name, of: fixture)
    #expect(throws: Self.error(name, .removed)) { _ = try keychain.beginBackup(now: 1) }
    #expect(keychain.integrity == .failed)
  }
}
