import VaultCore
import VaultModel

/// The versions that changes seal again, and the new values of these changes, sealed in parts before the changes are
/// made. The changes themselves then take less time, and others have their turn between the parts.
///
/// This holds nothing unencrypted, and is valid for one revision of each item under the keys that sealed it. If an item
/// or the keys have changed meanwhile, the change seals everything itself.
public final class SealedAhead {
  /// The most bytes that are sealed in one part, unless a single version is longer.
  static let part = 1 << 20
  /// The number of bytes that a change seals by itself, without sealing ahead.
  public static let little = 256 << 10
  /// The most parts that are sealed for one change: twice as many as a change can have, so that the change is made
  /// eventually however often others change the item.
  static let mostParts = 2 * (Keychain.keptVersions + 1)

  /// The sealed values for the next revision of one item.
  private struct Item {
    /// The columns of that revision. Every change of the item increases its revision, so a changed item has other
    /// columns.
    let columns: HeadColumns
    var versions: [Int: SealedValue] = [:]
  }

  /// A new value, with everything for which it was checked and sealed.
  public struct Value {
    let place: ValuePlace
    /// The digest of the record that the value was read from; nil when the value came with the call.
    let source: Digest?
    let size: Int
    let facts: ValueFacts
    let sealed: SealedValue
  }

  /// The identities of the items that the changes make.
  private var newItems: [ItemName: ItemID] = [:]
  private var items: [ItemID: Item] = [:]
  /// The new values, at most one for each item.
  private var values: [(value: Value, keys: KeyIdentity)] = []
  private var keys: KeyIdentity?
  private(set) var partsLeft = SealedAhead.mostParts

  public init() {}

  /// The number of versions that are sealed.
  var count: Int { items.values.reduce(0) { $0 + $1.versions.count } }

  /// Drops everything that is not for one of these revisions under these keys.
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

  /// The identity of the item that a change makes under that name.
  func newItem(named name: ItemName) -> ItemID {
    if let identity = newItems[name] { return identity }
    let identity = ItemID.random()
    newItems[name] = identity
    return identity
  }

  /// Keeps a new value, in place of an earlier one of the same item.
  func add(_ value: Value, _ keys: KeyIdentity) {
    values.removeAll { $0.keys !== keys || $0.value.place.item == value.place.item }
    values.append((value, keys))
  }

  /// The new value that was sealed for a place under these keys; nil when there is none.
  func value(for place: ValuePlace, from source: Digest?, _ keys: KeyIdentity) -> Value? {
    values.first { $0.keys === keys && $0.value.place == place && $0.value.source == source }?.value
  }

  /// True when a new value is sealed, for any place.
  public var hasValue: Bool { !values.isEmpty }

  func has(_ version: VersionInfo, of next: NextRevision) -> Bool {
    items[next.columns.item]?.versions[version.number] != nil
  }

  func add(_ value: SealedValue, to next: NextRevision) {
    items[next.columns.item]?.versions[value.version] = value
  }

  /// Removes and returns a version that was sealed for a revision under these keys; nil when there is none.
  func take(_ number: Int, of next: NextRevision, _ keys: KeyIdentity) -> SealedValue? {
    let identity = next.columns.item
    guard self.keys === keys, items[identity]?.columns == next.columns else { return nil }
    return items[identity]?.versions.removeValue(forKey: number)
  }
}

/// Everything for which a new value is sealed, and against which it is checked.
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

/// The identity of the keys in memory. Other keys have another identity.
final class KeyIdentity {}
