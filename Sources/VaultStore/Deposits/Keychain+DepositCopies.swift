import VaultCore
import VaultModel

// The copying of deposits into other stores, for a rekey and for a salvage.
extension Keychain {
  /// Gives this store exactly the deposits of another store of the same vault, sealed anew to the key of this store.
  /// The keys of the other store must be in memory as well. A transaction must be open.
  ///
  /// - Throws: ``VaultError/corrupt(_:)``, also when the rows that were settled or kept aside are not those that were
  ///   stored last.
  func copyDeposits(of source: Keychain) throws(VaultError) {
    while try !clearDeposits(records: .max) {}
    // Rows whose numbers are not authenticated get new numbers, after all rows that keep theirs.
    var unnumbered: [Int64] = []
    // The rows that are only remembered. They are copied after the waiting rows, because a note keeps the change that
    // its deposit made only if another deposit waits for the same item.
    var remembered: [DepositRow] = []
    var names: Set<ItemName> = []
    var found = RecordSet()
    func place(_ row: DepositRow) throws(VaultError) {
      let copy = try copied(row, of: source, names: &names)
      let isNumbered = copy.state == row.state && DepositRow.numbers.contains(row.row)
      if isNumbered { try add(copy) } else { unnumbered.append(row.row) }
    }
    try source.database.eachDeposit { (read: Result<DepositRow, VaultError>) throws(VaultError) in
      let row = try read.get()
      if row.isCounted { found.insert(try source.mark(row)) }
      if row.state == .seen { remembered.append(row) } else { try place(row) }
      return true
    }
    guard try source.classRecord(.whenUnlocked).sets[Self.depositsPlace] == found else { throw Self.otherDeposits }
    for row in remembered { try place(row) }
    bound.depositTable = nil
    for number in unnumbered {
      guard let row = try source.database.deposit(number) else { throw .corrupt("a deposit is not where it was") }
      var copy = try copied(row, of: source, names: &names)
      copy.row = try nextDeposit()
      try add(copy)
    }
    bound.depositTable = nil
  }

  /// A row as this store must have it. A waiting row that is not authentic is kept aside.
  ///
  /// - Parameter names: the names for which deposits wait; a waiting row adds its own.
  private func copied(
    _ row: DepositRow, of source: Keychain, names: inout Set<ItemName>
  ) throws(VaultError) -> DepositRow {
    var copy = row
    switch row.state {
    case .seen:
      if let note = DepositNote(row.sealed) {
        copy.sealed = DepositNote(until: note.until, taken: try remade(note.taken, of: source, names)).bytes
      }
    case .kept:
      if let (_, sealed) = try sealAnew(row, of: source) {
        (copy.depositor, copy.sealed) = (sealed.depositor, [row.sealed[0]] + sealed.sealed)
      }
    case .waiting:
      if try row.isAuthentic(source), let (name, sealed) = try sealAnew(row, of: source) {
        names.insert(name)
        return sealed
      }
      (copy.state, copy.sealed) = (.kept, [DepositObstacle.forged.rawValue] + row.sealed)
    }
    return copy
  }

  /// The change that a deposit made to its item, with the blind marks of this store, because the marks of the other
  /// store were made with a key that is being replaced. Nil when no deposit waits for that item.
  private func remade(
    _ taken: DepositNote.Taken?, of source: Keychain, _ names: Set<ItemName>
  ) throws(VaultError) -> DepositNote.Taken? {
    guard let taken else { return nil }
    for name in names {
      guard let item = try source.find(name)?.columns.item, try source.depositMark(of: item) == taken.item else {
        continue
      }
      // If the item has been moved since, the deposit was for another name, for which nothing waits.
      let isForName = try source.depositMark(of: name) == taken.name
      return DepositNote.Taken(
        item: try depositMark(of: item),
        name: isForName ? try depositMark(of: name) : [UInt8](repeating: 0, count: DepositNote.markCount),
        base: taken.base, version: taken.version)
    }
    return nil
  }

  /// The content of a row, sealed to the key of this store as a waiting deposit; nil when it cannot be read. A box is
  /// opened for this, because nobody could open it with the key of this store.
  private func sealAnew(
    _ row: DepositRow, of source: Keychain
  ) throws(VaultError) -> (name: ItemName, row: DepositRow)? {
    let (outer, inner) = (Scratch(), Scratch())
    guard let read = source.open(row, outer, inner), let item = read.item, let value = read.value else { return nil }
    let record = read.record
    guard read.boxID != nil else {
      return (item.name, try sealDeposit(outer, row.id, row.accessible, record.depositor.author, row: row.row))
    }
    let stamp = DepositStamp(vault: vault, id: row.id, time: read.time)
    inner.withBytes { bytes in
      DepositRecord.encode(
        stamp, record.depositor, item, base: nil, value: bytes.extracting(value), into: outer)
    }
    return (item.name, try sealDeposit(outer, row.id, row.accessible, record.depositor.author, row: row.row))
  }

  /// Gives this store, which has the same keys, those deposits of a damaged store that are the ones stored last.
  ///
  /// - Parameter lose: called with each loss.
  func saveDeposits(of source: Keychain, lose: (Finding) -> Void) throws(VaultError) {
    var (counted, waiting): ([DepositRow], [DepositRow]) = ([], [])
    var found = RecordSet()
    do throws(VaultError) {
      try source.database.eachDeposit { (read: Result<DepositRow, VaultError>) throws(VaultError) in
        guard case .success(let row) = read else {
          lose(Finding(.damaged, "a deposit is lost: it cannot be read"))
          return true
        }
        if row.isCounted {
          counted.append(row)
          found.insert(try source.mark(row))
        } else if try row.isAuthentic(source) {
          waiting.append(row)
        } else {
          lose(Finding(.foreign, "a deposit is lost: nothing vouches for it"))
        }
        return true
      }
    } catch .corrupt(let reason) { lose(Finding(.damaged, "the deposits cannot be read any further: \(reason)")) }
    let stored = try? source.classRecord(.whenUnlocked).sets[Self.depositsPlace]
    // If there are no rows and the class record names none, nothing is lost.
    if stored.map({ $0 != found }) ?? (found != RecordSet()) {
      counted = []
      lose(Finding(.damaged, "the deposits that were kept aside are lost: they are not those that were stored last"))
    }
    for row in counted + waiting { try add(row) }
    bound.depositTable = nil
  }
}
