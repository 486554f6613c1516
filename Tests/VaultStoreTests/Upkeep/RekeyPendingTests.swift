import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Pending state, in memory or in the store, while a rekey runs: all of it survives, and nothing stays sealed to old
/// keys.
@Suite("What waits during a rekey") struct RekeyPendingTests {
  /// A kind of pending state.
  enum Pending: CaseIterable {
    /// Records of the audit log that are sealed and not yet written: behind written records of their chain, or with the
    /// beginning of a chain (or of several).
    case records, beginning, beginnings
    /// A chain that was begun before the unlock and of which nothing is written.
    case coldBeginning
    case deposit, keptDeposit, settledDeposit
    case grant, revocation
    /// The time of a grant's last use; a watcher's receipt; a list of revoked tokens, which is amended in place.
    case use, receipt, revokedToken
    case trash, restored
    case staleSlot
    case change

    /// Makes the pending state, which ``check(_:)`` finds at the end.
    func put(_ keychain: Keychain, _ fixture: Fixture) throws {
      switch self {
      case .records: try RekeyPendingTests.seal(3, keychain)
      case .beginning:
        keychain.endAuditChain()
        try RekeyPendingTests.seal(3, keychain)
      case .beginnings:
        for _ in 0..<3 {
          keychain.endAuditChain()
          try RekeyPendingTests.seal(2, keychain)
        }
      case .coldBeginning:
        keychain.lock(hidingNames: true, keepingAfterFirstUnlock: false)
        keychain.endAuditChain()
        try RekeyPendingTests.seal(2, keychain)
        try keychain.unlock(vaultKey: fixture.vaultKey)
      case .deposit:
        keychain.lock(hidingNames: false)
        try keychain.leave(LeftValue("left", "waits"))
        try keychain.unlock(vaultKey: fixture.vaultKey)
      case .keptDeposit: _ = try keychain.takeIn(LeftValue("folder 1/item 1", "kept"), now: 2000) { _, _, _ in .denied }
      case .settledDeposit: _ = try keychain.takeIn(LeftValue("settled", "settled"), now: 2000)
      case .grant: try keychain.changeGrants(removing: [], adding: [RekeyPendingTests.grant(2)], now: 2001)
      case .revocation:
        let ids = Set(try keychain.grants(of: .always).map(\.id))
        try keychain.changeGrants(removing: ids, adding: [], now: 2001)
      case .use:
        let old = try keychain.grants(of: .always)
        let used = old.map { record in
          var record = record
          guard case .grant(var grant) = record.content else { return record }
          grant.used = 2001
          record.content = .grant(grant)
          return record
        }
        try keychain.changeGrants(removing: Set(old.map(\.id)), adding: used, now: 2001)
      case .receipt:
        var block = AuditBlock()
        block.add(.receipt, .ok, time: 5000, caller: nil, item: "folder 1/item 1", detail: "version 1")
        try keychain.sealAudit(&block, now: 5000)
      case .revokedToken: try keychain.amend(name("folder 1/item 1"), value: secret("revoked"), now: 3000)
      case .trash: try keychain.trash([name("folder 1/item 1")], now: 3000)
      case .restored:
        try keychain.trash([name("folder 1/item 1")], now: 3000)
        try keychain.restore(name("folder 1/item 1"), now: 3000)
      case .staleSlot: try keychain.markStale(.recovery)
      case .change: try keychain.put("folder 2/item 2", "changed", update: true)
      }
    }

