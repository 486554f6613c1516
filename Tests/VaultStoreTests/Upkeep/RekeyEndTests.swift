import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// The end of a rekey, repeated after it failed when the second store already had everything.
@Suite("The end of a rekey that comes to nothing") struct RekeyEndTests {
  /// The content of the tables other than the items.
  struct Rest: Equatable {
    var grants: [Int]
    var deposits: [Int64]
    var states: [DepositRow.State]
    var entries: Int64
    var stale: Set<UInt32>

    init(_ keychain: Keychain) throws {
      let outlines = try keychain.database.depositOutlines()
      grants = try AccessClass.allCases.map { try keychain.grants(of: $0).count }
      (deposits, states) = (outlines.map(\.row), outlines.map(\.state))
      (entries, stale) = (keychain.auditFacts.entries, keychain.staleSlots)
    }
  }

  /// Makes a vault that has a row in every table, with deposits in each state.
  static func filled() throws -> (Fixture, Keychain) {
    let fixture = try Fixture.withItems(8)
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(3, to: keychain)
    keychain.lock(hidingNames: false)
    try keychain.leave(LeftValue("seen", "taken in"))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll() == [.stored(version: 1)])
    for pending in [RekeyPendingTests.Pending.keptDeposit, .grant, .staleSlot, .deposit] {
      try pending.put(keychain, fixture)
    }
    _ = try keychain.verify()
    let rest = try Rest(keychain)
    for table in AssociatedData.Table.allCases {
      switch table {
      case .heads, .values, .tags, .keys, .slots, .hashes: break
      case .meta: try #require(rest.stale == [1])
      case .grants: try #require(rest.grants == [1, 1, 1])
      case .deposits: try #require(Set(rest.states) == [.waiting, .kept, .seen])
      case .audit: try #require(rest.entries > 0)
      }
    }
    return (fixture, keychain)
  }

  /// Checks the new vault: everything exists exactly once, and waiting deposits are taken in.
  static func check(_ keychain: Keychain, _ rest: Rest, _ note: String) throws {
    #expect(try Rest(keychain) == rest, "\(note)")
    #expect(try keychain.joinAudit(rows: .max) == [], "\(note)")
    #expect(try keychain.verify().isOK, "\(note)")
    #expect(try keychain.takeInAll() == [.stored(version: 1)] && keychain.text("left") == "waits", "\(note)")
    #expect(try keychain.keptAside() == [.denied], "\(note)")
    #expect(try keychain.verify().isOK, "\(note)")
  }

  @Test("is taken again in the same process, whatever is in the store", arguments: ReplacementStep.allCases)
  func again(step: ReplacementStep) throws {
    let (fixture, keychain) = try Self.filled()
    let rest = try Rest(keychain)
    let rekey = try fixture.rekey(keychain)
    var fails = true
    rekey.atStep = { (reached: ReplacementStep) throws(VaultError) in
      if reached == step, fails { throw .storage("as told") }
    }
    switch step {
    case .begun, .secondFolded, .liveFolded, .secondClosed, .liveClosed:
      for _ in 0..<2 { expect(\.isStorage) { try rekey.complete() } }
      #expect(try Rest(keychain) == rest && !keychain.hasFailed)
      fails = false
      try rekey.complete()
      try Self.check(keychain, rest, "\(step)")
    case .renamed, .synced:
      // The vault has its new key, and is opened again.
      expect(\.isStorage) { try rekey.complete() }
      #expect(keychain.isGone)
      try Self.check(Self.opened(fixture), rest, "\(step)")
    case .opened:
      try rekey.complete()
      try Self.check(keychain, rest, "\(step)")
    }
  }

  @Test("is taken again after a crash at any of its steps", arguments: ReplacementStep.allCases)
  func afterCrash(step: ReplacementStep) throws {
    let (fixture, keychain) = try Self.filled()
    let rest = try Rest(keychain)
    let rekey = try fixture.rekey(keychain)
    var left: Fixture?
    rekey.atStep = { (reached: ReplacementStep) throws(VaultError) in
      guard reached == step else { return }
      do { left = try Fixture(copying: fixture) } catch { throw .storage("\(error)") }
    }
    try rekey.complete()
    let files = try #require(left)
    let again = try files.open()
    if again.isRekeying {
      try again.unlock(vaultKey: files.vaultKey)
      #expect(try again.joinAudit(rows: .max) == [])
      try files.resume(again).complete()
    } else {
      try again.unlock(vaultKey: secret(Fixture.nextKey))
    }
    try Self.check(again, rest, "\(step)")
  }

  @Test("has its entry in the log of the new vault, once, and never in that of the old one")
  func entry() throws {
    for step in ReplacementStep.allCases {
      let (fixture, keychain) = try Self.filled()
      let entries = keychain.auditFacts.entries
      let rekey = try fixture.rekey(keychain)
      var fails = true
      rekey.atStep = { (reached: ReplacementStep) throws(VaultError) in
        if reached == step, fails { throw .storage("as told") }
      }
      func finish() throws {
        while try !rekey.step(records: 16) {}
        try rekey.finish(recording: { $0.add(.rekey, .ok, time: 6000, caller: nil, item: "done") }, now: 6000)
      }
      var isDone = step == .opened
      var more: Int64 = 0
      if isDone { try finish() } else { expect(\.isStorage) { try finish() } }
      if !keychain.isGone, !isDone {
        #expect(try !AuditStoreTests.walk(keychain).entries.values.contains { $0.action == .rekey })
        // Entries that the old vault continues with replace the rekey's entry.
        more = step == .begun ? 0 : 3
        if more > 0 { try AuditStoreTests.write(Int(more), of: 1, to: keychain) }
        fails = false
        try finish()
        isDone = true
      }
      let new = try isDone ? keychain : Self.opened(fixture)
      #expect(try new.joinAudit(rows: .max) == [])
      let (found, faults) = try AuditStoreTests.walk(new)
      #expect(faults == [] && Int64(found.count) == entries + more + 1, "\(step)")
      #expect(found[entries + more + 1]?.item == "done", "\(step)")
      try AuditStoreTests.write(1, to: new)
      #expect(try AuditStoreTests.walk(new).faults == [] && new.verify().isOK, "\(step)")
    }
  }

  private static func opened(_ fixture: Fixture) throws -> Keychain {
    let keychain = try fixture.open()
    try keychain.unlock(vaultKey: secret(Fixture.nextKey))
    return keychain
  }

  @Test("leaves the second store closed where its directory cannot be read, and goes on once it can")
  func notReopened() throws {
    let (fixture, keychain) = try Self.filled()
    let rest = try Rest(keychain)
    let rekey = try fixture.rekey(keychain)
    var fails = true
    rekey.atStep = { (reached: ReplacementStep) throws(VaultError) in
      guard reached == .secondClosed, fails else { return }
      try? FileManager.default.moveItem(atPath: fixture.path("rekey/vault.db"), toPath: fixture.path("rekey/elsewhere"))
      throw .storage("as told")
    }
    expect(\.isStorage) { try rekey.complete() }
    expect(\.isOfSecondStore) { _ = try rekey.step(records: 8) }
    #expect(!keychain.hasFailed)
    fails = false
    try FileManager.default.moveItem(atPath: fixture.path("rekey/elsewhere"), toPath: fixture.path("rekey/vault.db"))
    try rekey.complete()
    try Self.check(keychain, rest, "reopened")
  }

  @Test(
    "is the fault of the live store where that is damaged, and of the second one where that is",
    arguments: [
      "UPDATE grants SET sealed = zeroblob(length(sealed))", "DELETE FROM deposits WHERE state = 2",
      "UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = 2", "DELETE FROM vals",
    ])
  func whose(sql: String) throws {
    for isLive in [true, false] {
      let (fixture, keychain) = try Self.filled()
      let rekey = try fixture.rekey(keychain)
      if !isLive { while try !rekey.step(records: 64) {} }
      try (isLive ? keychain : rekey.target).database.connection.execute(sql)
      if isLive {
        expectCorrupt { try rekey.complete() }
      } else {
        // The end does not read again what the check of the second store has read.
        do { try rekey.finish() } catch { #expect(error.isOfSecondStore, "\(error)") }
      }
      #expect(keychain.hasFailed == isLive, "\(sql)")
    }
  }

  @Test("one that a full disk does not let go loses its files, so that it is never completed") func droppedOnFullDisk()
    throws
  {
    let fixture = try Fixture.withItems(6)
    let disk = try FaultyDisk(fixture)
    do {
      let keychain = try fixture.unlocked()
      do { _ = try fixture.rekey(keychain) }
      disk.fail(after: 0, FaultyDisk.Failure.allCases[0], once: true)
      // The files that are removed make room.
      try keychain.dropRekey()
      #expect(disk.hasFailed && !keychain.isRekeying)
      disk.recover()
      do { _ = try fixture.rekey(keychain) }
      disk.fail(after: 0, FaultyDisk.Failure.allCases[0])
      #expect(throws: VaultError.diskFull) { try keychain.dropRekey() }
      #expect(keychain.isRekeying)
      disk.recover()
      let reason = "vault.db is missing, because the rekey was called off, or the file was removed"
      #expect(throws: VaultError.secondStore(reason)) { _ = try fixture.resume(keychain) }
      try keychain.dropRekey()
      #expect(!keychain.isRekeying)
      try keychain.put("later", "works")
    }
  }
}
