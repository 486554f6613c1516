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
    guard field.mayBeSame(as: item), let name = try? ItemName(item.name) else { return false }
    if let kept = kept[name] { return field.isSame(as: kept.value, of: item) }
    guard let value = try value(of: item) else { return false }
    if bytes + value.value.count <= Self.most {
      kept[name] = value
      bytes += value.value.count
    }
    return field.isSame(as: value.value, of: item)
  }

  /// The current value of an item; nil if it requires a person's proof, and nobody gives it.
  private func value(of item: Wire.Item) throws(Failure) -> Kept? {
    do throws(Failure) {
      return Kept(try session.unlocking(for: "vault import") { vault in try vault.get(item.name, expired: true) })
    } catch {
      guard !item.isReadable else { throw error }
      return nil
    }
  }
}