    func check(_ keychain: Keychain) throws {
      switch self {
      case .records, .beginning, .beginnings, .coldBeginning, .change, .restored: break
      case .deposit: #expect(try keychain.takeInAll() == [.stored(version: 1)] && keychain.text("left") == "waits")
      case .keptDeposit: #expect(try keychain.keptAside() == [.denied])
      case .settledDeposit: #expect(try keychain.text("settled") == "settled")
      case .grant: #expect(try keychain.grants(of: .always).count == 2)
      case .revocation: #expect(try keychain.grants(of: .whenUnlocked).isEmpty)
      case .use:
        for accessible in AccessClass.allCases {
          #expect(try keychain.grants(of: accessible).map(\.grant?.used) == [2001])
        }
      case .receipt: #expect(try AuditStoreTests.walk(keychain).entries.values.contains { $0.action == .receipt })
      case .revokedToken: #expect(try keychain.text("folder 1/item 1") == "revoked")
      case .trash: #expect(throws: VaultError.noSuchItem) { try keychain.text("folder 1/item 1") }
      case .staleSlot: #expect(keychain.staleSlots == [1])
      }
      if case .change = self { #expect(try keychain.text("folder 2/item 2") == "changed") }
      if case .restored = self { #expect(try keychain.text("folder 1/item 1") == "first 1") }
    }
  }

  static func grant(_ user: Int) throws -> GrantRecord {
    let subject = try Subject(parsing: "user:\(user)")
    return GrantRecord(
      .grant(Grant(subject: subject, pattern: try ItemPattern("folder/*"), rights: Rights(.get), created: 1)))
  }

  /// Seals this many records and leaves them in memory.
  static func seal(_ records: Int, _ keychain: Keychain) throws {
    var block = AuditBlock()
    for _ in 0..<records {
      let number = keychain.nextAuditEntry
      block.add(.get, .ok, time: 5000 + number, caller: nil, item: "item/\(number)")
      try keychain.sealAudit(&block, now: 5000)
    }
  }

  private static func begun(_ fixture: Fixture? = nil) throws -> (Fixture, Keychain, Rekey) {
    let fixture = try fixture ?? Fixture.withItems(4)
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(2, to: keychain)
    try keychain.changeGrants(removing: [], adding: [grant(1)], now: 2000)
    return (fixture, keychain, try fixture.rekey(keychain))
  }

  /// Runs a rekey to its end, opens the new vault again, and checks everything there.
  private static func complete(
    _ rekey: consuming Rekey, _ keychain: Keychain, _ fixture: Fixture, _ pending: Pending, _ note: String
  ) throws {
    try rekey.complete(records: 8)
    let entries = keychain.nextAuditEntry - 1
    try seal(1, keychain)
    try keychain.writeAudit(anchored: true)
    try keychain.close()

    let again = try fixture.open()
    try again.unlock(vaultKey: secret(Fixture.nextKey))
    #expect(try again.joinAudit(rows: .max) == [], "\(note)")
    #expect(try again.verify().isOK, "\(note)")
    let (found, faults) = try AuditStoreTests.walk(again)
    #expect(faults == [] && found.keys.max() == entries + 1 && found.count == Int(entries) + 1, "\(note)")
    try again.put("later", "works")
    try pending.check(again)
    #expect(try again.verify().isOK, "\(note)")
  }

  @Test("is there afterwards, at whichever step it came", arguments: Pending.allCases)
  func everyStep(pending: Pending) throws {
    var step = 0
    var isAtEnd = false
    while !isAtEnd {
      let (fixture, keychain, rekey) = try Self.begun()
      for _ in 0..<step where !isAtEnd { isAtEnd = try rekey.step(records: 8) }
      try pending.put(keychain, fixture)
      try Self.complete(rekey, keychain, fixture, pending, "\(pending) after step \(step)")
      step += 1
    }
    #expect(step > 5)
  }

  @Test("keeps a rekey from its end on a full disk, and the store stays as it was, until there is room")
  func diskFull() throws {
    let watched = try Fixture.withItems(4)
    let disk = try FaultyDisk(watched)
    let (fixture, keychain, rekey) = try Self.begun(watched)
    let before = try Contents(keychain)
    while try !rekey.step(records: 8) {}
    try Pending.beginnings.put(keychain, fixture)
    disk.fail(after: 0, FaultyDisk.Failure.allCases[0])
    for _ in 0..<2 {
      expect(\.isStorage) { try rekey.finish() }
      #expect(try keychain.isRekeying && Contents(keychain) == before && keychain.hasUnwrittenAudit)
    }
    disk.recover()
    try Self.complete(rekey, keychain, fixture, .beginnings, "full")
  }

  @Test("the old key's store is not given up while something waits that is sealed to it") func notSettled() throws {
    let (fixture, keychain, rekey) = try Self.begun()
    while try !rekey.step(records: 8) {}
    try Pending.beginning.put(keychain, fixture)
    let other = try Fixture.withItems(1).unlocked()
    #expect(throws: VaultError.storage("something that is sealed to the old keys is not written yet")) {
      try keychain.takeOver(other) { _ in Issue.record("the store is replaced") }
    }
    try Self.complete(rekey, keychain, fixture, .beginning, "later")
  }
}
