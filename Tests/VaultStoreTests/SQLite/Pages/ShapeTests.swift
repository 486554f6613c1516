import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Undamaged stores, whose pages must always be found whole: a false alarm would stop all writing to a vault.
@Suite struct ShapeTests {
  /// Random numbers that are the same each time.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  /// Changes a store at random: small and large values, versions, classes, names, folders, slots, deletions.
  private static func change(_ keychain: Keychain, _ fixture: Fixture, _ numbers: inout Numbers) throws {
    let text = "folder \(Int.random(in: 0..<5, using: &numbers))/item \(Int.random(in: 0..<60, using: &numbers))"
    let size = [0, 30, 900, 4000, 5000, 70_000, 300_000].randomElement(using: &numbers) ?? 0
    let attributes = ["a": String(repeating: "x", count: Int.random(in: 0..<200, using: &numbers)), "b": "\(size)"]
    do {
      switch Int.random(in: 0..<12, using: &numbers) {
      case 0..<5:
        try keychain.put(
          text, String(repeating: "v", count: size), attributes: attributes, accessible: .whenUnlocked, update: true)
      case 5, 6: try keychain.put(text, "small", update: true)
      case 7:
        let accessible = AccessClass.allCases.randomElement(using: &numbers)
        try keychain.set(ItemChange(name: name(text), accessible: accessible, update: true), now: 3000)
      case 8: try keychain.move(from: name(text), to: name(text + " moved"), now: 3000)
      case 9:
        try keychain.addSlot(
          SlotRecord.make(
            id: keychain.nextSlotID, kind: .recovery, label: String(repeating: "l", count: 60), created: 1,
            secret: RecoveryCode.random().text(), kdf: nil, vaultKey: fixture.vaultKey, vaultID: fixture.vaultID),
          vaultKey: fixture.vaultKey)
        try keychain.markStale(.recovery)
        if keychain.slots.count > 12, let first = keychain.slots.first {
          try keychain.removeSlot(id: first.id, vaultKey: fixture.vaultKey)
        }
      default:
        let some = try keychain.names("").filter { _ in Int.random(in: 0..<3, using: &numbers) == 0 }
        try keychain.delete(some.prefix(8).map { try ItemName($0) })
      }
    } catch VaultError.noSuchItem {} catch VaultError.alreadyExists {} catch VaultError.invalidValue {}
  }

  private static func expectWhole(
    _ keychain: Keychain, _ what: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let result = try keychain.verify()
    #expect(result.isOK, "\(what): \(result.findings.map(\.text))", sourceLocation: sourceLocation)
  }

  @Test("after random changes a store is whole: open, reopened, copied with its log, and rekeyed", arguments: 1...4)
  func random(seed: UInt64) throws {
    let fixture = try Fixture()
    var numbers = Numbers(state: seed)
    for round in 0..<6 {
      let keychain = try fixture.unlocked()
      for _ in 0..<25 { try Self.change(keychain, fixture, &numbers) }
      // The state that kill -9 leaves: the log, before anything was folded in.
      let copy = try Fixture(copying: fixture)
      try Self.expectWhole(copy.unlocked(), "copied in round \(round)")
      try Self.expectWhole(keychain, "round \(round)")
      for _ in 0..<5 { try Self.change(keychain, fixture, &numbers) }
      try Self.expectWhole(keychain, "later in round \(round)")
    }
    let keychain = try fixture.unlocked()
    try fixture.rekey(keychain).complete()
    try Self.expectWhole(keychain, "rekeyed")
  }

