import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("Deposits in the store") struct DepositStoreTests {
  @Test("wait while the vault is locked, and are taken in in their order") func waiting() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    try keychain.put("old", "before", now: 1500)
    keychain.lock(hidingNames: false)
    try keychain.leave(LeftValue("old", "one", base: 1))
    try keychain.leave(LeftValue("old", "two", base: 1))
    try keychain.leave(LeftValue("new", kind: .deviceToken, attributes: ["room": "hall"], base: 0))
    #expect(try keychain.toldDeposits(after: 0, limit: 9).map(\.isWaiting) == [true, true, true])
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll() == [.stored(version: 2), .stored(version: 3), .stored(version: 1)])
    #expect(try keychain.text("old") == "two" && keychain.text("new") == "left")
    let item = try keychain.item(named: name("new"))
    #expect(item.kind == .deviceToken && item.attributes == ["room": "hall"])
    #expect(item.creator == "user:990" && item.current.writer == "user:990")
    #expect(try keychain.takeInAll() == [] && keychain.toldDeposits(after: 0, limit: 9).isEmpty)
    #expect(try keychain.verify().isOK)
    try keychain.close()
    #expect(try fixture.unlocked().verify().isOK)
  }

  @Test("are for always items alone before the first unlock, and for none of a class whose key a sleep took")
  func states() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.open()
    #expect(throws: VaultError.locked) { try keychain.leave(LeftValue("a", accessible: .always)) }
    try keychain.openAlways(bootKey: fixture.bootKey)
    try keychain.leave(LeftValue("a", accessible: .always))
    for accessible in [AccessClass.whenUnlocked, .afterFirstUnlock] {
      #expect(throws: VaultError.locked) { try keychain.leave(LeftValue("b", accessible: accessible)) }
    }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll() == [.stored(version: 1)])
    keychain.lock(hidingNames: true)
    for accessible in AccessClass.allCases { try keychain.leave(LeftValue("c-\(accessible)", accessible: accessible)) }
    keychain.lock(hidingNames: true, keepingAfterFirstUnlock: false)
    #expect(throws: VaultError.locked) { try keychain.leave(LeftValue("d")) }
    #expect(throws: VaultError.locked) { try keychain.leave(LeftValue("d", accessible: .afterFirstUnlock)) }
    try keychain.leave(LeftValue("d", accessible: .always))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll().count == 4 && keychain.keptAside() == [])
    #expect(try keychain.item(named: name("c-always")).policy.accessible == .always)
  }

  @Test("are kept aside for the reason why they cannot be taken in, and change nothing")
  func obstacles() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    try keychain.put("item", "before", attributes: ["a": "b"], now: 1500)
    let month = Keychain.depositAge
    let cases: [(LeftValue, DepositObstacle)] = [
      (LeftValue("item", accessible: .always), .otherClass),
      (LeftValue("item", kind: .certificate), .otherItem),
      (LeftValue("item", attributes: [:]), .otherItem),
      (LeftValue("item", base: 0), .changed),
      (LeftValue("item", base: 2), .changed),
      (LeftValue("gone", base: 1), .changed),
      (LeftValue("pem", "no key", kind: .tlsKey), .invalid),
      (LeftValue("empty", ""), .invalid),
      (LeftValue("late", time: 9000 - month - 1), .expired),
      (LeftValue("early", time: 9000 + 86_401), .early),
    ]
    keychain.lock(hidingNames: false)
    for (left, _) in cases { try keychain.leave(left) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    let results = try keychain.takeInAll(now: 9000)
    for (result, (left, obstacle)) in zip(results, cases) {
      guard case .kept(_, let found) = result else {
        Issue.record("\(left.name) \(result)")
        continue
      }
      #expect(found == obstacle, "\(left)")
    }
    #expect(try keychain.keptAside() == cases.map(\.1))
    #expect(try keychain.text("item") == "before")
    #expect(throws: VaultError.noSuchItem) { try keychain.item(named: name("gone")) }
    #expect(try keychain.verify().isOK)
    // The kept deposits outlast the process.
    try keychain.close()
    let again = try fixture.unlocked()
    #expect(try again.keptAside() == cases.map(\.1) && again.keptDepositCount == cases.count)
    #expect(try again.verify().isOK)
  }

  @Test("of an item with all its versions drop the oldest one, as any new value does", arguments: [false, true])
  func oldest(isWaiting: Bool) throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    try keychain.put("token", "0", now: 1500)
    for night in 1...25 {
      if isWaiting { keychain.lock(hidingNames: false) }
      let left = LeftValue("token", "\(night)", base: night)
      if isWaiting {
        try keychain.leave(left)
        try keychain.unlock(vaultKey: fixture.vaultKey)
        #expect(try keychain.takeInAll() == [.stored(version: night + 1)])
      } else {
        #expect(try keychain.takeIn(left, now: 2000) == .stored(version: night + 1))
      }
      #expect(try keychain.text("token") == "\(night)")
    }
    #expect(try keychain.history(of: name("token")).map(\.number) == Array(17...26))
    #expect(try keychain.keptAside() == [] && keychain.verify().isOK)
  }

  @Test("are settled by accepting or dropping them, once") func settled() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    try keychain.put("item", "before", attributes: ["a": "b"], now: 1500)
    keychain.lock(hidingNames: false)
    let other = try keychain.leave(LeftValue("item", "accepted", kind: .apiKey))
    let dropped = try keychain.leave(LeftValue("item", "dropped", base: 9))
    let invalid = try keychain.leave(LeftValue("key", "no key", kind: .tlsKey))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll().count == 3)
    let accepted = try #require(try keychain.acceptDeposit(other, by: "user:0", now: 2100))
    #expect(accepted.name == (try name("item")) && accepted.stored.number == 2)
    let item = try keychain.item(named: name("item"))
    #expect(item.kind == .note && item.attributes == ["a": "b"] && item.current.writer == "user:990")
    #expect(try keychain.acceptDeposit(other, by: "user:0", now: 2100) == nil)
    #expect(try keychain.dropDeposit(dropped, now: 2100) == .some(name("item")))
    #expect(try keychain.dropDeposit(dropped, now: 2100) == nil)
    expect(\.isInvalidValue) { _ = try keychain.acceptDeposit(invalid, by: "user:0", now: 2100) }
    #expect(try keychain.keptAside() == [.invalid] && keychain.text("item") == "accepted")
    #expect(try keychain.verify().isOK)
    keychain.lock(hidingNames: false)
    #expect(throws: VaultError.locked) { _ = try keychain.dropDeposit(invalid, now: 2100) }
  }

  @Test("that were sealed elsewhere come once, within 30 days, for this vault and its key") func boxes() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    let key = DepositKey(vault: keychain.identity, publicKey: try #require(keychain.publicKey))
    let box = try LeftValue("boxed", "sealed").box(for: key)
    #expect(try keychain.handIn(box) == .stored(version: 1))
    #expect(try keychain.text("boxed") == "sealed")
    keychain.lock(hidingNames: false)
    #expect(try keychain.handIn(box, isUnlocked: false) == nil)
    #expect(try keychain.handIn(LeftValue("in-always", accessible: .always).box(for: key), isUnlocked: false) == nil)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll().map(Self.obstacle) == [.seen, nil])
    #expect(try keychain.item(named: name("in-always")).policy.accessible == .always)
    // The box's id is remembered for as long as the box could be taken in, and a jump of the clock does not erase it.
    #expect(try Self.obstacle(keychain.handIn(box, now: 2000 + Keychain.depositAge)) == .seen)
    #expect(try keychain.takeInAll(now: 2000 + 2 * Keychain.depositAge) == [])
    #expect(try keychain.database.depositOutlines().contains { $0.state == .seen })
    let stranger = DepositKey(vault: keychain.identity, publicKey: SealedBox.publicKey(of: SealedBox.secretKey()))
    #expect(try Self.obstacle(keychain.handIn(LeftValue("x").box(for: stranger))) == .sealedToAnother)
    let other = DepositKey(vault: .random(), publicKey: key.publicKey)
    var forOther = try LeftValue("x").box(for: other)
    // The box claims in the clear to be for this vault.
    forOther.replaceSubrange(1..<17, with: keychain.vaultID)
    #expect(try Self.obstacle(keychain.handIn(forOther)) == .malformed)
    #expect(try keychain.verify().isOK)
  }

  @Test("that were sealed elsewhere are forgotten when they are too old, day by day") func aging() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    let key = DepositKey(vault: keychain.identity, publicKey: try #require(keychain.publicKey))
    let box = try LeftValue("boxed", "sealed").box(for: key)
    #expect(try keychain.handIn(box) == .stored(version: 1))
    var now: Int64 = 2000
    for day in 1...32 {
      now += 86_400
      try keychain.put("daily", "\(day)", update: true, now: now)
      #expect(try keychain.takeInAll(now: now) == [])
      let isKept = try keychain.database.depositOutlines().contains { $0.state == .seen }
      #expect(isKept == (day <= 31), "\(day)")
    }
    #expect(try Self.obstacle(keychain.handIn(box, now: now)) == .expired)
    #expect(try keychain.verify().isOK)
  }

  @Test("are as old after the clock was set back as by the newest time that the vault knows") func setBack() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    let key = DepositKey(vault: keychain.identity, publicKey: try #require(keychain.publicKey))
    let newest = 5000 + Keychain.depositAge
    let box = try LeftValue("boxed", time: 4999).box(for: key)
    keychain.lock(hidingNames: false)
    for (name, time) in [("late", 4999), ("last", 5000), ("first", newest + 86_400), ("early", newest + 86_401)] {
      try keychain.leave(LeftValue(name, time: time))
    }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try keychain.put("daily", now: newest)
    // By the clock, the old ones are young, and the young ones lie in the future.
    #expect(try keychain.takeInAll(now: 4999).map(Self.obstacle) == [.expired, nil, nil, .early])
    #expect(try Self.obstacle(keychain.takeIn(LeftValue("late", time: 4999), now: 4999)) == .expired)
    #expect(try keychain.takeIn(LeftValue("new", time: newest), now: 4999) == .stored(version: 1))
    // The deposit is young enough, and the box in it is not.
    #expect(try Self.obstacle(keychain.handIn(box, now: 5000)) == .expired)
    #expect(try keychain.verify().isOK)
  }

  @Test("are remembered for as long as ever from the repair of a clock that ran ahead day by day") func repaired()
    throws
  {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    let key = DepositKey(vault: keychain.identity, publicKey: try #require(keychain.publicKey))
    #expect(try keychain.handIn(LeftValue("boxed", "sealed").box(for: key)) == .stored(version: 1))
    func pass(_ days: ClosedRange<Int64>) throws {
      for day in days {
        let now = 2000 + day * 86_400
        try keychain.put("daily", "\(day)", update: true, now: now)
        #expect(try keychain.takeInAll(now: now) == [])
      }
    }
    try pass(1...20)
    try keychain.setNewestTime(back: 2000)
    try pass(1...31)
    #expect(try keychain.database.depositOutlines().contains { $0.state == .seen })
    try pass(32...33)
    #expect(try !keychain.database.depositOutlines().contains { $0.state == .seen })
  }

  @Test("of one caller are remembered up to a number, of whatever class, and those of others beside them")
  func rememberedOfOne() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    let key = DepositKey(vault: keychain.identity, publicKey: try #require(keychain.publicKey))
    try Self.remember(keychain, Keychain.mostSeenOfOne - 3, by: "user:990")
    keychain.lock(hidingNames: false)
    for accessible in AccessClass.allCases { try keychain.leave(LeftValue("\(accessible)", accessible: accessible)) }
    try keychain.leave(LeftValue("more"))
    try keychain.leave(LeftValue("more", by: "user:991"))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll().map(Self.obstacle) == [nil, nil, nil, .tooMany, nil])
    #expect(try Self.obstacle(keychain.handIn(LeftValue("boxed").box(for: key))) == .tooMany)
    // The limit does not apply to deposits taken in at once, which need not be remembered.
    #expect(try keychain.takeIn(LeftValue("left"), now: 2000) == .stored(version: 1))
    #expect(try keychain.verify().isOK)
  }

  @Test(
    "that are remembered are bounded in all, also those that are dropped, and keep nothing from being taken in at once")
  func rememberedOfAll() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    try Self.remember(keychain, Keychain.mostSeen, by: "user:992")
    keychain.lock(hidingNames: false)
    try keychain.leave(LeftValue("waits"))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll().map(Self.obstacle) == [.tooMany])
    #expect(try keychain.takeIn(LeftValue("left"), now: 2000) == .stored(version: 1))
    let kept = try #require(try keychain.toldDeposits(after: 0, limit: 1).first)
    try Self.remember(keychain, Keychain.mostDeposits - 1, by: "user:992")
    expect(\.isInvalidValue) { _ = try keychain.dropDeposit(kept.number, now: 2000) }
    #expect(try keychain.keptAside() == [.tooMany])
    #expect(try keychain.verify().isOK)
  }

  private static func remember(_ keychain: Keychain, _ count: Int, by author: String) throws {
    let tag = try keychain.seenTag(of: author)
    try keychain.transaction { () throws(VaultError) in
      for _ in 0..<count { try keychain.remember(.random(), of: tag.bytes) }
    }
  }

  private static func obstacle(_ result: TakenDeposit.Result?) -> DepositObstacle? {
    if case .kept(_, let obstacle) = result { obstacle } else { nil }
  }

  @Test("are bounded by number and size for whoever leaves them, and in all") func bounds() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    try keychain.transaction { () throws(VaultError) in
      for index in 0..<Keychain.mostDepositsOfOne {
        do { try keychain.leave(LeftValue("item/\(index)")) } catch { throw .storage("\(error)") }
      }
    }
    expect(\.isInvalidValue) { try keychain.leave(LeftValue("more")) }
    try keychain.leave(LeftValue("more", by: "user:991"))
    // The rows in the table count, not the process's memory of them.
    try keychain.close()
    let again = try fixture.unlocked()
    again.lock(hidingNames: false)
    expect(\.isInvalidValue) { try again.leave(LeftValue("more")) }
    let large = String(repeating: "x", count: 1 << 20)
    for _ in 0..<7 { try again.leave(LeftValue("large", large, by: "user:992")) }
    expect(\.isInvalidValue) { try again.leave(LeftValue("large", large, by: "user:992")) }
    try again.unlock(vaultKey: fixture.vaultKey)
    #expect(try again.takeInAll().count == Keychain.mostDepositsOfOne + 8)
    #expect(try again.keptAside() == [])
    again.lock(hidingNames: false)
    try again.leave(LeftValue("more still"))
  }

  @Test("come along with a rekey, and with what is saved of a damaged store", arguments: [false, true])
  func copied(isSalvage: Bool) throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    let key = DepositKey(vault: keychain.identity, publicKey: try #require(keychain.publicKey))
    let seen = try LeftValue("boxed", "sealed").box(for: key)
    #expect(try keychain.handIn(seen) == .stored(version: 1))
    // This box is kept aside.
    #expect(
      try Self.obstacle(keychain.handIn(LeftValue("late", "old box", time: -9_000_000).box(for: key))) == .expired)
    _ = try keychain.takeIn(LeftValue("item", "kept"), now: 2000) { _, _, _ in .denied }
    keychain.lock(hidingNames: false)
    try keychain.leave(LeftValue("left", "waits"))
    try keychain.unlock(vaultKey: fixture.vaultKey)

    let copy = try fixture.copy(keychain, bySalvage: isSalvage)
    if !isSalvage { #expect(copy.publicKey != key.publicKey) }
    #expect(try copy.verify().isOK)
    #expect(try copy.keptAside() == [.expired, .denied])
    #expect(try copy.takeInAll() == [.stored(version: 1)] && copy.text("left") == "waits")
    if isSalvage { #expect(try Self.obstacle(copy.handIn(seen)) == .seen) }
    for told in try copy.toldDeposits(after: 0, limit: 9) {
      #expect(told.depositor?.author == "user:990")
      _ = try copy.acceptDeposit(told.number, by: "user:0", now: 2100)
    }
    #expect(try copy.text("item") == "kept" && copy.text("late") == "old box")
    #expect(try copy.verify().isOK)
  }
}
