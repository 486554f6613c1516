import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Rekeys cut off at any moment: afterwards there is either the old vault, which can resume the rekey, or the new
/// vault.
@Suite struct RekeyCutTests {
  /// Opens the files that a killed process left, with whichever key opens them, and completes an incomplete rekey.
  /// Returns true if the new vault was already in place.
  static func check(_ files: Fixture, _ expected: Contents) throws -> Bool {
    var wasNew = false
    do {
      let keychain = try files.open()
      if keychain.isRekeying {
        try keychain.unlock(vaultKey: files.vaultKey)
        #expect(try Contents(keychain) == expected)
        try files.resume(keychain).complete()
      } else {
        wasNew = (try? keychain.unlock(vaultKey: secret(Fixture.nextKey))) != nil
        if !wasNew {
          // The rekey was cut off before it was recorded.
          try keychain.unlock(vaultKey: files.vaultKey)
          try files.rekey(keychain).complete()
        }
      }
      #expect(try Contents(keychain) == expected)
      #expect(try keychain.verify().isOK)
    }
    #expect(try files.names() == ["vault.db", "vault.lock"])
    let keychain = try files.open()
    try keychain.unlock(vaultKey: secret(Fixture.nextKey))
    #expect(try Contents(keychain) == expected)
    return wasNew
  }

  @Test("killed after any step of the copying, it goes on from there")
  func copying() throws {
    let fixture = try Fixture.withItems(12)
    let keychain = try fixture.unlocked()
    let rekey = try fixture.rekey(keychain)
    var number = 0
    repeat {
      if number % 3 == 1 { try keychain.put("while \(number)") }
      if number % 4 == 3 { try keychain.delete([name(keychain.names("")[0])]) }
      let expected = try Contents(keychain)
      #expect(try !Self.check(Fixture(copying: fixture), expected))
      number += 1
    } while try !rekey.step(records: 5)
    #expect(number > 8)
  }

  @Test(
    "killed at any step of the end, there is the old vault or the new one, whole", arguments: ReplacementStep.allCases)
  func replacement(step: ReplacementStep) throws {
    let fixture = try Fixture.withItems(12)
    let keychain = try fixture.unlocked()
    let expected = try Contents(keychain)
    let rekey = try fixture.rekey(keychain)
    var wasNew: Bool?
    rekey.atStep = { (reached: ReplacementStep) throws(VaultError) in
      guard reached == step else { return }
      do { wasNew = try Self.check(Fixture(copying: fixture), expected) } catch {
        throw .storage("\(error)")
      }
    }
    try rekey.complete()
    #expect(wasNew == [.renamed, .synced, .opened].contains(step))
    #expect(try Contents(keychain) == expected)
  }

  @Test(
    "when a step of the end fails, the live vault goes on, or says that it is gone", arguments: ReplacementStep.allCases
  )
  func failing(step: ReplacementStep) throws {
    let fixture = try Fixture.withItems(12)
    var expected: Contents
    do {
      let keychain = try fixture.unlocked()
      expected = try Contents(keychain)
      let rekey = try fixture.rekey(keychain)
      var fails = true
      rekey.atStep = { (reached: ReplacementStep) throws(VaultError) in
        if reached == step, fails { throw .storage("as told") }
      }
      switch step {
      case .opened:
        // The remaining steps are not needed then.
        try rekey.complete()
        #expect(try Contents(keychain) == expected)
      case .renamed, .synced:
        expect(\.isStorage) { try rekey.complete() }
        #expect(keychain.isGone)
        #expect(throws: VaultError.locked) { try keychain.text("folder 0/item 0") }
        #expect(throws: VaultError.self) { try keychain.put("lost") }
        expectCorrupt { try keychain.unlock(vaultKey: fixture.vaultKey) }
        expectCorrupt { try keychain.unlock(vaultKey: secret(Fixture.nextKey)) }
        expectCorrupt { try keychain.addSlot(fixture.nextSlot(9), vaultKey: secret(Fixture.nextKey)) }
        let new = try fixture.open()
        try new.unlock(vaultKey: secret(Fixture.nextKey))
        #expect(try Contents(new) == expected)
      default:
        expect(\.isStorage) { try rekey.complete() }
        #expect(!keychain.isGone)
        #expect(try Contents(keychain) == expected)
        try keychain.put("after the failure")
        expected = try Contents(keychain)
        #expect(try !Self.check(Fixture(copying: fixture), expected))
        fails = false
        try rekey.complete()
        #expect(try Contents(keychain) == expected)
      }
    }
    let keychain = try fixture.open()
    try keychain.unlock(vaultKey: secret(Fixture.nextKey))
    #expect(try Contents(keychain) == expected)
    #expect(try keychain.verify().isOK)
  }

