// Walks that can pause and resume, over tables whose rows have numbers of their own.
extension Database {
  /// A table whose rows have numbers of their own.
  enum NumberedTable {
    case deposits, grants

    /// The name of the table in errors.
    private var name: String {
      switch self {
      case .deposits: "deposits"
      case .grants: "grants"
      }
    }

    /// More rows than a vault has, so that rows which somebody inserts cannot make a walk endless.
    fileprivate var mostRows: Int {
      switch self {
      case .deposits: mostDepositRows
      case .grants: mostGrantRows
      }
    }

    fileprivate var tooMany: VaultError {
      switch self {
      case .deposits: .corrupt("vault.db: there are too many deposits")
      case .grants: tooManyGrants
      }
    }

    fileprivate var outOfOrder: VaultError { Database.outOfOrder(name) }
  }

  /// A place in a walk over a numbered table.
  struct RowPlace {
    /// The number of the last row that the walk has met; nil before the first one.
    private(set) var number: Int64?
    private var count = 0

    init(after number: Int64? = nil) { self.number = number }

    /// True when a row of that number lies in the part that the walk has passed.
    func hasPassed(_ number: Int64) -> Bool { self.number.map { number <= $0 } ?? false }

    /// The lowest number of a row after the place; nil if there can be none.
    var next: Int64? { number.map { $0 < .max ? $0 + 1 : nil } ?? .min }

    /// Moves on to a row.
    ///
    /// - Throws: ``VaultError/corrupt(_:)`` when there are more rows than a vault can have, or the rows are out of
    ///   order.
    mutating func advance(to number: Int64, in table: NumberedTable) throws(VaultError) {
      guard self.number.map({ number > $0 }) ?? true else { throw table.outOfOrder }
      (self.number, count) = (number, count + 1)
      guard count <= table.mostRows else { throw table.tooMany }
    }
  }
}
