import VaultCore
import VaultModel

/// The items whose current values were read last, as they are in the store: the head opened, the value still sealed.
///
/// Finding the row, and opening and reading the head, are three quarters of the work of a request for a small value. An
/// item that is remembered saves that; its value is authenticated and opened again each time. This process is the only
/// one that can write to the store (its lock is exclusive), and the engine's own page cache would not look at the disk
/// again either. So what is remembered holds until a transaction begins here or the keys change, and then all of it is
/// forgotten: there is nothing to keep in step.
struct RecentItems {
  final class Entry {
    let item: ItemInfo
    let accessible: AccessClass
    let sealed: [UInt8]
    let associatedData: AssociatedData

    init(_ item: ItemInfo, sealed: [UInt8], associatedData: AssociatedData) {
      self.item = item
      accessible = item.policy.accessible
      self.sealed = sealed
      self.associatedData = associatedData
    }
  }

  private static let places = 256
  /// The longest sealed value that is worth the memory, in bytes.
  static let longestValue = 4096
  private var entries = [Entry?](repeating: nil, count: places)
  private var isEmpty = true

  /// The item that was last read under that name.
  subscript(name: ItemName) -> Entry? {
    guard !isEmpty, let entry = entries[Self.place(name)], entry.item.name.text.hasSameBytes(as: name.text) else {
      return nil
    }
    return entry
  }

  /// Remembers an item, and forgets the one that had its place.
  mutating func remember(_ entry: Entry) {
    entries[Self.place(entry.item.name)] = entry
    isEmpty = false
  }

  /// The number of times that all was forgotten.
  private(set) var generation: UInt64 = 0

  /// Forgets all items.
  mutating func forget() {
    generation &+= 1
    guard !isEmpty else { return }
    for place in entries.indices { entries[place] = nil }
    isEmpty = true
  }

  /// Takes the place of what another store remembered: its generations go on here, so that none of them is met again.
  mutating func follow(_ before: RecentItems) {
    forget()
    generation = max(generation, before.generation) &+ 1
  }

  /// The place of a name, by FNV-1a: a bad distribution costs time and nothing else.
  private static func place(_ name: ItemName) -> Int {
    var hash: UInt32 = 2_166_136_261
    let bytes = name.text.utf8.span
    for index in bytes.indices { hash = (hash ^ UInt32(bytes[index])) &* 16_777_619 }
    return Int(hash % UInt32(places))
  }
}