  @Test("changes between any two steps of a check are no finding", arguments: [1, 5, 40])
  func meanwhile(records: Int) throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    var numbers = Numbers(state: 99)
    for _ in 0..<60 { try Self.change(keychain, fixture, &numbers) }
    keychain.beginVerification()
    var result: Verification?
    while result == nil {
      try Self.change(keychain, fixture, &numbers)
      for _ in 0..<4 where result == nil { result = try keychain.continueVerification(records: records) }
    }
    #expect(result?.isOK == true, "\(result?.findings.map(\.text) ?? [])")
  }

  @Test(
    """
    whatever becomes of the log between any two steps of a check is no finding: folded in, begun anew, failed, read \
    by a backup
    """,
    arguments: 1...8)
  func logMeanwhile(seed: UInt64) throws {
    let fixture = try Fixture()
    let disk = try FaultyDisk(fixture)
    let keychain = try fixture.unlocked()
    try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
    var numbers = Numbers(state: seed)
    for round in 0..<12 {
      // The log is folded in wholly, partly or not at all before the check begins.
      keychain.database.connection.longLog = [1, 4, 30, 1000].randomElement(using: &numbers) ?? 1
      for _ in 0..<8 { try Self.change(keychain, fixture, &numbers) }
      if Int.random(in: 0..<4, using: &numbers) == 0 { try keychain.database.connection.checkpoint() }
      keychain.beginVerification()
      var result: Verification?
      var turn = 0
      while result == nil {
        turn += 1
        let records = [1, 3, 20, 150].randomElement(using: &numbers) ?? 1
        result = try keychain.continueVerification(records: records)
        guard result == nil, turn < 40 else { continue }
        switch Int.random(in: 0..<12, using: &numbers) {
        case 0:
          disk.fail(after: Int.random(in: 0..<12, using: &numbers), .allCases[0], once: true)
          try? Self.change(keychain, fixture, &numbers)
          disk.recover()
        case 1: if (try? keychain.beginBackup(now: 2000)) == nil { keychain.endBackup() }
        case 2, 3: break
        default: try Self.change(keychain, fixture, &numbers)
        }
      }
      #expect(result?.isOK == true, "round \(round): \(result?.findings.map(\.text) ?? [])")
      keychain.endBackup()
      #expect(foldsLog(keychain))
    }
  }

  @Test("a store with many free pages is whole")
  func freePages() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      // So many pages are free that their numbers take more than one page.
      for index in 0..<6 { try keychain.put("large \(index)", String(repeating: "x", count: 1 << 20)) }
      try keychain.delete((0..<6).map { try name("large \($0)") })
      try keychain.put("small")
      try Self.expectWhole(keychain, "deleted")
    }
    let header = try #require(try fixture.files()["vault.db"])
    #expect(header[36..<40].reduce(0) { $0 << 8 | Int($1) } > 1100)
    try Self.expectWhole(fixture.unlocked(), "opened again")
  }

  @Test("whatever SQLite finds wrong with a page, the check does as well")
  func likeSQLite() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for index in 0..<40 {
        let value = String(repeating: "x", count: 90 * index)
        try keychain.put("folder/item \(index)", value, attributes: ["n": "\(index)"])
        if index % 3 == 0 { try keychain.put("folder/item \(index)", "again", update: true) }
      }
      for index in stride(from: 1, to: 40, by: 4) { try keychain.delete([name("folder/item \(index)")]) }
    }
    let whole = try #require(try fixture.files()["vault.db"])
    let copy = try FileCopy([:])
    var numbers = Numbers(state: 7)
    var found = 0
    for _ in 0..<250 {
      var damaged = whole
      let page = Int.random(in: 0..<whole.count / 4096, using: &numbers) * 4096
      // A byte of the header and the cells' addresses, or any byte.
      let offset = page + Int.random(in: 0..<[16, 60, 4096][Int.random(in: 0..<3, using: &numbers)], using: &numbers)
      damaged[offset] = UInt8.random(in: 0...255, using: &numbers)
      try copy.put("vault.db", damaged)
      let problems = try? Fixture.run(
        copy.directory + "/vault.db", "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'")
      for name in ["vault.db-wal", "vault.db-shm"] {
        try? FileManager.default.removeItem(atPath: copy.directory + "/" + name)
      }
      guard problems != 0 else { continue }
      found += 1
      try copy.put("vault.db", damaged)
      guard let keychain = try? Keychain(opening: copy.directory) else { continue }
      guard (try? keychain.unlock(vaultKey: fixture.vaultKey)) != nil else { continue }
      #expect(try !keychain.verify().findings.isEmpty, "byte \(offset)")
    }
    #expect(found > 50)
  }

  @Test("the page that SQLite's locks lie on is for nothing, and nothing may have it")
  func lockPage() throws {
    var pages = PageMap(count: 262_146)
    expectCorrupt { try pages.take(262_145) }
    try pages.take(262_146)
    #expect(pages.unused == 262_144)
    var few = PageMap(count: 262_144)
    try few.take(1)
    #expect(few.unused == 262_143)
    for page in [0, -1, 1, 262_145] { expectCorrupt { try few.take(page) } }
  }

  // MARK: Releasing the main file

  /// Returns true if commits fold a long log into the main file.
  private func foldsLog(_ keychain: Keychain) -> Bool {
    keychain.database.connection.foldsLog
  }

  /// Opens a store whose check is at its first pages.
  private func begun(_ fixture: Fixture) throws -> Keychain {
    let keychain = try fixture.unlocked()
    keychain.beginVerification()
    #expect(try keychain.continueVerification(records: 1) == nil)
    #expect(!foldsLog(keychain))
    return keychain
  }

  private func end(_ keychain: Keychain) throws -> Verification {
    while true { if let result = try keychain.continueVerification(records: 3) { return result } }
  }

  @Test("the log grows no longer than the pages are looked at")
  func released() throws {
    let fixture = try IntegrityTests.filled()
    for stop in 0..<6 {
      let keychain = try begun(fixture)
      switch stop {
      case 0: break
      case 1: keychain.lock(hidingNames: false)
      case 2: keychain.wipe()
      case 3: keychain.beginVerification()
      case 4:
        // A check that is not continued.
        let value = String(repeating: "x", count: 300_000)
        for _ in 0..<20 { try keychain.put("room 0/item 0", value, update: true) }
      default: keychain.pass?.note(Finding(.damaged, "elsewhere"))
      }
      if (1...4).contains(stop) { #expect(foldsLog(keychain), "\(stop)") }
      try keychain.unlock(vaultKey: fixture.vaultKey)
      #expect(try end(keychain).isOK == (stop != 5))
      #expect(foldsLog(keychain), "\(stop)")
    }
  }

  @Test("a backup begins and ends beside a check, whichever comes first", arguments: [0, 1, 2, 3])
  func besideBackup(order: Int) throws {
    let fixture = try IntegrityTests.filled()
    try fixture.unlocked().addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
    let keychain = try order < 2 ? begun(fixture) : fixture.unlocked()
    _ = try keychain.beginBackup(now: 2000)
    if order >= 2 {
      try keychain.put("meanwhile")
      keychain.beginVerification()
    }
    #expect(try keychain.continueVerification(records: 5) == nil)
    try keychain.put("in between")
    if order % 2 == 0 { keychain.endBackup() }
    #expect(try end(keychain).isOK)
    #expect(keychain.integrity == .ok)
    #expect(foldsLog(keychain) == (order % 2 == 0))
    keychain.endBackup()
    #expect(foldsLog(keychain))
  }

  @Test("a rekey ends beside a check that has begun anew, and does not go on without one")
  func besideRekey() throws {
    let fixture = try Fixture.withItems(10)
    do {
      let keychain = try fixture.unlocked()
      let rekey = try fixture.rekey(keychain)
      while try !rekey.step(records: 50) {}
      keychain.beginVerification()
      #expect(try keychain.continueVerification(records: 1) == nil)
      try rekey.finish()
      #expect(foldsLog(keychain))
      try Self.expectWhole(keychain, "rekeyed")
    }
    let unchecked = try fixture.open()
    try unchecked.unlock(vaultKey: secret(Fixture.nextKey))
    let again = try Rekey(
      unchecked, carrying: unchecked.slots, slots: [fixture.slotFor(fixture.vaultKey)], nextKey: fixture.vaultKey,
      vaultKey: secret(Fixture.nextKey), bootKey: fixture.bootKey, now: 4000)
    expect(\.isStorage) { _ = try again.step(records: 1) }
    unchecked.notice(.corrupt("anything"))
    expectCorrupt { _ = try again.step(records: 1) }
  }
}

extension Fixture {
  /// Makes a slot that opens a vault with that key.
  fileprivate func slotFor(_ key: borrowing SecureBytes) throws -> SlotRecord {
    try SlotRecord.make(
      id: 1, kind: .recovery, label: "", created: 1000, secret: RecoveryCode.random().text(), kdf: nil, vaultKey: key,
      vaultID: vaultID)
  }
}
