internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The values of the vault that an import reads: to recognize items that are there already, and to compare what it
/// stored with the source.
final class ReadBack {
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

  /// Compares everything that was stored with the source.
  ///
  /// - Returns: the names of the items that differ.
  func differing(_ stored: [ImportStoring.Stored], _ steps: [ImportStep], run: String) throws(Failure) -> [String] {
    var names: [String] = []
    let progress = Progress()
    defer { progress.clear() }
    for (number, one) in stored.enumerated() {
      progress.show(ProgressBar.text("comparing", number, of: stored.count, ""))
      if let present = steps[one.step].present, !present.isReadable { continue }
      if try !isAsStored(one, steps[one.step], run), names.last != one.name { names.append(one.name) }
    }
    return names
  }

  private func isAsStored(_ one: ImportStoring.Stored, _ step: ImportStep, _ run: String) throws(Failure) -> Bool {
    let value: Value = try session.unlocking { vault in
      try vault.read(one.name, version: one.version, expired: true, describe: one.isLast)
    }
    guard value.bytes.isSame(as: one.field.value) else { return false }
    guard one.isLast, let item = value.item else { return true }
    return item.attributes == step.attributes(run: run) && (step.present != nil || item.kind == step.item.kind.rawValue)
  }
}
