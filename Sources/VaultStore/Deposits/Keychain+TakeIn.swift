public import VaultCore
public import VaultModel

/// The outcome of a deposit.
public struct TakenDeposit: Hashable, Sendable {
  public enum Result: Hashable, Sendable {
    /// The deposit is now this version of its item.
    case stored(version: Int)
    case kept(number: Int64, DepositObstacle)
  }

  /// The name that the deposit is for; nil when that cannot be read.
  public var name: ItemName?
  /// The class that the deposit says it enters; nil when that cannot be read.
  public var accessible: AccessClass?
  /// The depositor; nil when nothing authenticates who it was.
  public var depositor: Depositor?
  public var result: Result
  /// The item of which the deposit is now a version, or, if it was kept aside, the item that has its name.
  public var item: ItemID?
}

// The taking in of deposits, which needs all keys in memory.
extension Keychain {
  /// The decision of the store's owner on a deposit, in addition to the obstacles that follow from the item itself; nil
  /// when the deposit may be taken in.
  ///
  /// The last parameter is the item, if it exists.
  public typealias DepositDecision = (Depositor, DepositedItem, ItemInfo?) -> DepositObstacle?

  /// The decision of the store's owner on the value of a deposit that nothing else prevents from being taken in; nil
  /// when the item may have the value.
  public typealias DepositJudgment = (Depositor, DepositedItem, RawSpan) -> DepositObstacle?

  /// Looks for deposits that wait, and for rows to clear; false if there are none.
  ///
  /// - Throws: as ``takeInDeposits(_:now:_:judging:isTimeUp:told:)``.
  public func lookForDeposits(_ waiting: inout WaitingDeposits) throws(VaultError) -> Bool {
    try noticing { () throws(VaultError) in
      guard holdsAllKeys else { throw .locked }
      try knownDeposits(verified: true)
      try waiting.look(try knownDeposits(), age: facts[.whenUnlocked]?.age ?? 0)
      return !waiting.isEmpty
    }
  }

  /// Takes in waiting deposits, in the order in which they were left, until the time is up. This is one transaction,
  /// after which the rest waits as before. A deposit that is not taken in is kept aside with its reason.
  ///
  /// - Parameters:
  ///   - waiting: the deposits that an unlock has found; empty at the end. Within another transaction, this value is
  ///     right only if that transaction is kept.
  ///   - now: Unix seconds.
  ///   - isTimeUp: called after each deposit, and after some rows that were cleared; true ends this call.
  ///   - told: called with each deposit that was taken in or kept aside, when that is on the disk, or part of another
  ///     transaction.
  /// - Returns: the numbers of the deposits that were left since the store was opened and are missing.
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``. Then all of them wait as
  ///   before.
  public func takeInDeposits(
    _ waiting: inout WaitingDeposits, now: Int64, _ decide: @escaping DepositDecision,
    judging judge: @escaping DepositJudgment = { _, _, _ in nil }, isTimeUp: () -> Bool, told: (TakenDeposit) -> Void
  ) throws(VaultError) -> [Int64] {
    try noticing { () throws(VaultError) in
      let isAny = try lookForDeposits(&waiting)
      let missing = bound.leftDeposits.keys.filter { !waiting.isFound($0) }.sorted()
      guard isAny else {
        (bound.leftDeposits, takenBases) = ([:], [:])
        return missing
      }
      var rest = waiting
      var taken: [(number: Int64, deposit: TakenDeposit)] = []
      try write { () throws(VaultError) in
        try clear(&rest, isTimeUp)
        var intake = DepositIntake(self, now: now, decide, judge)
        while let number = rest.next(isTimeUp, evenLate: taken.isEmpty) {
          guard try !knownDeposits().isForeign(number) else {
            taken.append((number, try keepForeign(number)))
            continue
          }
          // A rekey that has ended meanwhile has kept aside the rows that are not authentic.
          guard try knownDeposits().waiting[number] != nil else { continue }
          guard let row = try database.deposit(number) else { throw .corrupt("a deposit is not where it was") }
          taken.append((number, try intake.take(row, isGiven: rest.isGiven(number), self)))
        }
      }
      waiting = rest
      for number in missing + taken.map(\.number) { bound.leftDeposits[number] = nil }
      if waiting.isEmpty { (bound.leftDeposits, takenBases) = ([:], [:]) }
      for (_, deposit) in taken { told(deposit) }
      return missing
    }
  }

