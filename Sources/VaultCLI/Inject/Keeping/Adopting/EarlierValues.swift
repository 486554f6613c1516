internal import VaultBytes
internal import VaultWire

/// The values that items had before their present ones. A program that has read such a value may still write it.
struct EarlierValues {
  /// The most values that are kept of one item; the oldest is dropped.
  private static let most = 32

  private final class Value {
    let bytes: SecretBuffer

    init(_ bytes: RawSpan) { self.bytes = SecretBuffer(copying: bytes) }
  }

  private var values: [ItemReference: [Value]] = [:]

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

  /// Lends each earlier value of an item to `body`. The bytes must not leave the closure.
  func forEach<E: Error>(of item: ItemReference, _ body: (RawSpan) throws(E) -> Void) throws(E) {
    for value in values[item] ?? [] { try value.bytes.withBytes { bytes throws(E) in try body(bytes) } }
  }
}
