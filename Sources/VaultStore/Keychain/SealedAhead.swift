import VaultCore
import VaultModel

/// The versions that changes seal again, and their new values, sealed before the changes, in parts: so that these take
/// less long themselves, and others have their turn between the parts.
///
/// It holds nothing in the clear, and counts for one revision of each item under the keys that it was made with. Where
/// an item was changed meanwhile, or the keys were, the change seals everything itself.
public final class SealedAhead {
  /// The most bytes that are sealed in one part, but for one version that is longer.
  static let part = 1 << 20
  /// The bytes that a change seals by itself.
  public static let little = 256 << 10
  /// The most parts that are sealed for one change: twice as many as a change can have, so that it is made one day
  /// however often others change the item.
  static let mostParts = 2 * (Keychain.keptVersions + 1)

  /// The sealed values for the next revision of one item.
  private struct Item {
    /// The columns of that revision. Whatever changes the item counts it, so that other columns come of it then.
    let columns: HeadColumns
    var versions: [Int: SealedValue] = [:]
  }

  /// A new value, with all that it was checked and sealed for.
  struct Value {
    let place: ValuePlace
    /// The record that it was read from; nil where it came with the call.
    let source: Digest?
    let size: Int
    let facts: ValueFacts
    let sealed: SealedValue
  }

  /// The identities of items that the changes make.
  private var newItems: [ItemName: ItemID] = [:]
  private var items: [ItemID: Item] = [:]
  /// The new values, one for each item at most.
  private var values: [(value: Value, keys: KeyIdentity)] = []
  private var keys: KeyIdentity?
  private(set) var partsLeft = SealedAhead.mostParts

  public init() {}

  /// The number of versions that are sealed.
  var count: Int { items.values.reduce(0) { $0 + $1.versions.count } }

  /// Drops what is not for one of these revisions under these keys.
  func begin(_ revisions: [NextRevision], _ keys: KeyIdentity) {
    if self.keys !== keys { (self.keys, items) = (keys, [:]) }
    var kept: [ItemID: Item] = [:]
    for next in revisions {
      let identity = next.columns.item
      if let item = items[identity], item.columns == next.columns {
        kept[identity] = item
      } else {
        kept[identity] = Item(columns: next.columns)
      }
    }
    items = kept
  }

  /// Counts a part that is about to be sealed.
  func beginPart() { partsLeft -= 1 }

  /// The identity of an item that a change makes.
  func newItem(named name: ItemName) -> ItemID {
    if let identity = newItems[name] { return identity }
    let identity = ItemID.random()
    newItems[name] = identity
    return identity
  }

  /// Keeps a new value, in place of another one of the same item.
  func add(_ value: Value, _ keys: KeyIdentity) {
    values.removeAll { $0.keys !== keys || $0.value.place.item == value.place.item }
    values.append((value, keys))
  }

  /// The new value that was sealed for a place under these keys; nil where none was.
  func value(for place: ValuePlace, from source: Digest?, _ keys: KeyIdentity) -> Value? {
    values.first { $0.keys === keys && $0.value.place == place && $0.value.source == source }?.value
  }

  /// True when a new value is sealed, for whatever place.
  public var hasValue: Bool { !values.isEmpty }

  func has(_ version: VersionInfo, of next: NextRevision) -> Bool {
    items[next.columns.item]?.versions[version.number] != nil
  }

  func add(_ value: SealedValue, to next: NextRevision) {
    items[next.columns.item]?.versions[value.version] = value
  }

  /// Takes out a version that was sealed for a revision under these keys; nil where it was not.
  func take(_ number: Int, of next: NextRevision, _ keys: KeyIdentity) -> SealedValue? {
    let identity = next.columns.item
    guard self.keys === keys, items[identity]?.columns == next.columns else { return nil }
    return items[identity]?.versions.removeValue(forKey: number)
  }
}

/// All that a new value is sealed for, and checked against.
struct ValuePlace: Equatable {
  private let columns: HeadColumns
  var item: ItemID { columns.item }
  let kind: ItemKind
  let use: KeyUse?
  let attributes: [String: String]

  init(_ columns: HeadColumns, _ kind: ItemKind, _ use: KeyUse?, _ attributes: [String: String]) {
    self.columns = columns.ofValue
    (self.kind, self.use, self.attributes) = (kind, use, attributes)
  }

  init(_ next: NextRevision) { self.init(next.columns, next.item.kind, next.item.use, next.item.attributes) }
}

/// The identity of the keys in memory: others have another one.
final class KeyIdentity {}
