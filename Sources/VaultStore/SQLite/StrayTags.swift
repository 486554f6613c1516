import VaultModel

/// The rows of a lookup that are skipped because they count towards another class than that under whose key their tag
/// was made, or lead to no item of that class.
///
/// Whoever has the key of a class can insert any row that counts towards it, and must not thereby keep an item of a
/// stronger class from being read. Any other stray row is damage that this key does not explain, and what it hides may
/// be the item that was asked for.
struct StrayTags {
  /// The most rows that a lookup skips: each costs it some time.
  private static let limit = 1000

  /// The error for the first skipped row; nil when none was skipped.
  private(set) var error: VaultError?
  private var count = 0
  // The strongest class that a skipped row counts towards, as an index of `AccessClass.strongestFirst`; -1, which is
  // stronger than all, when one of the rows counts towards no class.
  private var strongest = Int.max

  /// True when a skipped row counts towards the strongest class: a search that continued might leave out
  /// one of its items.
  private(set) var hideStrongest = false

  /// True when so many rows were skipped that the lookup ends.
  var areTooMany: Bool { count > Self.limit }

  /// Skips the present row.
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

  /// Checks that an item of the class at `rank` is stronger than all that was skipped.
  func check(rank: Int) throws(VaultError) {
    if let error, strongest <= rank { throw error }
  }
}
