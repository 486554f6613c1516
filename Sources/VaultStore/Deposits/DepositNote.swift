import VaultCore
import VaultModel

/// Versions of an item that deposits made, one after the other: nobody else has changed it between the first and the
/// last of them.
struct TakenBase: Hashable {
  /// The version that it had before.
  var base: Int
  /// The version that the last of them made.
  var version: Int
  /// The number under which the last of them waited.
  var number: Int64

  /// True when a deposit that waited behind those, with one of their versions or the one before in view, may follow
  /// them. What waits is taken in in the order of its numbers: one with a lower number was put back.
  func precedes(_ base: Int, number: Int64, current: Int) -> Bool {
    version == current && (self.base..<version).contains(base) && number > self.number
  }
}

/// The record of a deposit that is only remembered: 8 bytes, and 48 more for one that became a version of its item.
/// Numbers are little-endian.
struct DepositNote {
  /// The size of the blind mark of an item, and of a name.
  static let markCount = 16

  /// The change that a deposit made to its item.
  struct Taken {
    /// The blind marks of the item, and of the name that the deposit was for (``Keychain/depositMark(of:)``).
    let item: [UInt8]
    let name: [UInt8]
    let base: Int
    let version: Int
  }

  /// The age of the strongest class up to which the deposit is remembered.
  let until: Int64
  let taken: Taken?

  init(until: Int64, taken: Taken? = nil) { (self.until, self.taken) = (until, taken) }

  /// Reads what a store holds; nil for what no program writes. What another version tells behind the age is not known,
  /// and no reason to forget the deposit.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 8 else { return nil }
    func number(_ offset: Int) -> Int64 {
      bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }
    guard bytes.count == 24 + 2 * Self.markCount else {
      self.init(until: number(0))
      return
    }
    let marks = bytes[24...]
    let taken = Taken(
      item: Array(marks.prefix(Self.markCount)), name: Array(marks.suffix(Self.markCount)), base: Int(number(8)),
      version: Int(number(16)))
    self.init(until: number(0), taken: taken)
  }

  var bytes: [UInt8] {
    let numbers = [until] + (taken.map { [Int64($0.base), Int64($0.version)] } ?? [])
    let encoded = numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
    return encoded + (taken.map { $0.item + $0.name } ?? [])
  }
}

extension Keychain {
  /// The mark of an item by which a deposit that was taken in is known to be for the same one as another: of its identity,
  /// since another item may have the name later, under a key that a lock wipes, and of a place that no record has.
  func depositMark(of item: ItemID) throws(VaultError) -> [UInt8] {
    try item.withBytes { (bytes: RawSpan) throws(VaultError) in try depositMark(bytes, number: 0) }
  }

  /// The mark of the name that a deposit was for.
  func depositMark(of name: ItemName) throws(VaultError) -> [UInt8] {
    try Array(name.text.utf8).withSpan { (bytes: RawSpan) throws(VaultError) in try depositMark(bytes, number: 1) }
  }

  private func depositMark(_ bytes: RawSpan, number: Int64) throws(VaultError) -> [UInt8] {
    let place = AssociatedData(vault: vault, table: .deposits, number: number, accessible: .whenUnlocked)
    return try withIntegrityKey(.whenUnlocked) { (key: borrowing SecureBytes) in
      Array(RecordMark(place, bytes, key: key).array.prefix(DepositNote.markCount))
    }
  }

  /// The versions of an item for which deposits were taken in, and whether the last of them was for that name: from
  /// memory for as long as what waited with them is taken in, which a rekey may come between, and otherwise as a daemon
  /// that ended since has written it down.
  func takenBase(of item: ItemID, _ name: ItemName) throws(VaultError) -> (base: TakenBase, isForName: Bool)? {
    if let taken = takenBases[item] { return (taken.base, taken.name == name) }
    guard let taken = try knownDeposits().taken[depositMark(of: item)] else { return nil }
    return (taken.base, taken.name == (try depositMark(of: name)))
  }
}
