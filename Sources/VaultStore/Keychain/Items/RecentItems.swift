import VaultCore
import VaultModel

/// The items whose current values were read most recently, as they are in the store: the head opened, the value still
/// sealed.
///
/// Finding the row, and opening and reading the head, are three quarters of the work of a request for a small value. A
/// remembered item saves that work; its value is authenticated and opened again each time. This process is the only one
/// that can write to the store (its lock is exclusive), and the engine's own page cache would not read the disk again
/// either. So an entry is valid until a transaction begins here or the keys change. Then all entries are forgotten, and
/// nothing has to be kept in step.
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
  /// The longest sealed value that is remembered, in bytes; longer ones are not worth the memory.
  static let longestValue = 4096
  /// The longest sealed head of a remembered item, in bytes: attributes can take 100 KiB and more, and are kept opened.
  static let longestHead = 8192
  private var entries = [Entry?](repeating: nil, count: places)
  private var isEmpty = true

  /// The remembered item of that name; nil when it is not remembered.
  subscript(name: ItemName) -> Entry? {
    guard !isEmpty, let entry = entries[Self.place(name)], entry.item.name.text.hasSameBytes(as: name.text) else {
      return nil
    }
    return entry
  }

  /// Remembers an item, and forgets the item that had its place.
  mutating func remember(_ entry: Entry) {
    entries[Self.place(entry.item.name)] = entry
    isEmpty = false
  }

  /// The number of times that all items were forgotten.
  private(set) var generation: UInt64 = 0

  /// Forgets all items.
  mutating func forget() {
    generation &+= 1
    guard !isEmpty else { return }
    for place in entries.indices { entries[place] = nil }
    isEmpty = true
  }

  /// Forgets all items, for a store that takes the place of another one. The count of generations continues above the
  /// count of the other store, so that no generation comes a second time.
  mutating func follow(_ before: RecentItems) {
    forget()
    generation = max(generation, before.generation) &+ 1
  }

  /// The place for a name, by the FNV-1a hash. A bad distribution costs only time.
  private static func place(_ name: ItemName) -> Int {
    var hash: UInt32 = 2_166_136_261
    let bytes = name.text.utf8.span
    for index in bytes.indices { hash = (hash ^ UInt32(bytes[index])) &* 16_777_619 }
    return Int(hash % UInt32(places))
  }
}
