import VaultCore
import VaultModel

// Settling the row of a deposit that was examined: the row is kept aside, remembered, or removed.
extension Keychain {
  /// Keeps a waiting row aside, and returns its number from then on. A row that is not authentic gets another number,
  /// because somebody else chose its own.
  func keep(_ row: DepositRow, _ obstacle: DepositObstacle) throws(VaultError) -> Int64 {
    var kept = row
    kept.state = .kept
    kept.sealed = [obstacle.rawValue] + row.sealed
    guard obstacle != .forged else { return try renumber(row, as: kept).row }
    try replace(row, by: kept)
    return row.row
  }

  /// Keeps aside a waiting row that is not ours, like any other row that is not authentic: one byte of it may have
  /// changed, and it must not keep other deposits waiting. A transaction must be open.
  func keepForeign(_ number: Int64) throws(VaultError) -> TakenDeposit {
    guard var row = try database.foreignDeposit(number) else { throw .corrupt("a deposit is not where it was") }
    try database.deleteDeposit(number)
    changes.deposits.insert(number)
    changes.depositChanges = nil
    bound.depositTable?.remove(foreign: number)
    row.row = try nextDeposit()
    row.state = .kept
    row.sealed = [DepositObstacle.forged.rawValue] + row.sealed
    try add(row)
    return TakenDeposit(result: .kept(number: row.row, .forged))
  }

  /// Turns a row into one that is only remembered, so that its content is not taken in again. A row that is not
  /// authentic is removed instead: it would prevent the deposit that really has its identity from being taken in.
  ///
  /// - Parameters:
  ///   - author: the caller who left the deposit; nil when that cannot be read.
  ///   - item: the item of which the deposit became a version; nil when it became none. It is noted so that other
  ///     deposits, which were left with the same version in view, can follow this one even if the daemon ends in
  ///     between.
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

  /// The tag by which the remembered deposits of a caller are counted, whatever class they were for.
  func seenTag(of author: String) throws(VaultError) -> DepositorTag {
    try withDepositKey(.whenUnlocked) { (key: borrowing SecureBytes) in DepositorTag(of: author, key: key) }
  }

  /// Remembers the identity of a box that the caller with that tag has handed in.
  func remember(_ id: ItemID, of tag: [UInt8]) throws(VaultError) {
    try add(
      DepositRow(
        row: nextDeposit(), id: id, accessible: .whenUnlocked, state: .seen, depositor: tag,
        sealed: DepositNote(until: rememberedUntil).bytes))
  }

  /// The age of the strongest class up to which a deposit that is settled now is remembered. By then the deposit is too
  /// old to be taken in again, even if its time lay in the future by ``depositLead``. A clock that jumps does not make
  /// the vault forget a deposit (``ClassRecord/Facts/age``).
  private var rememberedUntil: Int64 {
    Seconds.after(Self.depositAge + Self.depositLead, facts[.whenUnlocked]?.age ?? 0)
  }
}

extension DepositRow {
  /// The reason why the deposit is kept aside; nil when it is not, or when this program does not know the reason.
  var obstacle: DepositObstacle? {
    state == .kept ? sealed.first.flatMap(DepositObstacle.init(rawValue:)) : nil
  }

  /// The MAC and the sealed box.
  var envelope: ArraySlice<UInt8> { state == .kept ? sealed.dropFirst() : sealed[...] }
}
