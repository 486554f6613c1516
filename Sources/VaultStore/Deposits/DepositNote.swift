internal import VaultBytes
import VaultCore
import VaultModel

/// A series of versions of an item that deposits made, one after the other, with no other change of the item between
/// the first version and the last.
struct TakenBase: Hashable {
  /// The version that the item had before the series.
  var base: Int
  /// The version that the last deposit of the series made.
  var version: Int
  /// The number under which the last deposit of the series waited.
  var number: Int64

  /// True when a deposit may follow the series: it waited behind the series, and was left with one of the series'
  /// versions, or the version before them, in view. Waiting deposits are taken in in the order of their numbers, so a
  /// deposit with a lower number was put back.
  func precedes(_ base: Int, number: Int64, current: Int) -> Bool {
    version == current && (self.base..<version).contains(base) && number > self.number
  }
}

/// The record of a deposit that is only remembered: 8 bytes, and 48 more for a deposit that became a version of its
/// item. Numbers are little-endian.
struct DepositNote {
  /// The size in bytes of the blind mark of an item, and of a name.
  static let markCount = 16

  /// The change that a deposit made to its item.
  struct Taken {
    /// The blind marks of the item and of the name for which the deposit was left (``Keychain/depositMark(of:)``).
    let item: [UInt8]
    let name: [UInt8]
    let base: Int
    let version: Int
  }

  /// The age of the strongest class (``ClassRecord/Facts/age``) up to which the deposit is remembered.
  let until: Int64
  let taken: Taken?

  init(until: Int64, taken: Taken? = nil) { (self.until, self.taken) = (until, taken) }

  /// Reads a stored note; nil when no program can have written it. Another version of the program may have written
  /// other data after the age. Such data is ignored, and is no reason to forget the deposit.
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
  /// The blind mark of an item, which shows whether two deposits were for the same item. It is made of the item's
  /// identity, because another item may get the name later. It is made with a key that a lock wipes, for a place that
  /// no record has.
  func depositMark(of item: ItemID) throws(VaultError) -> [UInt8] {
    try item.withBytes { (bytes: RawSpan) throws(VaultError) in try depositMark(bytes, number: 0) }
  }

  /// The blind mark of the name for which a deposit was left.
  func depositMark(of name: ItemName) throws(VaultError) -> [UInt8] {
    try Array(name.text.utf8).withSpan { (bytes: RawSpan) throws(VaultError) in try depositMark(bytes, number: 1) }
  }

  private func depositMark(_ bytes: RawSpan, number: Int64) throws(VaultError) -> [UInt8] {
    let place = AssociatedData(vault: vault, table: .deposits, number: number, accessible: .whenUnlocked)
    return try withIntegrityKey(.whenUnlocked) { (key: borrowing SecureBytes) in
      Array(RecordMark(place, bytes, key: key).array.prefix(DepositNote.markCount))
    }
  }

  /// The series of versions that deposits made of an item, and whether the last of these deposits was left for that
  /// name. The series comes from memory while the deposits that waited together are being taken in, even if a rekey
  /// comes in between. Otherwise it comes from the notes that an earlier run of the daemon wrote.
  func takenBase(of item: ItemID, _ name: ItemName) throws(VaultError) -> (base: TakenBase, isForName: Bool)? {
    if let taken = takenBases[item] { return (taken.base, taken.name == name) }
    guard let taken = try knownDeposits().taken[depositMark(of: item)] else { return nil }
    return (taken.base, taken.name == (try depositMark(of: name)))
  }
}