  /// Forgets deposits that need not be remembered any more, and gives numbers of this store to rows that earlier
  /// versions of the program kept aside under the numbers that the rows had. A transaction must be open.
  private func clear(_ waiting: inout WaitingDeposits, _ isTimeUp: () -> Bool) throws(VaultError) {
    while let (number, isOver) = waiting.nextToClear(isTimeUp) {
      guard try mustClear(number, isOver) else { continue }
      guard let row = try database.deposit(number) else { throw .corrupt("a deposit is not where it was") }
      if isOver { try remove(row) } else { _ = try renumber(row, as: row) }
    }
  }

  private func mustClear(_ number: Int64, _ isOver: Bool) throws(VaultError) -> Bool {
    let table = try knownDeposits()
    return isOver ? table.remembered[number] != nil : table.misnumbered.contains(number)
  }

  /// Takes in one deposit that never waited: its record as ``DepositRecord`` encoded it, with that stamp.
  ///
  /// - Throws: as ``leaveDeposit(_:_:for:by:)``, whether or not the deposit would be kept aside.
  public func takeInDeposit(
    _ plaintext: Scratch, _ stamp: DepositStamp, for accessible: AccessClass, by author: String, now: Int64,
    _ decide: @escaping DepositDecision, judging judge: @escaping DepositJudgment = { _, _, _ in nil }
  ) throws(VaultError) -> TakenDeposit {
    try noticing { () throws(VaultError) in
      guard holdsAllKeys else { throw .locked }
      // A table that is not the one that was stored last is not read again for each deposit.
      if hasFailed { throw refusal }
      try knownDeposits(verified: true)
      let tag = try withDepositKey(accessible) { (key: borrowing SecureBytes) in DepositorTag(of: author, key: key) }
      try checkRoom(for: tag.bytes, size: Self.depositSize(plaintext.withBytes { $0.byteCount }))
      return try write { () throws(VaultError) in
        var intake = DepositIntake(self, now: now, decide, judge)
        return try intake.take(plaintext, stamp.id, accessible, self) { () throws(VaultError) in
          try sealDeposit(plaintext, stamp.id, accessible, author, row: nextDeposit())
        }
      }
    }
  }

  // MARK: Deposits that were kept aside

  /// A deposit that was kept aside or waits, as it is shown to a caller.
  public struct ToldDeposit: Sendable {
    public var number: Int64
    public var isWaiting = true
    /// The reason why it was kept aside; nil while it waits, and when a later program kept it aside.
    public var obstacle: DepositObstacle?
    /// The item that it is for; nil while it waits, and when it cannot be read.
    public var item: DepositedItem?
    /// The size of the deposited value in bytes.
    public var size: Int?
    /// The time at which the deposit was left, or its box was sealed, in Unix seconds.
    public var time: Int64?
    /// The depositor; nil when nothing authenticates who it was.
    public var depositor: Depositor?
    public var isBox = false
  }

  /// The next deposits with numbers above `number`: at most `limit`, and no more than one step reads, because a deposit
  /// must be opened as a whole before anything can be said about it.
  ///
  /// - Returns: the deposits, and the number above which the next call continues; nil once there are no more deposits.
  ///   There may be no deposits and still a next call: other rows lie between, or the deposits are still being read
  ///   after an unlock.
  /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func tellDeposits(
    after number: Int64, limit: Int, records: Int = Keychain.depositStep
  ) throws(VaultError) -> (told: [ToldDeposit], next: Int64?) {
    try noticing { () throws(VaultError) -> (told: [ToldDeposit], next: Int64?) in
      if holdsAllKeys, try !checkDeposits(records: records) { return ([], number) }
      var found: [ToldDeposit] = []
      var (left, isOver) = (records, true)
      var place = Database.RowPlace(after: number)
      try database.walkDeposits(from: &place) { (met: Database.WalkedDeposit) throws(VaultError) in
        left -= met.weight
        // A row that cannot be read is reported by a check.
        switch (try? met.outline())?.state {
        case .waiting: found.append(ToldDeposit(number: met.number))
        case .kept: if let row = try? met.counted() { found.append(tell(row)) }
        case .seen, nil: break
        }
        isOver = left > 0 && found.count < limit
        return isOver
      }
      return (found, isOver && found.isEmpty ? nil : place.number)
    }
  }

  /// The deposit that was kept aside or waits under that number; nil when there is none.
  ///
  /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func toldDeposit(_ number: Int64) throws(VaultError) -> ToldDeposit? {
    try noticing { () throws(VaultError) in
      if holdsAllKeys { try knownDeposits(verified: true) }
      guard let row = try? database.deposit(number), row.state != .seen else { return nil }
      return tell(row)
    }
  }

