import VaultCore
import VaultModel

/// A row of the table of deposits.
struct DepositRow {
  /// Raw values are stored and never change.
  enum State: Int64 {
    /// It waits for an unlock: `sealed` is a MAC (``DepositMAC``, 32 bytes) and what was sealed to the vault's public key.
    case waiting = 1
    /// It was kept aside: the same after one byte, which is a ``DepositObstacle``.
    case kept = 2
    /// It was taken in or dropped: `sealed` is the time until which it is remembered, 8 bytes, little-endian.
    case seen = 3
  }

  /// Its number in this store.
  var row: Int64
  let id: ItemID
  /// The class that it enters.
  let accessible: AccessClass
  var state: State
  /// The tag of who left it, or handed in a box. What is only remembered has that of the strongest class.
  var depositor: [UInt8]
  var sealed: [UInt8]

  /// True when it counts in the hash over deposits, and not by a MAC of its own.
  var isCounted: Bool { state != .waiting }

  /// The numbers that a store gives. Somebody who has the disk can write any other number into a row.
  static let numbers: Range<Int64> = 1..<1 << 53
}

// The table of deposits.
extension Database {
  /// The longest record in bytes: one byte, a MAC, and a box of a value of 1 MiB within a box, with what is said of both.
  static let longestDeposit = DepositBox.longest + (512 << 10)
  private static let longestNote = 64
  /// More rows than a vault has, so that what somebody puts in keeps no walk from its end.
  private static let mostRows = Keychain.mostDeposits * 2 + Keychain.mostSeen * 2

  /// Walks all rows from the number `first` on, until `body` returns false.
  ///
  /// - Throws: what `body` throws; ``VaultError/corrupt(_:)`` when there are more than there can be, they are out of order, or one
  ///   is none of ours.
  func eachDeposit(
    from first: Int64 = .min, _ body: (DepositRow) throws(VaultError) -> Bool
  ) throws(VaultError) {
    var (last, count): (Int64?, Int) = (nil, 0)
    try statements.deposits.from.bind(1, first)
    try statements.deposits.from.each { (row: Statement) throws(VaultError) in
      let found = try Self.deposit(row)
      guard found.row >= first, last.map({ found.row > $0 }) ?? true else { throw Self.outOfOrder("deposits") }
      (last, count) = (found.row, count + 1)
      guard count <= Self.mostRows else { throw .corrupt("vault.db: there are too many deposits") }
      return try body(found)
    }
  }

  /// The row of that number; nil when there is none.
  func deposit(_ number: Int64) throws(VaultError) -> DepositRow? {
    try statements.deposits.one.bind(1, number)
    return try statements.deposits.one.first { (row: Statement) throws(VaultError) in try Self.deposit(row) }
  }

  private static func deposit(_ row: Statement) throws(VaultError) -> DepositRow {
    let id = try row.withBlob(1) { (bytes: RawSpan) throws(VaultError) in ItemID(bytes) }
    guard let id, let accessible = UInt8(exactly: try row.integer(2)).flatMap(AccessClass.init(rawValue:)),
      let state = DepositRow.State(rawValue: try row.integer(3))
    else { throw foreignDeposit }
    // What is kept aside has its reason before it.
    let longest = longestDeposit + (state == .kept ? 1 : 0)
    return DepositRow(
      row: try row.integer(0), id: id, accessible: accessible, state: state,
      depositor: try row.bytes(4, atMost: DepositorTag.count), sealed: try row.bytes(5, atMost: longest))
  }

  /// What can be told of a row without reading all of it.
  struct DepositOutline {
    let row: Int64
    let id: ItemID
    let state: DepositRow.State
    let depositor: [UInt8]
    /// The size of the record in bytes.
    let size: Int
    /// The record, where it is only remembered; the reason, where it is kept aside.
    let note: [UInt8]
  }

  /// The outlines of all rows, in their order.
  func depositOutlines() throws(VaultError) -> [DepositOutline] {
    var found: [DepositOutline] = []
    try statements.deposits.outline.each { (row: Statement) throws(VaultError) in
      let number = try row.integer(0)
      if let last = found.last?.row, last >= number { throw Self.outOfOrder("deposits") }
      guard found.count < Self.mostRows else { throw .corrupt("vault.db: there are too many deposits") }
      let id = try row.withBlob(1) { (bytes: RawSpan) throws(VaultError) in ItemID(bytes) }
      guard let id, let state = DepositRow.State(rawValue: try row.integer(2)) else { throw Self.foreignDeposit }
      let tag = try row.bytes(3, atMost: DepositorTag.count)
      found.append(
        DepositOutline(
          row: number, id: id, state: state, depositor: tag, size: Int(clamping: try row.integer(4)),
          note: try row.bytes(5, atMost: Self.longestNote)))
      return true
    }
    return found
  }

  private static let foreignDeposit = VaultError.corrupt("vault.db: a deposit is none of ours")

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

  /// Changes the state of a row, and what comes with it.
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

  /// Removes all rows.
  func deleteDeposits() throws(VaultError) { try statements.deposits.clear.run() }
}
