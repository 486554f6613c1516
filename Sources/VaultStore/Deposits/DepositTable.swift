internal import VaultBytes
import VaultCore
import VaultModel

/// The known content of the table of deposits. The table is read once for each unlock, in the steps of ``DepositWalk``,
/// and this copy is updated with each change.
struct DepositTable {
  typealias Sizes = (count: Int, bytes: Int)

  /// The deposits that wait or are kept aside: counted for each depositor's tag, and in total.
  private var byTag: [[UInt8]: Sizes] = [:]
  private(set) var all: Sizes = (0, 0)
  /// The rows that wait, with their sizes in bytes.
  private(set) var waiting: [Int64: Int] = [:]
  /// The waiting rows that are not ours, which means that this program cannot have written them, with their sizes in
  /// bytes. They do not count for any depositor.
  private(set) var foreign: [Int64: Int] = [:]
  /// The number of rows that are kept aside.
  private(set) var kept = 0
  /// The rows that are only remembered, each with the age of the strongest class after which it can be forgotten; nil
  /// for a row that does not state an age.
  private(set) var remembered: [Int64: Int64?] = [:]
  private var rememberedByTag: [[UInt8]: Int] = [:]
  /// The versions that deposits have made of their items, by the blind marks of the items.
  private(set) var taken: [[UInt8]: (base: TakenBase, name: [UInt8])] = [:]
  /// The numbers of all rows, whoever wrote them. No new row gets any of these numbers.
  private(set) var numbers: Set<Int64> = []
  /// The rows that are kept aside under numbers that no store gives.
  private(set) var misnumbered: Set<Int64> = []
  /// The highest number of a row that was settled, or that was kept aside although it was authentic.
  private(set) var lastSettled: Int64 = 0
  /// The highest number that counts as given: see ``Keychain/nextDeposit()``. Nil until a number is needed.
  var lastGiven: Int64?
  /// The number of rows with each identity that are kept aside or remembered.
  private var seen: [ItemID: Int] = [:]
  /// True once the rows that are kept aside or remembered are known to be those that were stored last.
  var isVerified = false

  /// The end of the numbers that can have come about regularly for waiting rows: those above the settled rows, and no
  /// more than anybody leaves deposits between two unlocks.
  var endOfGiven: Int64 {
    min((isVerified ? lastSettled : 0) + Keychain.rowsApart, DepositRow.numbers.upperBound)
  }

  /// True when a deposit with that identity is kept aside or remembered.
  func hasSeen(_ id: ItemID) -> Bool { seen[id] != nil }

  func sizes(of tag: [UInt8]) -> Sizes { byTag[tag] ?? (0, 0) }

  /// The number of remembered deposits of the caller with that tag.
  func remembered(of tag: [UInt8]) -> Int { rememberedByTag[tag] ?? 0 }

  mutating func add(_ row: Database.DepositOutline) {
    numbers.insert(row.row)
    if row.state != .waiting, row.isSeen, DepositRow.numbers.contains(row.row) {
      lastSettled = max(lastSettled, row.row)
    }
    count(row, 1)
  }

  /// Adds a row that is not ours.
  mutating func add(foreign number: Int64, waiting size: Int?) {
    numbers.insert(number)
    // At most this much of the row is read, however long somebody made it.
    foreign[number] = size.map { min($0, Database.longestDeposit) }
  }

  func isForeign(_ number: Int64) -> Bool { foreign[number] != nil }

  mutating func remove(foreign number: Int64) {
    numbers.remove(number)
    foreign[number] = nil
  }

  mutating func remove(_ row: Database.DepositOutline) {
    numbers.remove(row.row)
    count(row, -1)
  }

  /// The facts that an insertion overwrites and that a removal of the same row does not bring back.
  struct Overwritten {
    let lastSettled: Int64
    /// The item of which a deposit that is only remembered made a version, and the known versions of that item.
    let taken: (item: [UInt8], known: (base: TakenBase, name: [UInt8])?)?
  }

  /// Adds or removes a row, and returns the facts that ``undo(_:_:_:)`` needs.
  mutating func apply(_ kind: RecordChanges.Kind, _ row: Database.DepositOutline) -> Overwritten {
    let item = row.state == .seen ? DepositNote(row.note)?.taken?.item : nil
    let overwritten = Overwritten(lastSettled: lastSettled, taken: item.map { (item: $0, known: taken[$0]) })
    change(kind, row)
    return overwritten
  }

  /// Undoes the latest insertion or removal.
  mutating func undo(_ kind: RecordChanges.Kind, _ row: Database.DepositOutline, _ overwritten: Overwritten) {
    change(kind.reverse, row)
    lastSettled = overwritten.lastSettled
    if let (item, known) = overwritten.taken { taken[item] = known }
  }

  private mutating func change(_ kind: RecordChanges.Kind, _ row: Database.DepositOutline) {
    switch kind {
    case .insert: add(row)
    case .remove: remove(row)
    }
  }

