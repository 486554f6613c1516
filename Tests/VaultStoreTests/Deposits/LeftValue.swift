import Testing
import VaultCore
import VaultModel
import VaultStore

/// A value that somebody deposits for an item.
struct LeftValue {
  var name: String
  var value: String
  var accessible: AccessClass
  var kind: ItemKind?
  var attributes: [String: String]?
  /// The base version, and the item.
  var base: Int?
  var identity: ItemID?
  var time: Int64
  var author: String
  var id = ItemID.random()

  init(
    _ name: String, _ value: String = "left", accessible: AccessClass = .whenUnlocked, kind: ItemKind? = nil,
    attributes: [String: String]? = nil, base: Int? = nil, of identity: ItemID? = nil, time: Int64 = 2000,
    by author: String = "user:990"
  ) {
    (self.name, self.value, self.accessible, self.kind) = (name, value, accessible, kind)
    (self.attributes, self.base, self.identity, self.time, self.author) = (attributes, base, identity, time, author)
  }

  var depositor: Depositor { Depositor(uid: 990, groups: [990], isAdministrator: false, author: author) }

  var item: DepositedItem {
    get throws {
      DepositedItem(name: try ItemName(name), accessible: accessible, kind: kind, attributes: attributes)
    }
  }

  /// Returns the deposit's plaintext, and its stamp for a vault.
  func encoded(for vault: [UInt8]) throws -> (plaintext: Scratch, stamp: DepositStamp) {
    let scratch = Scratch()
    let stamp = try DepositStamp(vault: VaultID(vault), id: id, time: time)
    let value = Array(self.value.utf8)
    let base = base.map { DepositRecord.Base(version: $0, item: identity) }
    DepositRecord.encode(
      stamp, depositor, try item, base: base, value: unsafe value.span.bytes, into: scratch)
    return (scratch, stamp)
  }

  /// Seals a box for a vault's key.
  func box(for key: DepositKey) throws -> [UInt8] {
    let value = Array(self.value.utf8)
    let box = try DepositBox.seal(try item, valueCount: value.count, to: key, time: time, Scratch()) { out in
      for (index, byte) in value.enumerated() { out.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
      return true
    }
    return box ?? []
  }
}

extension Keychain {
  /// Deposits a value for the next unlock, and returns the deposit's number.
  @discardableResult
  func leave(_ left: LeftValue) throws -> Int64 {
    let (plaintext, stamp) = try left.encoded(for: vaultID)
    return try leaveDeposit(plaintext, stamp, for: left.accessible, by: left.author)
  }

  /// Takes in a deposit at once.
  func takeIn(
    _ left: LeftValue, now: Int64, _ decide: @escaping DepositDecision = { _, _, _ in nil }
  ) throws -> TakenDeposit.Result {
    let (plaintext, stamp) = try left.encoded(for: vaultID)
    return try takeInDeposit(plaintext, stamp, for: left.accessible, by: left.author, now: now, decide).result
  }

  /// Hands in a box, which is taken in at once if the vault is unlocked.
  func handIn(_ box: [UInt8], now: Int64 = 2000, isUnlocked: Bool = true) throws -> TakenDeposit.Result? {
    let scratch = Scratch()
    let left = LeftValue("", time: now)
    let stamp = try DepositStamp(vault: VaultID(vaultID), time: now)
    DepositRecord.encode(stamp, left.depositor, box: box, into: scratch)
    guard isUnlocked else {
      _ = try leaveDeposit(scratch, stamp, for: .whenUnlocked, by: left.author)
      return nil
    }
    return try takeInDeposit(scratch, stamp, for: .whenUnlocked, by: left.author, now: now) { _, _, _ in nil }.result
  }

  /// Takes in all waiting deposits, or as few as one part may, and returns the result of each.
  func takeInAll(
    now: Int64 = 2000, onePart: Bool = false, _ decide: @escaping DepositDecision = { _, _, _ in nil }
  ) throws -> [TakenDeposit.Result] {
    var results: [TakenDeposit.Result] = []
    var waiting = WaitingDeposits()
    _ = try takeInDeposits(
      &waiting, now: now, decide, isTimeUp: { onePart }, told: { results.append($0.result) })
    return results
  }

  /// Returns the next deposits that wait or are kept aside, page by page.
  func toldDeposits(after number: Int64, limit: Int) throws(VaultError) -> [ToldDeposit] {
    var (found, after): ([ToldDeposit], Int64?) = ([], number)
    while let last = after, found.count < limit {
      let page = try tellDeposits(after: last, limit: limit - found.count)
      found += page.told
      after = page.next
    }
    return found
  }

  /// Returns the reasons why deposits are kept aside, by their numbers.
  func keptAside() throws -> [DepositObstacle] {
    try toldDeposits(after: 0, limit: 10_000).compactMap(\.obstacle)
  }
}

extension Fixture {
  /// Returns the keychain after a rekey, or that of a salvage, which loses nothing.
  func copy(_ keychain: Keychain, bySalvage: Bool) throws -> Keychain {
    guard bySalvage else {
      try rekey(keychain).complete()
      return keychain
    }
    let salvage = try Salvage(keychain, in: path("salvage"), now: 5000)
    while try !salvage.step(items: 100) {}
    #expect(salvage.result.losses.isEmpty, "\(salvage.result.losses)")
    return salvage.target
  }
}
