internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The values of the vault that an import reads to recognize the items that are there already.
///
/// Each value is read once, and most of them ahead: see ``ExpectedValues``. A value that cannot be read in this way,
/// because it is large, because it requires a person's proof, or because the daemon refuses it or has gone away, is
/// read by a call of its own, and only when it is compared. So nobody is asked for the proof of an item that is not.
final class PresentValues {
  /// A value that wipes itself.
  final class Kept {
    let value: Value

    init(_ value: consuming Value) { self.value = value }
  }

  /// The most bytes that values which are kept for further comparisons take, and the bytes that one takes besides its
  /// own. Values that came ahead count as well.
  static let most = 64 << 20
  static let overhead = 256

  private let expected: ExpectedValues
  private let read: (Wire.Item) throws(Failure) -> Value
  private let most: Int
  private var kept: [ItemName: Kept] = [:]
  private var bytes = 0
  /// The items whose values require a person's proof that nobody gave.
  private(set) var uncompared: Set<ItemName> = []

  /// - Parameter items: the items that are probably compared, in the order of ``ImportPlan/expected(_:_:_:now:)``.
  convenience init(_ session: Session, expecting items: [Wire.Item]) {
    self.init(ExpectedValues(items, ReadingAhead(session.vault))) { item throws(Failure) in
      try session.unlocking(for: "vault import") { vault in try vault.read(item.name, expired: true) }
    }
  }

  /// - Parameter read: reads one value by a call of its own.
  init(_ expected: ExpectedValues, most: Int = most, read: @escaping (Wire.Item) throws(Failure) -> Value) {
    (self.expected, self.most, self.read) = (expected, most, read)
  }

  /// True if an item's current value is that of the field.
  func isSame(_ field: SourceField, _ item: Wire.Item) throws(Failure) -> Bool {
    guard field.mayBeSame(as: item), let name = try? ItemName(item.name) else { return false }
    if let kept = kept[name] { return field.isSame(as: kept.value.bytes, of: item) }
    guard let found = try found(name, item) else { return false }
    keep(name, found)
    return field.isSame(as: found.value.bytes, of: item)
  }

  private func found(_ name: ItemName, _ item: Wire.Item) throws(Failure) -> Kept? {
    if let came = expected.take(name, passing: keep) { return came }
    let value = try value(of: item)
    if value == nil { uncompared.insert(name) }
    return value
  }

  private func keep(_ name: ItemName, _ value: Kept) {
    let cost = value.value.bytes.count + Self.overhead
    guard bytes + cost <= most, kept[name] == nil else { return }
    kept[name] = value
    bytes += cost
  }

  /// The current value of an item; nil if it requires a person's proof, and nobody gives it.
  private func value(of item: Wire.Item) throws(Failure) -> Kept? {
    do throws(Failure) { return Kept(try read(item)) } catch {
      guard !item.isReadable else { throw error }
      return nil
    }
  }
}
