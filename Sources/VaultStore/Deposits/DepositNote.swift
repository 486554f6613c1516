import VaultCore
import VaultModel

/// Versions of an item that deposits made, one after the other: nobody else has changed it between the first and the
/// last of them.
struct TakenBase: Hashable {
  /// The version that it had before.
  var base: Int
  /// The version that the last of them made.
  var version: Int
  /// The time at which the last of them was left, Unix seconds.
  var time: Int64

  /// True when a deposit that was left later than those, with one of their versions or the one before in view, may
  /// follow them. What waited is taken in in the order in which it was left: an earlier one was put back.
  func precedes(_ base: Int, left time: Int64, current: Int) -> Bool {
    version == current && (self.base..<version).contains(base) && time >= self.time
  }
}

/// The record of a deposit that is only remembered: 8 bytes, and 40 more for one that became a version of its item.
/// Numbers are little-endian.
struct DepositNote {
  /// The size of the blind mark of an item.
  static let markCount = 16

  /// The age of the strongest class up to which the deposit is remembered.
  let until: Int64
  /// The blind mark of the item (``Keychain/depositMark(of:)``), and the versions.
  let taken: (item: [UInt8], TakenBase)?

  init(until: Int64, taken: (item: [UInt8], TakenBase)? = nil) { (self.until, self.taken) = (until, taken) }

  /// Reads what a store holds; nil for what this program does not write.
  init?(_ bytes: [UInt8]) {
    func number(_ offset: Int) -> Int64 {
      bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }
    switch bytes.count {
    case 8: self.init(until: number(0))
    case 32 + Self.markCount:
      let base = TakenBase(base: Int(number(8)), version: Int(number(16)), time: number(24))
      self.init(until: number(0), taken: (Array(bytes[32...]), base))
    default: return nil
    }
  }

  var bytes: [UInt8] {
    let numbers = [until] + (taken.map { [Int64($0.1.base), Int64($0.1.version), $0.1.time] } ?? [])
    let encoded = numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
    return encoded + (taken?.item ?? [])
  }
}

extension Keychain {
  /// The mark of an item by which a deposit that was taken in is known to be for the same one as another: of its identity,
  /// since another item may have the name later, under a key that a lock wipes, and of a place that no record has.
  func depositMark(of item: ItemID) throws(VaultError) -> [UInt8] {
    let place = AssociatedData(vault: vault, table: .deposits, number: 0, accessible: .whenUnlocked)
    return try withIntegrityKey(.whenUnlocked) { (key: borrowing SecureBytes) in
      let mark = item.withBytes { RecordMark(place, $0, key: key) }
      return Array(mark.array.prefix(DepositNote.markCount))
    }
  }

  /// The versions of an item for which deposits were taken in: from memory for as long as what waited with them is
  /// taken in, which a rekey may come between, and otherwise as a daemon that ended since has written it down.
  func takenBase(of item: ItemID) throws(VaultError) -> TakenBase? {
    if let taken = takenBases[item] { return taken }
    return try knownDeposits().taken[depositMark(of: item)]
  }
}
