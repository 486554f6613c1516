import VaultModel

/// The rows that a lookup skips because they count towards a class other than the one under whose key their tag was
/// made, or because they lead to no item of the latter class.
///
/// A program that has the key of a class can insert any row that counts towards that class, and must not thereby keep
/// anyone from reading an item of a stronger class. Any other stray row is damage that such a key does not explain, and
/// the row may hide the requested item.
struct StrayTags {
  /// The most rows that a lookup skips. Each skipped row takes time.
  private static let limit = 1000

  /// The error for the first skipped row; nil when none was skipped.
  private(set) var error: VaultError?
  private var count = 0
  // The strongest class that a skipped row counts towards, as an index of `AccessClass.strongestFirst`; -1, which ranks
  // above every class, when a skipped row counts towards no known class.
  private var strongest = Int.max

  /// True when a skipped row counts towards the strongest class. A search that continued might then miss an item of
  /// that class.
  private(set) var hideStrongest = false

  /// True when so many rows were skipped that the lookup must end.
  var areTooMany: Bool { count > Self.limit }

  /// Skips the lookup's present row.
  ///
  /// - Parameter notice: called with the error for the first skipped row, and for no other.
  mutating func passOver(_ row: Statement, notice: (VaultError) -> Void) throws(VaultError) {
    count += 1
    let accessible = UInt8(exactly: try row.integer(8)).flatMap(AccessClass.init(rawValue:))
    if accessible == AccessClass.strongestFirst[0] { hideStrongest = true }
    strongest = min(strongest, AccessClass.strongestFirst.firstIndex { $0 == accessible } ?? -1)
    guard error == nil else { return }
    let item = try row.integer(0)
    let error = VaultError.corrupt("a tag leads to item \(item), where it does not belong")
    self.error = error
    notice(error)
  }

  /// Checks that the class at `rank` is stronger than the class of every skipped row.
  func check(rank: Int) throws(VaultError) {
    if let error, strongest <= rank { throw error }
  }
}