  private func tell(_ row: DepositRow) -> ToldDeposit {
    var told = ToldDeposit(number: row.row)
    guard row.state == .kept else { return told }
    (told.isWaiting, told.obstacle) = (false, row.obstacle)
    guard holdsAllKeys else { return told }
    let (outer, inner) = (Scratch(), Scratch())
    guard let opened = open(row, outer, inner) else { return told }
    told.time = opened.time
    if row.obstacle?.isAuthentic == true { told.depositor = opened.record.depositor }
    told.isBox = opened.boxID != nil
    told.item = opened.item
    told.size = opened.value?.count
    return told
  }

  /// Opens and reads a row; nil when it cannot be read.
  func open(_ row: DepositRow, _ outer: Scratch, _ inner: Scratch) -> ReadDeposit? {
    do throws(DepositFault) {
      try ReadDeposit.open(row, self, outer)
      return try ReadDeposit(row.id, self, outer, inner)
    } catch { return nil }
  }

  /// The number of deposits that are kept aside.
  public var keptDepositCount: Int {
    // While the table is read for the first time, the rows that were met are counted.
    if bound.depositTable == nil, let walk = bound.depositOutlines ?? bound.depositWalk { return walk.table.kept }
    return (try? knownDeposits().kept) ?? 0
  }

  /// Makes a deposit that was kept aside the value of its item, whatever the reason for keeping it aside.
  ///
  /// - Parameters:
  ///   - author: the writer of the version, if nothing authenticates who left the deposit.
  ///   - fault: returns the reason why a value cannot be that of the item of this name; nil if it can.
  /// - Returns: the name and the version; nil when no deposit of that number is kept aside.
  /// - Throws: ``VaultError/invalidValue(_:)`` when the deposit cannot be read, or its value does not fit its kind;
  ///   ``VaultError/locked``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``. Then it is kept as before.
  public func acceptDeposit(
    _ number: Int64, by author: String, now: Int64, _ fault: (ItemName, RawSpan) -> String? = { _, _ in nil }
  ) throws(VaultError) -> (name: ItemName, stored: StoredVersion)? {
    try settle(number, now: now) { (row: DepositRow) throws(VaultError) in
      let (outer, inner) = (Scratch(), Scratch())
      guard let opened = open(row, outer, inner), let item = opened.item, let value = opened.value else {
        throw .invalidValue("it cannot be read")
      }
      let writer = row.obstacle?.isAuthentic == true ? opened.record.depositor.author : author
      var change = ItemChange(name: item.name, author: writer, update: true)
      if try find(item.name) == nil {
        (change.kind, change.attributes, change.accessible) = (item.kind, item.attributes, item.accessible)
      }
      let source = opened.boxID == nil ? outer : inner
      let stored = try source.withBytes { (bytes: RawSpan) throws(VaultError) in
        let value = bytes.extracting(value)
        if let fault = fault(item.name, value) { throw .invalidValue(fault) }
        return try set(change, value: value, now: now)
      }
      if let id = opened.boxID { try remember(id, of: seenTag(of: writer).bytes) }
      return (item.name, stored)
    }
  }

  /// Drops a deposit that was kept aside, and returns its name, if that can be read. Nil when no deposit of that number
  /// is kept aside.
  ///
  /// - Throws: ``VaultError/locked``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func dropDeposit(_ number: Int64, now: Int64) throws(VaultError) -> ItemName?? {
    try settle(number, now: now) { (row: DepositRow) throws(VaultError) in tell(row).item?.name }
  }

  private func settle<R>(
    _ number: Int64, now: Int64, _ body: (DepositRow) throws(VaultError) -> R
  ) throws(VaultError) -> R? {
    try noticing { () throws(VaultError) in
      guard holdsAllKeys else { throw .locked }
      try knownDeposits(verified: true)
      guard let row = try database.deposit(number), row.state == .kept else { return nil }
      // A box takes two places, one for the deposit and one for the box's own identity.
      guard try knownDeposits().remembered.count + 2 <= Self.mostSeen + Self.mostDeposits else {
        throw .invalidValue("more deposits were settled within 30 days than the vault can remember")
      }
      let author = row.obstacle?.isAuthentic == true ? open(row, Scratch(), Scratch())?.record.depositor.author : nil
      return try write { () throws(VaultError) in
        let result = try body(row)
        try forget(row, of: author)
        touch(.whenUnlocked, now: now)
        return result
      }
    }
  }
}
