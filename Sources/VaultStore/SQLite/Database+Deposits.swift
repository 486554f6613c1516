import VaultCore
import VaultModel

/// A row of the table of deposits.
struct DepositRow {
  /// Raw values are stored and never change.
  enum State: Int64 {
    /// The deposit waits for an unlock. `sealed` is a MAC (``DepositMAC``, 32 bytes), followed by the box that was
    /// sealed to the vault's public key.
    case waiting = 1
    /// The deposit was kept aside. `sealed` is one byte, which is a ``DepositObstacle``, followed by the same content
    /// as in a waiting row.
    case kept = 2
    /// The deposit was taken in or dropped. `sealed` is a ``DepositNote``.
    case seen = 3
  }

  /// The row's number in this store.
  var row: Int64
  let id: ItemID
  /// The class that the deposit enters.
  let accessible: AccessClass
  var state: State
  /// The tag of the depositor, or of the caller who handed in a box. A row that is only remembered (``State/seen``) has
  /// a tag under the key of the strongest class.
  var depositor: [UInt8]
  var sealed: [UInt8]

  /// True when the row counts in the hash over deposits, and does not rely on a MAC of its own.
  var isCounted: Bool { state != .waiting }

  /// The range of row numbers that a store gives out. Somebody who has the disk can write any other number into a row.
  static let numbers: Range<Int64> = 1..<1 << 53
}

// The table of deposits.
extension Database {
  /// The longest record in bytes: one byte, a MAC, and a box around another box with a value of 1 MiB, with the facts
  /// about both boxes.
  static let longestDeposit = DepositBox.longest + (512 << 10)
  static let longestNote = 64
  /// A number of rows that no vault exceeds, so that rows that somebody inserts cannot make a walk endless.
  static let mostDepositRows = Keychain.mostDeposits * 2 + Keychain.mostSeen * 2

  /// Walks the rows after `place`, until `body` returns false. `place` moves along.
  ///
  /// - Parameter body: gets each row, or the error in reading it. An error means that this one row is not ours, and
  ///   says nothing about the others.
  /// - Throws: what `body` throws; ``VaultError/corrupt(_:)`` when there are more rows than a vault can have, or the
  ///   rows are out of order.
  func eachDeposit(
    from place: inout RowPlace, _ body: (Result<DepositRow, VaultError>) throws(VaultError) -> Bool
  ) throws(VaultError) {
    guard let first = place.next else { return }
    try statements.deposits.from.bind(1, first)
    try statements.deposits.from.each { (row: Statement) throws(VaultError) in
      try place.advance(to: try row.integer(0), in: .deposits)
      let found: Result<DepositRow, VaultError>
      do throws(VaultError) { found = .success(try Self.deposit(row)) } catch .corrupt(let reason) {
        found = .failure(.corrupt(reason))
      }
      return try body(found)
    }
  }

  /// A row that a walk has met. The content of a waiting row is not read.
  struct WalkedDeposit {
    fileprivate let statement: Statement
    let number: Int64

    /// The number of records that the row counts as, as in ``WalkedHead/weight``.
    var weight: Int { statement.weight }

    /// The row, if it counts in the hash over deposits; nil for any waiting row, even a malformed one, which the next
    /// unlock keeps aside.
    ///
    /// - Throws: ``VaultError/corrupt(_:)`` when the row is not ours.
    func counted() throws(VaultError) -> DepositRow? {
      if try waitingSize() != nil { return nil }
      let row = try Database.deposit(statement)
      guard try Database.sealedSize(statement) <= Database.longest(row.state) else { throw Statement.tooLong }
      return row.isCounted ? row : nil
    }

    /// The outline of the row; nil when the row is not ours.
    func outline() throws(VaultError) -> DepositOutline? { try Database.outline(statement) }

    /// The size of the record in bytes, if the row waits.
    func waitingSize() throws(VaultError) -> Int? { try Database.waitingSize(statement) }
  }

  /// Walks the rows after `place`, until `body` returns false. `place` moves along.
  ///
  /// - Parameter isOutline: true to read the outlines alone, without the obstacles of rows that are kept aside.
  /// - Throws: what `body` throws; ``VaultError/corrupt(_:)`` as ``eachDeposit(from:_:)`` does.
  func walkDeposits(
    from place: inout RowPlace, isOutline: Bool = false, _ body: (WalkedDeposit) throws(VaultError) -> Bool
  ) throws(VaultError) {
    guard let first = place.next else { return }
    let statement = isOutline ? statements.deposits.outline : statements.deposits.walked
    try statement.bind(1, first)
    defer { statement.reset() }
    while try statement.step() {
      let number = try statement.integer(0)
      try place.advance(to: number, in: .deposits)
      if try !body(WalkedDeposit(statement: statement, number: number)) { return }
    }
  }

  /// The row of that number; nil when there is none.
  func deposit(_ number: Int64) throws(VaultError) -> DepositRow? {
    try statements.deposits.one.bind(1, number)
    return try statements.deposits.one.first { (row: Statement) throws(VaultError) in try Self.deposit(row) }
  }

