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
}
