import VaultCore
public import VaultModel

/// The rows in which the items of a store are, by their identities, so that an item can be told by the name that it has
/// now.
///
/// It is filled a part at a time, for whoever asks, and has no names. An item keeps its row for as long as it is there,
/// and no new one comes before those that were there.
struct ItemPlaces {
  /// By the first half of an identity, which is random: the row says which one it is.
  fileprivate var rows: [UInt64: Int64] = [:]
  fileprivate var last: Int64 = 0
  /// The number of the change after which every item had its place in here; nil before that.
  fileprivate var whole: UInt64?

  /// The rows of items that are gone are forgotten with all others when there are more than twice as many as items, and
  /// than this.
  fileprivate static let little = 4096
}

extension Keychain {
  /// The number of times that something may have changed about items.
  public var changeCount: UInt64 { bound.recent.generation }

  /// True while the place of every item is known.
  public var knowsAllPlaces: Bool { bound.places.whole == changeCount }

  /// Goes on looking where items are, behind those that are known; true at the end.
  ///
  /// - Parameter rows: how many are looked at, at most.
  /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func findPlaces(rows: Int) throws(VaultError) -> Bool {
    if knowsAllPlaces { return true }
    if bound.places.rows.count > max(ItemPlaces.little, 2 * Int(clamping: knownItems)) { bound.places = ItemPlaces() }
    let change = changeCount
    return try noticing { () throws(VaultError) in
      var left = rows
      try database.each(after: bound.places.last) { number, found in
        guard left > 0 else { return false }
        left -= 1
        bound.places.last = number
        // An entry that cannot be read is not there for a reader of the log.
        if case .success(let row) = found { bound.places.rows[row.columns.item.words.0] = number }
        return true
      }
      if left > 0 { bound.places.whole = change }
      return left > 0
    }
  }

  /// The item of an identity, also in the trash; nil where there is none in the places that are known.
  ///
  /// - Throws: ``VaultError/locked``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func item(_ id: ItemID) throws(VaultError) -> ItemInfo? {
    guard let row = bound.places.rows[id.words.0] else { return nil }
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    return try noticing { () throws(VaultError) in
      try database.withHead(row) { (row: Row) throws(VaultError) -> ItemInfo? in
        row.columns.item == id ? try openHead(row, scratch).item : nil
      } ?? nil
    }
  }
}