  private static func deposit(_ row: Statement) throws(VaultError) -> DepositRow {
    guard let id = try identity(row), let accessible = try accessible(row),
      let state = DepositRow.State(rawValue: try row.integer(3))
    else { throw foreignDeposit }
    return DepositRow(
      row: try row.integer(0), id: id, accessible: accessible, state: state,
      depositor: try row.bytes(4, atMost: DepositorTag.count), sealed: try row.bytes(5, atMost: longest(state)))
  }

  private static func longest(_ state: DepositRow.State) -> Int {
    switch state {
    case .waiting: longestDeposit
    // The obstacle takes one byte before the deposit.
    case .kept: longestDeposit + 1
    case .seen: longestNote
    }
  }

  private static func identity(_ row: Statement) throws(VaultError) -> ItemID? {
    row.isNull(1) ? nil : try row.withBlob(1) { (bytes: RawSpan) throws(VaultError) in ItemID(bytes) }
  }

  private static func accessible(_ row: Statement) throws(VaultError) -> AccessClass? {
    UInt8(exactly: try row.integer(2)).flatMap(AccessClass.init(rawValue:))
  }

  /// A waiting row that cannot be read as ours, returned as a deposit of the strongest class without a valid MAC. It
  /// holds as much of the row as can be read. Nil when there is no row of that number.
  func foreignDeposit(_ number: Int64) throws(VaultError) -> DepositRow? {
    try statements.deposits.one.bind(1, number)
    return try statements.deposits.one.first { (row: Statement) throws(VaultError) in
      let tag = row.isNull(4) ? [] : try row.bytes(4)
      return DepositRow(
        row: number, id: try Self.identity(row) ?? .random(), accessible: try Self.accessible(row) ?? .whenUnlocked,
        state: .waiting, depositor: tag.count == DepositorTag.count ? tag : [],
        sealed: row.isNull(5) ? [] : Array(try row.bytes(5).prefix(Self.longestDeposit)))
    }
  }

  /// An outline of a row: the facts that can be read without reading all of the row.
  struct DepositOutline {
    let row: Int64
    let id: ItemID
    let state: DepositRow.State
    let depositor: [UInt8]
    /// The size of the record in bytes.
    let size: Int
    /// The record of a row that is only remembered; the obstacle of a row that is kept aside, if its content was read;
    /// otherwise empty.
    let note: [UInt8]
  }

  private static func outline(_ row: Statement) throws(VaultError) -> DepositOutline? {
    let (state, size) = (DepositRow.State(rawValue: try row.integer(3)), try sealedSize(row))
    guard let id = try identity(row), try accessible(row) != nil, let state, !row.isNull(4), !row.isNull(5),
      size <= longest(state)
    else { return nil }
    let note = try row.withBlob(5) { (bytes: RawSpan) throws(VaultError) in
      [UInt8](copying: bytes.extracting(0..<(state == .seen ? bytes.byteCount : min(1, bytes.byteCount))))
    }
    return DepositOutline(
      row: try row.integer(0), id: id, state: state, depositor: try row.bytes(4), size: size, note: note)
  }

  private static func waitingSize(_ row: Statement) throws(VaultError) -> Int? {
    DepositRow.State(rawValue: try row.integer(3)) == .waiting ? try sealedSize(row) : nil
  }

  private static func sealedSize(_ row: Statement) throws(VaultError) -> Int { Int(clamping: try row.integer(6)) }

  private static let foreignDeposit = VaultError.corrupt("vault.db: a deposit was not written by vault")

  /// Stores a new row under its number.
  func insertDeposit(_ deposit: DepositRow) throws(VaultError) {
    let insert = statements.deposits.insert
    try insert.bind(1, deposit.row)
    try deposit.id.withBytes { (bytes: RawSpan) throws(VaultError) in try insert.bind(2, bytes) }
    try insert.bind(3, Int64(deposit.accessible.rawValue))
    try insert.bind(4, deposit.state.rawValue)
    try insert.bind(5, deposit.depositor)
    try insert.bind(6, deposit.sealed)
    try runOnOneRow(insert, "a deposit")
  }

  /// Changes the state of a row, together with its depositor and its content.
  func updateDeposit(_ deposit: DepositRow) throws(VaultError) {
    let update = statements.deposits.update
    try update.bind(1, deposit.row)
    try update.bind(2, deposit.state.rawValue)
    try update.bind(3, deposit.depositor)
    try update.bind(4, deposit.sealed)
    try runOnOneRow(update, "a deposit")
  }

  /// Removes a row.
  func deleteDeposit(_ row: Int64) throws(VaultError) {
    try statements.deposits.delete.bind(1, row)
    try runOnOneRow(statements.deposits.delete, "a deposit")
  }

  /// Removes the first rows, up to a weight of `records` (``Statement/firstRows(records:)``), and returns their
  /// numbers.
  func deleteDeposits(records: Int) throws(VaultError) -> [Int64] {
    let numbers = try statements.deposits.sizes.firstRows(records: records)
    for number in numbers { try deleteDeposit(number) }
    return numbers
  }
}
