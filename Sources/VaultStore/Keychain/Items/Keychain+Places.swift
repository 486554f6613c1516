import VaultCore
public import VaultModel

/// The rows of a store's items by their identities, so that an item can be shown by the name that it has now.
///
/// The map is filled a part at a time, on request, and contains no names. An item keeps its row as long as it exists,
/// and no new item gets a row before those of existing items.
struct ItemPlaces {
  /// The rows, by the first half of an identity, which is random. The head in the row has the whole identity.
  fileprivate var rows: [UInt64: Int64] = [:]
  fileprivate var last: Int64 = 0
  /// The ``Keychain/changeCount`` at which this map last had the place of every item; nil if it never had.
  fileprivate var whole: UInt64?

  /// The number of rows up to which the map is never emptied. A larger map is emptied when it has more than twice as
  /// many rows as there are items, so that the rows of deleted items are forgotten.
  fileprivate static let little = 4096
}

extension Keychain {
  /// The number of times that anything about items may have changed.
  public var changeCount: UInt64 { bound.recent.generation }

  /// True while the places of all items are known.
  public var knowsAllPlaces: Bool { bound.places.whole == changeCount }

  /// Continues to look for the places of items, after the last known row; true at the end.
  ///
  /// - Parameter rows: the most rows to examine.
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
        // For a reader of the audit log, whom this map serves, an item whose row cannot be read does not exist.
        if case .success(let row) = found { bound.places.rows[row.columns.item.words.0] = number }
        return true
      }
      if left > 0 { bound.places.whole = change }
      return left > 0
    }
  }

  /// The item with an identity, even if it is in the trash; nil when the known places do not include it.
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
