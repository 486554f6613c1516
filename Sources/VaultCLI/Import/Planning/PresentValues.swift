internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The values of the vault that an import reads to recognize the items that are there already.
final class PresentValues {
  /// The most bytes of values that are kept for further comparisons.
  private static let most = 64 << 20

  private final class Kept {
    let value: SecretBuffer

    init(_ value: consuming SecretBuffer) { self.value = value }
  }

  private let session: Session
  private var kept: [ItemName: Kept] = [:]
  private var bytes = 0

  init(_ session: Session) { self.session = session }

  /// True if an item's current value is that of the field.
  func isSame(_ field: SourceField, _ item: Wire.Item) throws(Failure) -> Bool {
    guard field.value.count == item.size, let name = try? ItemName(item.name) else { return false }
    if let kept = kept[name] { return kept.value.isSame(as: field.value) }
    let value = Kept(try session.unlocking(for: "vault import") { vault in try vault.get(item.name, expired: true) })
    if bytes + value.value.count <= Self.most {
      kept[name] = value
      bytes += value.value.count
    }
    return value.value.isSame(as: field.value)
  }
}
