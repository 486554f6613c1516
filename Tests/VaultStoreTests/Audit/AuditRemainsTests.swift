import Testing
import VaultBytes
import VaultCore
import VaultModel

@testable import VaultStore

/// Entries that a rekey by an earlier version left sealed to the old keys.
@Suite("What earlier rekeys left in the audit log") struct AuditRemainsTests {
  /// The way in which the rows after the rekey were written.
  enum Following: CaseIterable {
    /// The anchor of a later process vouches for all of them, or no anchor does.
    case anchored, unanchored

    var isAnchored: Bool { self == .anchored }
  }

  /// Makes a vault after a rekey as earlier versions made it: records sealed before the rekey, with the beginnings of
  /// this many chains, were written after it, followed by a chain under the new keys. The entries 5 to `last` cannot be
  /// read.
  private static func harmed(
    chains: Int = 1, _ following: Following = .anchored, tells: Bool = true, detail: String = "",
    rekeyed: Int64 = 5001
  ) throws -> (fixture: Fixture, last: Int64) {
    let fixture = try Fixture.withItems(4)
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(2, to: keychain)
    let rekey = try fixture.rekey(keychain)
    while try !rekey.step(records: 16) {}
    for _ in 0..<chains {
      keychain.endAuditChain()
      try RekeyPendingTests.seal(3, keychain)
    }
    let last = keychain.nextAuditEntry - 1
    var waiting = keychain.bound.audit.take()
    try rekey.finish()
    keychain.bound.audit = waiting.take()
    keychain.endAuditChain()
    var block = AuditBlock()
    block.add(.get, .ok, time: 5000, caller: nil, item: "before")
    if tells { block.add(.rekey, .ok, time: 5000, caller: nil, item: "done", detail: detail) }
    try keychain.sealAudit(&block, now: rekeyed)
    try keychain.writeAudit(anchored: following.isAnchored)
    try keychain.close()
    return (fixture, last)
  }

  private static func opened(_ fixture: Fixture) throws -> Keychain {
    let keychain = try fixture.open()
    try keychain.unlock(vaultKey: secret(Fixture.nextKey))
    return keychain
  }

  @Test("are set aside once, also where the first attempt found the disk full") func onFullDisk() throws {
    let (fixture, last) = try Self.harmed()
    let disk = try FaultyDisk(fixture)
    let keychain = try Self.opened(fixture)
    #expect(try keychain.joinAudit(rows: .max) == [])
    let before = keychain.auditFacts
    disk.fail(after: 0, FaultyDisk.Failure.allCases[0])
    for _ in 0..<2 { expect(\.isStorage) { _ = try keychain.setAsideAuditRemains(now: 6000) } }
    #expect(keychain.auditFacts == before)
    disk.recover()
    #expect(try keychain.setAsideAuditRemains(now: 6000).map(\.entries) == [5...last])
    #expect(keychain.auditFacts.entries == before.entries + 1)
    #expect(try keychain.verify().isOK)
  }

  @Test("are named, set aside on request, and from then on the store is whole", arguments: [1, 3], Following.allCases)
  func repaired(chains: Int, following: Following) throws {
    let (fixture, last) = try Self.harmed(chains: chains, following)
    let text =
      "the entries 5 to \(last) of the audit log are sealed to the keys from before a rekey, and cannot be read; "
      + "`vault audit repair` sets them aside"
    let keychain = try Self.opened(fixture)
    #expect(try keychain.joinAudit(rows: .max) == (following.isAnchored ? [] : [text]))
    #expect(try keychain.verify().findings.map(\.text) == [text])
    #expect(throws: VaultError.self) { try keychain.put("new") }
    let rows = try keychain.database.lastAuditRow()

    let aside = try keychain.setAsideAuditRemains(now: 6000)
    #expect(aside.map(\.entries) == [5...last] && aside.first?.count == last - 4)
    #expect(aside.first?.times.since == 5000 && aside.first?.times.until == 5001)
    #expect(try keychain.verify().isOK)
    try keychain.put("new")
    #expect(try keychain.setAsideAuditRemains(now: 6000) == [])
    // No row was removed.
    #expect(try keychain.database.lastAuditRow() > rows && keychain.database.firstAuditRow() == 1)
    try Self.expectWhole(keychain, last)
    try keychain.close()

    let again = try Self.opened(fixture)
    #expect(try again.joinAudit(rows: .max) == [] && again.verify().isOK)
    try Self.expectWhole(again, last)
  }

