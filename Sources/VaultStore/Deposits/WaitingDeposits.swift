import VaultModel

/// The work that one unlock has with the deposits that it has found, which it does in parts.
///
/// It holds numbers of rows and nothing secret. What was left later is not among it: that is taken in at once while the
/// vault is unlocked.
public struct WaitingDeposits: Sendable {
  /// The most rows that are cleared between two looks at the clock.
  private static let stride = 16

  /// Nil until the first part looks at the table.
  private var waiting: ArraySlice<Int64>?
  /// Rows to clear: those that are remembered no more, which are removed, and those that get another number.
  private var clearing: ArraySlice<(number: Int64, isOver: Bool)> = []
  /// The rows that waited when it looked, in whatever number.
  private var found: Set<Int64> = []
  private var cleared = 0

  public init() {}

  /// True when nothing is left to be done.
  public var isEmpty: Bool { waiting.map { $0.isEmpty && clearing.isEmpty } ?? false }

  /// True when a deposit of that number waited.
  func isFound(_ number: Int64) -> Bool { found.contains(number) }

  /// Looks at the table, the first time that it is asked to.
  ///
  /// - Parameter age: that of the strongest class.
  mutating func look(_ table: @autoclosure () throws(VaultError) -> DepositTable, age: Int64) throws(VaultError) {
    guard waiting == nil else { return }
    let table = try table()
    let rows = table.waiting.merging(table.foreign) { own, _ in own }
    found = Set(rows.keys)
    // More than anybody can leave waits for another time.
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

  /// Takes out the next row to clear; nil where none is left, or the time is up.
  mutating func nextToClear(_ isTimeUp: () -> Bool) -> (number: Int64, isOver: Bool)? {
    cleared += 1
    if cleared % Self.stride == 0, isTimeUp() { return nil }
    return clearing.popFirst()
  }

  /// Takes out the next deposit; nil where none is left, or the time is up.
  ///
  /// - Parameter evenLate: true for the first one of a part, so that each part gets on.
  mutating func next(_ isTimeUp: () -> Bool, evenLate: Bool) -> Int64? {
    guard clearing.isEmpty, evenLate || !isTimeUp() else { return nil }
    return waiting?.popFirst()
  }
}
