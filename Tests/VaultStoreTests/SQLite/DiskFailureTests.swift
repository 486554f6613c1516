import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Failures of the disk: existing data stay readable, the error names the cause, and the store continues when it can.
@Suite struct DiskFailureTests {
  @Test(
    "a failure at any operation leaves the old value, and room brings everything back",
    arguments: FaultyDisk.Failure.allCases, [true, false])
  func everyOperation(failure: FaultyDisk.Failure, once: Bool) throws {
    let fixture = try Fixture()
    let disk = try FaultyDisk(fixture)
    var value = "first"
    do {
      let keychain = try fixture.unlocked()
      // With a log this short, a change also folds it in.
      keychain.database.connection.longLog = 4
      try keychain.put("a", value)
      var operation = 0
      var refused = 0
      repeat {
        disk.fail(after: operation, failure, once: once)
        operation += 1
        let new = "value \(operation)" + String(repeating: "x", count: 5000)
        do {
          try keychain.put("a", new, update: true)
          value = new
        } catch let error as VaultError {
          refused += 1
          guard case .storage(let reason) = error else {
            Issue.record("\(error)")
            break
          }
          #expect(reason.contains(failure.text), "\(reason)")
          #expect(try keychain.text("a") == value)
          #expect(try keychain.names("") == ["a"])
        }
        let hasFailed = disk.hasFailed
        disk.recover()
        if refused > 0 {
          try keychain.put("a", value + "!", update: true)
          value += "!"
          #expect(try keychain.text("a") == value)
        }
        if !hasFailed { break }
      } while operation < 200
      #expect(refused >= 3 && operation < 200)
      #expect(try keychain.verify().isOK)
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("a") == value)
    #expect(try keychain.verify().isOK)
  }

  @Test("a store on a disk that takes nothing is opened, unlocked and read", arguments: FaultyDisk.Failure.allCases)
  func readOnly(failure: FaultyDisk.Failure) throws {
    let fixture = try IntegrityTests.filled()
    let disk = try FaultyDisk(fixture)
    disk.fail(after: 0, failure)
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("room 0/item 3") == "value 0.3 again")
    #expect(try keychain.verify().isOK)
    expect(\.isStorage) { try keychain.put("new") }
    expect(\.isStorage) { try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey) }
    disk.recover()
    try keychain.put("new")
    #expect(try keychain.verify().isOK)
  }

  /// Without this, the rest of the failed change could stand behind the next one after a power cut.
  @Test("a change that fails leaves nothing in the log", arguments: FaultyDisk.Failure.allCases, [true, false])
  func leavesNothing(failure: FaultyDisk.Failure, beginsAnew: Bool) throws {
    let fixture = try Fixture()
    let disk = try FaultyDisk(fixture)
    let keychain = try fixture.unlocked()
    for index in 0..<3 { try keychain.put("kept \(index)") }
    let connection = keychain.database.connection
    if beginsAnew { keychain.database.foldLongLog() }
    let before = connection.committed.size
    // More frames than are gathered for one write; the last write or the sync fails.
    for operations in 1..<6 {
      disk.fail(after: operations, failure, once: true)
      expect(\.isStorage) { try keychain.put("long", String(repeating: "x", count: 250_000)) }
      disk.recover()
      let found = try #require(try fixture.files()["vault.db-wal"]).count
      #expect(found <= before, "\(operations)")
      let copy = try Fixture(copying: fixture)
      let opened = try copy.unlocked()
      #expect(try !opened.hadUnfinishedChange && opened.names("").count == 3 && opened.verify().isOK)
    }
    try keychain.put("long")
    #expect(try keychain.names("").count == 4 && keychain.verify().isOK)
  }

  /// The last frames that a killed daemon wrote, or those of a copy, need not be on the disk.
  @Test("a log that was found is on the disk before anything is written to it") func foundLog() throws {
    let first = try Fixture()
    let keychain = try first.unlocked()
    try keychain.put("kept")
    let fixture = try Fixture(copying: first)
    let disk = try FaultyDisk(fixture)
    let found = try fixture.unlocked()
    try found.put("new")
    #expect(disk.events().first { $0.file == "vault.db-wal" }?.kind == .sync)
    withExtendedLifetime(keychain) {}
  }
}
