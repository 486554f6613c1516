internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The values that items had before their present ones. A program that has read such a value may still write it.
struct EarlierValues {
  /// The most values that are kept of one item; the oldest is dropped.
  static let most = 32

  private final class Value {
    let bytes: SecretBuffer

    init(_ bytes: RawSpan) { self.bytes = SecretBuffer(copying: bytes) }
  }

  private var values: [ItemReference: [Value]] = [:]
  /// The versions whose values are known, or cannot be read any more.
  private var versions: [ItemName: Set<Int>] = [:]

  init() {}

  /// The items with earlier values.
  var items: some Sequence<ItemReference> { values.keys }

  /// Keeps a value, unless it is already kept.
  mutating func add(_ value: RawSpan, of item: ItemReference) {
    let isKept = values[item, default: []].contains { kept in
      kept.bytes.withBytes { $0.hasSameBytes(as: value) }
    }
    if isKept { return }
    values[item, default: []].append(Value(value))
    if values[item, default: []].count > Self.most { values[item]?.removeFirst() }
  }

  /// Notes that the values of these versions are known.
  mutating func note(_ known: [ItemName: Int]) {
    for (name, version) in known { versions[name, default: []].insert(version) }
  }

  /// Returns the versions of an item that are unknown and between known ones, the newest first; those that are too old
  /// to be kept are left out.
  func skipped(of name: ItemName) -> [Int] {
    guard let known = versions[name], let first = known.min(), let last = known.max() else { return [] }
    return (max(first, last - Self.most)..<last).reversed().filter { !known.contains($0) }
  }

  /// Returns the newest version of an item that is known; nil if none is.
  func newest(of name: ItemName) -> Int? { versions[name]?.max() }

  /// Lends each earlier value of an item to `body`. The bytes must not leave the closure.
  func forEach<E: Error>(of item: ItemReference, _ body: (RawSpan) throws(E) -> Void) throws(E) {
    for value in values[item] ?? [] { try value.bytes.withBytes { bytes throws(E) in try body(bytes) } }
  }
}
