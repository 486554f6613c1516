import VaultModel

/// The work of one unlock on the deposits that it found. The work is done in parts.
///
/// This value holds row numbers and nothing secret. A deposit that is left later is not among these: it is taken in at
/// once while the vault is unlocked.
public struct WaitingDeposits: Sendable {
  /// The number of rows that are cleared between two checks of the time.
  private static let stride = 16

  /// The numbers of the rows that wait; nil until the first part reads the table.
  private var waiting: ArraySlice<Int64>?
  /// The rows to clear: rows that need not be remembered any more, which are removed, and rows that get another number.
  private var clearing: ArraySlice<(number: Int64, isOver: Bool)> = []
  /// The rows that waited when the table was read, whatever their number.
  private var found: Set<Int64> = []
  private var cleared = 0
  /// The end of the numbers that deposits can have been given (``DepositTable/endOfGiven``), as it was when the table
  /// was read: a deposit that is taken in does not move it, so that forged ones cannot move it one after the other.
  private var end: Int64 = 0

  public init() {}

  /// True when no work is left.
  public var isEmpty: Bool { waiting.map { $0.isEmpty && clearing.isEmpty } ?? false }

  /// True when a deposit of that number waited.
  func isFound(_ number: Int64) -> Bool { found.contains(number) }

  /// True when a deposit can have been given that number.
  func isGiven(_ number: Int64) -> Bool { number < end }

  /// Reads the table at the first call, and does nothing at later calls.
  ///
  /// - Parameter age: the age of the strongest class.
  mutating func look(_ table: @autoclosure () throws(VaultError) -> DepositTable, age: Int64) throws(VaultError) {
    guard waiting == nil else { return }
    let table = try table()
    let rows = table.waiting.merging(table.foreign) { own, _ in own }
    (found, end) = (Set(rows.keys), table.endOfGiven)
    // If more deposits wait than anybody can have left, the rest is left for another time.
    var (numbers, bytes): ([Int64], Int) = ([], 0)
    for (number, size) in rows.sorted(by: { $0.key < $1.key }).prefix(Keychain.mostDeposits) {
      bytes += size
      guard bytes <= Keychain.mostDepositBytes else { break }
      numbers.append(number)
    }
    waiting = numbers[...]
    let over = table.remembered.filter { $0.value.map { $0 < age } ?? false }.keys
    clearing = (over.map { ($0, true) } + table.misnumbered.sorted().map { ($0, false) })[...]
  }

  /// Removes and returns the next row to clear; nil when none is left or the time is up.
  mutating func nextToClear(_ isTimeUp: () -> Bool) -> (number: Int64, isOver: Bool)? {
    cleared += 1
    if cleared % Self.stride == 0, isTimeUp() { return nil }
    return clearing.popFirst()
  }

  /// Removes and returns the next deposit; nil when none is left or the time is up.
  ///
  /// - Parameter evenLate: true for the first deposit of a part, so that each part makes progress.
  mutating func next(_ isTimeUp: () -> Bool, evenLate: Bool) -> Int64? {
    guard clearing.isEmpty, evenLate || !isTimeUp() else { return nil }
    return waiting?.popFirst()
  }
}