  @Test("a disk that fails at any operation stops it, the live store stays, and it goes on when there is room")
  func diskFailure() throws {
    let fixture = try Fixture.withItems(12)
    let keychain = try fixture.unlocked()
    let expected = try Contents(keychain)
    _ = try fixture.rekey(keychain)
    let disk = try FaultyDisk(fixture, in: "rekey")
    let rekey = try fixture.resume(keychain)
    var operation = 0
    var refused = 0
    while true {
      disk.fail(after: operation, FaultyDisk.Failure.allCases[0])
      operation += 1
      do {
        while try !rekey.step(records: 5) {}
        if !disk.hasFailed { break }
      } catch {
        refused += 1
        #expect(error == .diskFull)
        #expect(try Contents(keychain) == expected)
      }
      disk.recover()
    }
    #expect(refused > 3)
    disk.recover()
    try rekey.complete()
    #expect(try Contents(keychain) == expected)
    #expect(try keychain.verify().isOK)
  }

  @Test("what was noted of an item before the disk failed is not written when the item is gone afterwards")
  func goneAfterFailure() throws {
    let fixture = try Fixture.withItems(12)
    let keychain = try fixture.unlocked()
    _ = try fixture.rekey(keychain)
    let disk = try FaultyDisk(fixture, in: "rekey")
    let rekey = try fixture.resume(keychain)
    disk.fail(after: 0, FaultyDisk.Failure.allCases[0])
    // A step this long walks over all items before it writes.
    #expect(throws: VaultError.diskFull) { while try !rekey.step(records: 1000) {} }
    disk.recover()
    try keychain.delete([name("folder 1/item 1")])
    let expected = try Contents(keychain)
    try rekey.complete()
    #expect(try Contents(keychain) == expected)
    #expect(try keychain.verify().isOK)
  }

  @Test("wherever the power is cut while the second store is filled, it can be gone on with")
  func powerCut() throws {
    let fixture = try Fixture.withItems(12)
    let keychain = try fixture.unlocked()
    let expected = try Contents(keychain)
    _ = try fixture.rekey(keychain)
    let disk = try FaultyDisk(fixture, in: "rekey")
    let rekey = try fixture.resume(keychain)
    var steps = 0
    repeat {
      steps += 1
      if steps % 3 == 0 { try rekey.commit() }
    } while try !rekey.step(records: 4)
    let events = disk.events()
    let syncs = events.indices.filter { events[$0].kind == .sync }
    #expect(syncs.count > 3)
    for cut in Set(syncs.flatMap { [$0, $0 + 1] }).sorted() {
      for luck in FaultyDisk.Luck.allCases {
        let cutFiles = disk.files(events, cutAfter: cut, luck)
        let files = try Fixture(copying: fixture)
        for (name, data) in cutFiles { try data.write(to: URL(fileURLWithPath: files.path("rekey/\(name)"))) }
        for name in try FileManager.default.contentsOfDirectory(atPath: files.path("rekey"))
        where cutFiles[name] == nil && name != "vault.lock" {
          try FileManager.default.removeItem(atPath: files.path("rekey/\(name)"))
        }
        for name in cutFiles.keys { try setMode(files.path("rekey/\(name)"), 0o600) }
        _ = try Self.check(files, expected)
      }
    }
  }
}
