import VaultModel

/// The rows of a lookup that count to another class than that under whose key their tag was made, or lead to no item of it,
/// and are passed over.
///
/// Whoever has the key of a class can put in any row that counts to it, and must not keep an item of a stronger class from
/// being read with it. Any other is damage that this key cannot cover, and what it hides may be the item that was asked for.
struct StrayTags {
  /// How many a lookup passes over at most: each costs it some time.
  private static let limit = 1000

  /// What is wrong with the first one; nil when there was none.
  private(set) var error: VaultError?
  private var count = 0
  // The strongest class that one counts to, as in `AccessClass.strongestFirst`; none at all is damage like that of all.
  private var strongest = Int.max

  /// Whether one counts to the strongest class, so that a search that went on would leave out what may be one of its items.
  private(set) var hideStrongest = false

  /// Whether there are so many that the lookup ends.
  var areTooMany: Bool { count > Self.limit }

  /// Passes over the present row.
  ///
  /// - Parameter notice: gets to know what is wrong, once for all of them.
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

  /// Checks that an item of the class at `rank` is stronger than all that was passed over.
  func check(rank: Int) throws(VaultError) {
    if let error, strongest <= rank { throw error }
  }
}
