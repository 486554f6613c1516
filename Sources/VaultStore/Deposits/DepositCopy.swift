import VaultCore
import VaultModel

/// The copying of deposits into the second store of a rekey, in steps. Each deposit is sealed anew to the key of that
/// store.
///
/// ``Keychain/touchedDeposits`` has the numbers of rows that are written or removed in the live store meanwhile, even
/// of rows that the walk has not reached yet. Each is passed to ``bring(_:)``, and none is left at the end. Rows keep
/// their numbers.
final class DepositCopy {
  private let source: Keychain
  private let target: Keychain
  /// True once the second store has no rows of an earlier attempt any more.
  var isCleared = false
  /// The place that the walk over the live rows has reached, and whether that is its end.
  private var place = Database.RowPlace()
  private var isWalkOver = false
  /// The marks of the live rows that count in the hash over deposits, as they were when they were copied, and the hash
  /// over these.
  private var marks: [Int64: RecordMark] = [:]
  private var found = RecordSet()
  /// The names for which deposits wait, by the live store's blind marks of the names, and of the items that have them.
  private var names: [[UInt8]: ItemName] = [:]

  init(from source: Keychain, to target: Keychain) {
    (self.source, self.target) = (source, target)
    source.touchedDeposits = []
  }

  /// The number of records that a row counts as in a step, as an item with long values does.
  private static func weight(of row: DepositRow) -> Int { 1 + row.sealed.count / Rekey.recordSize }

  // MARK: Steps

  /// Copies the next live rows, at most `left` records, which it subtracts from `left`; true at the end. The second
  /// store needs an open transaction.
  func walk(_ left: inout Int) throws(VaultError) -> Bool {
    if isWalkOver { return true }
    var rows: [DepositRow] = []
    try source.database.eachDeposit(from: &place) { (read: Result<DepositRow, VaultError>) throws(VaultError) in
      let row = try read.get()
      rows.append(row)
      left -= Self.weight(of: row)
      return left > 0
    }
    isWalkOver = left > 0
    for row in rows {
      // A note keeps the change that its deposit made only if another deposit waits for the same item. The names for
      // which deposits wait are all known only at the end of the walk, so the note is copied later.
      if row.state == .seen, DepositNote(row.sealed)?.taken != nil {
        source.touchedDeposits?.insert(row.row)
      } else {
        try put(row)
      }
    }
    return isWalkOver
  }

  /// Makes the row with this number in the second store match the live store's row, and returns the number of records
  /// that the row counts as. The second store needs an open transaction.
  func bring(_ number: Int64) throws(VaultError) -> Int {
    if let mark = marks.removeValue(forKey: number) { found.remove(mark) }
    if let old = try target.database.deposit(number) { try target.remove(old) }
    guard let row = try source.database.deposit(number) else { return 1 }
    try put(row)
    return Self.weight(of: row)
  }

  /// Checks that the second store has all deposits of the live store, exactly as they were stored last.
  func checkWhole() throws(VaultError) {
    guard isWalkOver, source.touchedDeposits?.isEmpty == true else { throw .storage("the rekey is not finished") }
    let stored = try source.classRecord(.whenUnlocked).sets[Keychain.depositsPlace]
    guard stored == found else { throw Keychain.otherDeposits }
  }

  // MARK: One row

  private func put(_ row: DepositRow) throws(VaultError) {
    guard let copy = try copied(row) else { return try setAside(row) }
    try target.add(copy)
    guard row.isCounted else { return }
    let mark = try source.mark(row)
    marks[row.row] = mark
    found.insert(mark)
  }

  /// Keeps a row aside in the live store under a number of that store, as an unlock does. The rows that this changes
  /// are copied later.
  private func setAside(_ row: DepositRow) throws(VaultError) {
    let table = try source.knownDeposits(verified: true)
    switch row.state {
    case .waiting:
      if table.waiting[row.row] == nil {
        // Somebody has put the row in since the table was read.
        source.forgetDeposits()
        try source.knownDeposits(verified: true)
      }
      try source.write { () throws(VaultError) in _ = try source.keep(row, .forged) }
    case .kept, .seen:
      guard table.misnumbered.contains(row.row) || table.remembered[row.row] != nil else {
        throw Keychain.otherDeposits
      }
      try source.write { () throws(VaultError) in _ = try source.renumber(row, as: row) }
    }
  }

  /// A row as the second store must have it; nil for a row whose number nothing authenticates: a waiting row that is
  /// not authentic, or a row with a number that no store gives.
  private func copied(_ row: DepositRow) throws(VaultError) -> DepositRow? {
    guard DepositRow.numbers.contains(row.row) else { return nil }
    var copy = row
    switch row.state {
    case .seen:
      if let note = DepositNote(row.sealed) {
        copy.sealed = DepositNote(until: note.until, taken: try remade(note.taken)).bytes
      }
    case .kept:
      if let (_, sealed) = try sealAnew(row) {
        (copy.depositor, copy.sealed) = (sealed.depositor, [row.sealed[0]] + sealed.sealed)
      }
    case .waiting:
      guard try row.isAuthentic(source), let (name, sealed) = try sealAnew(row) else { return nil }
      var marks = [try source.depositMark(of: name)]
      if let item = try source.find(name)?.columns.item { marks.append(try source.depositMark(of: item)) }
      for mark in marks { names[mark] = name }
      return sealed
    }
    return copy
  }

  /// The change that a deposit made to its item, with the blind marks of the second store, because those of the live
  /// one were made with a key that is being replaced. Nil when no deposit waits for that item.
  private func remade(_ taken: DepositNote.Taken?) throws(VaultError) -> DepositNote.Taken? {
    guard let taken, let name = names[taken.item] ?? names[taken.name], let item = try source.find(name)?.columns.item,
      try source.depositMark(of: item) == taken.item
    else { return nil }
    // If the item has been moved since, the deposit was for another name, for which nothing waits.
    let isForName = try source.depositMark(of: name) == taken.name
    return DepositNote.Taken(
      item: try target.depositMark(of: item),
      name: isForName ? try target.depositMark(of: name) : [UInt8](repeating: 0, count: DepositNote.markCount),
      base: taken.base, version: taken.version)
  }

  /// The content of a row, sealed to the key of the second store as a waiting deposit; nil when it cannot be read. A
  /// box is opened for this, because nobody could open it with that key.
  private func sealAnew(_ row: DepositRow) throws(VaultError) -> (name: ItemName, row: DepositRow)? {
    let (outer, inner) = (Scratch(), Scratch())
    guard let read = source.open(row, outer, inner), let item = read.item, let value = read.value else { return nil }
    let record = read.record
    if read.boxID != nil {
      let stamp = DepositStamp(vault: target.vault, id: row.id, time: read.time)
      inner.withBytes { bytes in
        DepositRecord.encode(
          stamp, record.depositor, item, base: nil, value: bytes.extracting(value), into: outer)
      }
    }
    return (item.name, try target.sealDeposit(outer, row.id, row.accessible, record.depositor.author, row: row.row))
  }
}
