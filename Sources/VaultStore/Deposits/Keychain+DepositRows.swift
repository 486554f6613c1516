import VaultCore
import VaultModel

// The ways of a deposit's row once it was looked at: kept aside, remembered, or removed.
extension Keychain {
  /// Has a row that waits be kept aside; its number then. One that is not authentic gets another number: its own is
  /// somebody else's word.
  func keep(_ row: DepositRow, _ obstacle: DepositObstacle) throws(VaultError) -> Int64 {
    var kept = row
    kept.state = .kept
    kept.sealed = [obstacle.rawValue] + row.sealed
    guard obstacle != .forged else { return try renumber(row, as: kept).row }
    try replace(row, by: kept)
    return row.row
  }

  /// Has a row that waits and is none of ours be kept aside like any other that nobody vouches for: one byte of it may
  /// have changed, and it is to keep no other deposit waiting. A transaction must be open.
  func keepForeign(_ number: Int64) throws(VaultError) -> TakenDeposit {
    guard var row = try database.foreignDeposit(number) else { throw .corrupt("a deposit is not where it was") }
    try database.deleteDeposit(number)
    bound.depositTable?.remove(foreign: number)
    row.row = try nextDeposit()
    row.state = .kept
    row.sealed = [DepositObstacle.forged.rawValue] + row.sealed
    try add(row)
    return TakenDeposit(result: .kept(number: row.row, .forged))
  }

  /// Has a row only be remembered, so that what it held is not taken in again; one that is not authentic is removed: it would keep
  /// what has its identity from being taken in.
  ///
  /// - Parameters:
  ///   - author: whoever left it; nil where it cannot be read.
  ///   - item: the one that it became a version of, so that others that were left with the same version in view follow it
  ///     even after a daemon that ended in between; nil where it did not.
  func forget(_ row: DepositRow, of author: String?, stored item: ItemID? = nil) throws(VaultError) {
    let isForged = row.obstacle.map { [.forged, .seen].contains($0) } ?? false
    guard !isForged else { return try remove(row) }
    var seen = row
    seen.state = .seen
    if let author { seen.depositor = try seenTag(of: author).bytes }
    if let item, let taken = takenBases[item] {
      let taken = DepositNote.Taken(
        item: try depositMark(of: item), name: try depositMark(of: taken.name), base: taken.base.base,
        version: taken.base.version)
      seen.sealed = DepositNote(until: rememberedUntil, taken: taken).bytes
    } else {
      seen.sealed = DepositNote(until: rememberedUntil).bytes
    }
    try replace(row, by: seen)
  }

  /// The tag by which what is remembered of a caller is counted, whatever class it was for.
  func seenTag(of author: String) throws(VaultError) -> DepositorTag {
    try withDepositKey(.whenUnlocked) { (key: borrowing SecureBytes) in DepositorTag(of: author, key: key) }
  }

  /// Has the identity of a box be remembered, which a caller with that tag has handed in.
  func remember(_ id: ItemID, of tag: [UInt8]) throws(VaultError) {
    try add(
      DepositRow(
        row: nextDeposit(), id: id, accessible: .whenUnlocked, state: .seen, depositor: tag,
        sealed: DepositNote(until: rememberedUntil).bytes))
  }

  /// The age of the strongest class up to which what is settled now is remembered: what is not ahead by more than can be is
  /// too old then. A clock that jumps makes nobody forget (``ClassRecord/Facts/age``).
  private var rememberedUntil: Int64 {
    Seconds.after(Self.depositAge + Self.depositLead, facts[.whenUnlocked]?.age ?? 0)
  }
}

extension DepositRow {
  /// The reason why it is kept aside; nil where it is not, or the reason is not one of this program.
  var obstacle: DepositObstacle? {
    state == .kept ? sealed.first.flatMap(DepositObstacle.init(rawValue:)) : nil
  }

  /// The MAC and what was sealed.
  var envelope: ArraySlice<UInt8> { state == .kept ? sealed.dropFirst() : sealed[...] }
}