  /// Expects the log to have all entries except those set aside, and to report these.
  private static func expectWhole(_ keychain: Keychain, _ last: Int64) throws {
    let (entries, faults) = try AuditStoreTests.walk(keychain)
    #expect(faults == [])
    #expect(Set(entries.keys) == Set(1..<keychain.nextAuditEntry).subtracting(5...last))
    #expect(
      entries.values.contains {
        $0.action == .audit && $0.item == "entries 5 to \(last): set aside"
          && $0.detail?.hasPrefix("\(last - 4) from 1970-01-01T01:23:20Z to") == true
      })
  }

  @Test("stay set aside in what a rekey, a salvage and a cut leave") func carried() throws {
    let (fixture, last) = try Self.harmed(chains: 2)
    let keychain = try Self.opened(fixture)
    #expect(try keychain.joinAudit(rows: .max) == [])
    #expect(try keychain.setAsideAuditRemains(now: 6000).count == 1)
    #expect(try keychain.verify().isOK)
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
    while try !salvage.step(items: 100) {}
    #expect(salvage.result.losses == [])
    #expect(try salvage.target.verify().isOK)

    let other = [UInt8](repeating: 9, count: 32)
    let slot = try SlotRecord.make(
      id: 1, kind: .recovery, label: "third", created: 1000, secret: RecoveryCode.random().text(), kdf: nil,
      vaultKey: secret(other), vaultID: fixture.vaultID)
    let rekey = try Rekey(
      keychain, carrying: keychain.slots, slots: [slot], nextKey: secret(other), vaultKey: secret(Fixture.nextKey),
      bootKey: fixture.bootKey, now: 2000)
    try rekey.complete()
    #expect(try keychain.verify().isOK)
    try Self.expectWhole(keychain, last)
    // Links noted elsewhere for these entries are not missed.
    let anchor = try #require(try keychain.anchor())
    #expect(anchor.aside.count == 1)
    keychain.endAuditChain()
    try AuditStoreTests.write(1, to: keychain)
    _ = try keychain.cutAudit(toBytes: 1, olderThan: nil, now: 6000)
    #expect(try keychain.anchor()?.aside == [] && keychain.verify().isOK)
  }

  @Test("are the only thing that is set aside: whatever else is wrong stays, and so does the store")
  func others() throws {
    func refused(_ fixture: Fixture, _ note: String) throws {
      let keychain = try Self.opened(fixture)
      _ = try keychain.joinAudit(rows: .max)
      _ = try keychain.verify()
      #expect(keychain.hasFailed, "\(note)")
      let before = try keychain.database.lastAuditRow()
      let error = #expect(throws: VaultError.self, "\(note)") {
        _ = try keychain.setAsideAuditRemains(now: 6000)
      }
      #expect(error?.isCorrupt == true, "\(note): \(String(describing: error))")
      #expect(try keychain.hasFailed && keychain.database.lastAuditRow() == before, "\(note)")
    }
    let edits = [
      "UPDATE audit SET sealed = CAST(sealed || x'00' AS BLOB) WHERE id = 3", "DELETE FROM audit WHERE id = 2",
      // These edits lie within the unreadable part.
      "UPDATE audit SET sealed = CAST(sealed || x'00' AS BLOB) WHERE id = 6", "DELETE FROM audit WHERE id = 6",
      "DELETE FROM vals WHERE item = (SELECT min(item) FROM vals)",
    ]
    for edit in edits {
      let (fixture, _) = try Self.harmed()
      try fixture.sql(edit)
      try refused(fixture, edit)
    }
    try refused(try Self.harmed(tells: false).fixture, "no rekey")
    try refused(try Self.harmed(chains: 3, rekeyed: 5011).fixture, "chains of another time than the rekey")
    try refused(try Self.harmed(detail: Keychain.rekeyedWithLog).fixture, "a rekey that took the log along")
  }

  /// Makes a vault whose log has two chains and no such entries.
  private static func other(_ edit: String? = nil) throws -> Fixture {
    let fixture = try Fixture.withItems(4)
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    for _ in 0..<2 {
      try AuditStoreTests.write(2, to: keychain)
      keychain.endAuditChain()
    }
    try keychain.close()
    if let edit { try fixture.sql(edit) }
    return fixture
  }

  @Test("are not in a log that is whole, of which nothing is set aside, before a check and after one") func none()
    throws
  {
    let fixture = try Self.other()
    let keychain = try fixture.unlocked()
    #expect(try keychain.setAsideAuditRemains(now: 6000) == [])
    #expect(try keychain.joinAudit(rows: .max) == [] && keychain.verify().isOK)
    #expect(try keychain.setAsideAuditRemains(now: 6000) == [])
  }

  @Test(
    "are not the only damage: without them, too, the fault is named, before any check where the chains show it",
    arguments: [
      "UPDATE audit SET sealed = CAST(sealed || x'00' AS BLOB) WHERE id = 2", "DELETE FROM audit WHERE id = 2",
      "DELETE FROM vals WHERE item = (SELECT min(item) FROM vals)",
    ])
  func otherDamage(edit: String) throws {
    let fixture = try Self.other(edit)
    let keychain = try fixture.unlocked()
    if edit.contains("audit") { expectCorrupt { _ = try keychain.setAsideAuditRemains(now: 6000) } }
    _ = try keychain.verify()
    #expect(keychain.hasFailed)
    expectCorrupt { _ = try keychain.setAsideAuditRemains(now: 6000) }
  }

  @Test(
    "are one chain of any time, or all that were begun within ten seconds of the rekey",
    arguments: [(1, 90_000), (3, 5010)])
  func bounded(chains: Int, rekeyed: Int64) throws {
    let (fixture, last) = try Self.harmed(chains: chains, rekeyed: rekeyed)
    let keychain = try Self.opened(fixture)
    #expect(try keychain.setAsideAuditRemains(now: rekeyed + 1000).map(\.entries) == [5...last])
  }

  @Test("an anchor says which rows are set aside, and no other bytes are one") func anchor() throws {
    var anchor = AuditAnchor.beginning
    let plain = anchor.encoded
    anchor.aside = [2...4, 7...7]
    let bytes = anchor.encoded
    func decode(_ bytes: [UInt8]) throws -> AuditAnchor {
      try bytes.withSpan { (bytes: RawSpan) throws(CryptoError) in try AuditAnchor(decoding: bytes) }
    }
    #expect(try decode(bytes) == anchor && decode(plain).aside == [])
    #expect(anchor.isAside(2) && anchor.isAside(4) && anchor.isAside(7) && !anchor.isAside(5) && !anchor.isAside(1))
    for count in 0..<bytes.count { #expect(throws: CryptoError.self) { try decode(Array(bytes.prefix(count))) } }
    #expect(throws: CryptoError.self) { try decode(bytes + [0]) }
    anchor.aside = [7...7, 2...4]
    #expect(throws: CryptoError.self) { try decode(anchor.encoded) }
    anchor.aside = [2...4, 4...5]
    #expect(throws: CryptoError.self) { try decode(anchor.encoded) }
  }

  @Test("an anchor says which parts are gaps, and no other bytes are one") func gaps() throws {
    var anchor = AuditAnchor.beginning
    let (first, second) = (
      AuditGap(rows: 3...9, bytes: 700, link: AuditChain.beginning),
      AuditGap(rows: 11...11, bytes: 20, link: AuditChain.beginning)
    )
    anchor.gaps = [first, second]
    let bytes = anchor.encoded
    func decode(_ bytes: [UInt8]) throws -> AuditAnchor {
      try bytes.withSpan { (bytes: RawSpan) throws(CryptoError) in try AuditAnchor(decoding: bytes) }
    }
    #expect(try decode(bytes) == anchor)
    #expect(anchor.gap(before: 10) == first && anchor.rowBefore(10) == 2 && anchor.rowBefore(9) == 8)
    for count in 0..<bytes.count { #expect(throws: CryptoError.self) { try decode(Array(bytes.prefix(count))) } }
    #expect(throws: CryptoError.self) { try decode(bytes + [0]) }
    for wrong in [[second, first], [first, first], [first, AuditGap(rows: 10...12, bytes: 1, link: first.link)]] {
      anchor.gaps = wrong
      #expect(throws: CryptoError.self) { try decode(anchor.encoded) }
    }
  }
}