  private mutating func count(_ row: Database.DepositOutline, _ sign: Int) {
    let isAdded = sign > 0
    if row.isSeen {
      let number = (seen[row.id] ?? 0) + sign
      seen[row.id] = number > 0 ? number : nil
    }
    switch row.state {
    case .waiting: waiting[row.row] = isAdded ? row.size : nil
    case .kept:
      kept += sign
      if !DepositRow.numbers.contains(row.row) {
        if isAdded { misnumbered.insert(row.row) } else { misnumbered.remove(row.row) }
      }
    case .seen:
      let note = DepositNote(row.note)
      if isAdded { remembered[row.row] = .some(note?.until) } else { remembered[row.row] = nil }
      if isAdded, let new = note?.taken, new.version > taken[new.item]?.base.version ?? 0 {
        taken[new.item] = (TakenBase(base: new.base, version: new.version, number: row.row), new.name)
      }
      let number = (rememberedByTag[row.depositor] ?? 0) + sign
      rememberedByTag[row.depositor] = number > 0 ? number : nil
      return
    }
    let own = sizes(of: row.depositor)
    let left = (count: own.count + sign, bytes: own.bytes + sign * row.size)
    byTag[row.depositor] = left.count > 0 ? left : nil
    all = (all.count + sign, all.bytes + sign * row.size)
  }
}

extension DepositRow {
  /// The outline of the row, as ``DepositTable`` counts it.
  var outline: Database.DepositOutline {
    Database.DepositOutline(
      row: row, id: id, state: state, depositor: depositor, size: sealed.count,
      note: state == .seen ? sealed : Array(sealed.prefix(state == .kept ? 1 : 0)))
  }
}

extension Database.DepositOutline {
  /// True when the row's identity counts as seen. A row that is not authentic does not count, because it may have the
  /// identity of another deposit.
  fileprivate var isSeen: Bool {
    switch state {
    case .waiting: false
    case .kept: note.first.flatMap(DepositObstacle.init(rawValue:))?.isAuthentic ?? true
    case .seen: true
    }
  }
}

// The known content of the table of deposits, and changes to the table.
extension Keychain {
  /// Returns the known content of the table of deposits. If it is not known, the part of the table that was not read
  /// yet is read at once.
  ///
  /// - Parameter verified: true to check that the rows that are kept aside or remembered are those that were stored
  ///   last.
  /// - Throws: ``VaultError/corrupt(_:)``, also when that check fails; ``VaultError/storage(_:)``.
  @discardableResult
  func knownDeposits(verified: Bool = false) throws(VaultError) -> DepositTable {
    if verified { while try !checkDeposits(records: .max) {} }
    while try !outlineDeposits(records: .max) {}
    return bound.depositTable ?? DepositTable()
  }

  /// Stores a new row; a transaction must be open.
  func add(_ row: DepositRow) throws(VaultError) {
    try database.insertDeposit(row)
    try noteDeposit(.insert, row)
  }

  /// Replaces a row by another one of the same number; a transaction must be open.
  func replace(_ old: DepositRow, by new: DepositRow) throws(VaultError) {
    try noteDeposit(.remove, old)
    try database.updateDeposit(new)
    try noteDeposit(.insert, new)
  }

  /// Removes a row; a transaction must be open.
  func remove(_ row: DepositRow) throws(VaultError) {
    try noteDeposit(.remove, row)
    try database.deleteDeposit(row.row)
  }

  /// Removes the first rows, in whatever condition, up to a weight of `records` (``Statement/firstRows(records:)``);
  /// true when none is left. A transaction must be open.
  func clearDeposits(records: Int) throws(VaultError) -> Bool {
    forgetDeposits()
    let removed = try database.deleteDeposits(records: records)
    changes.deposits.formUnion(removed)
    guard removed.isEmpty else { return false }
    changes.clear(
      Self.depositsPlace, .whenUnlocked, stored: try classRecord(.whenUnlocked).sets[Self.depositsPlace])
    // Each row from here on is one that this program writes.
    bound.depositTable = DepositTable()
    bound.depositTable?.isVerified = true
    return true
  }

  // MARK: Marks

  static let depositsPlace = RecordSets.Place(.deposits)

  static var otherDeposits: VaultError {
    .corrupt("the deposits that were settled or kept aside are not those that were stored last")
  }

  /// Notes the insertion or removal of a row.
  private func noteDeposit(_ kind: RecordChanges.Kind, _ row: DepositRow) throws(VaultError) {
    changes.deposits.insert(row.row)
    let mark = row.isCounted ? try mark(row) : nil
    if let mark { note(kind, .whenUnlocked, Self.depositsPlace, .deposit(row.row), mark) }
    let outline = row.outline
    let table = bound.depositTable?.apply(kind, outline)
    let walk = bound.depositWalk?.apply(kind, outline, mark)
    // A table that is read from here on has the change in it, and not the facts that the change overwrote.
    guard let table else {
      (changes.depositChanges, bound.depositOutlines) = (nil, nil)
      return
    }
    changes.depositChanges?.append(DepositChange(kind: kind, row: outline, mark: mark, table: table, walk: walk))
  }

  /// The mark of a row that counts in the hash over deposits.
  func mark(_ row: DepositRow) throws(VaultError) -> RecordMark {
    let place = AssociatedData(
      vault: vault, table: .deposits, item: row.id, version: Int(row.state.rawValue), accessible: row.accessible,
      policyRevision: row.depositor.isEmpty ? 0 : 1)
    // The tag has a fixed size or is empty, and the place says which.
    let record = row.depositor + row.sealed
    return try withIntegrityKey(.whenUnlocked) { (key: borrowing SecureBytes) in
      record.withSpan { RecordMark(place, row: row.row, $0, key: key) }
    }
  }
}
