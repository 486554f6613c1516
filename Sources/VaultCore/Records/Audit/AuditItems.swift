internal import VaultModel

/// The items of the entries in an ``AuditBlock``, each usually written once. With many items, an item that lost its
/// slot here to another item is written again.
struct AuditItems {
  private static let places = 64

  private var known = [(item: ItemID, place: UInt16)?](repeating: nil, count: places)
  private var count: UInt16 = 0

  /// The place of an item among the written ones; nil if it must be written now.
  mutating func place(of item: ItemID) -> UInt16? {
    // Identities are random, so their bits can choose the slot.
    let slot = Int(truncatingIfNeeded: item.words.0) & (Self.places - 1)
    if let one = known[slot], one.item == item { return one.place }
    known[slot] = (item, count)
    count += 1
    return nil
  }

  /// Forgets all items, for the next record.
  mutating func forget() {
    guard count > 0 else { return }
    for slot in known.indices { known[slot] = nil }
    count = 0
  }
}
