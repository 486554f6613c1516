internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The names that the items in the log have now, for all readers.
final class AuditNames: SecretHolder {
  /// The present state of the item that an entry is about.
  enum Item {
    /// The item has the name in the entry.
    case same
    /// The item has another name.
    case renamed(ItemName, Policy)
    /// The item does not exist, or is in the trash.
    case gone
  }

  private struct Named: Hashable {
    let id: ItemID
    let name: String

    static func == (one: Named, other: Named) -> Bool {
      one.id == other.id && one.name.utf8.elementsEqual(other.name.utf8)
    }
  }

  /// The most names that are remembered, and the rows that are read between two readings of the clock.
  private static let (most, rows) = (4096, 256)

  private var known: [Named: Item] = [:]
  private var changes: UInt64?

  /// The present state of an entry's item; nil if the time was up before it was found.
  func item(
    _ id: ItemID, named name: String, _ keychain: Keychain, isTimeUp: () -> Bool
  ) throws(VaultError) -> Item? {
    if changes != keychain.changeCount { (known, changes) = ([:], keychain.changeCount) }
    let named = Named(id: id, name: name)
    if let item = known[named] { return item }
    guard let item = try found(id, name, keychain, isTimeUp) else { return nil }
    if known.count >= Self.most { known = [:] }
    known[named] = item
    return item
  }

  private func found(
    _ id: ItemID, _ name: String, _ keychain: Keychain, _ isTimeUp: () -> Bool
  ) throws(VaultError) -> Item? {
    if let own = try? ItemName(name), let there = try? keychain.item(named: own), there.id == id { return .same }
    if let item = other(id, keychain) { return item }
    while try !keychain.findPlaces(rows: Self.rows) { if isTimeUp() { return nil } }
    return other(id, keychain) ?? .gone
  }

  private func other(_ id: ItemID, _ keychain: Keychain) -> Item? {
    do throws(VaultError) {
      return try keychain.item(id).map { $0.trashed == nil ? .renamed($0.name, $0.policy) : .gone }
    } catch {
      // If the item cannot be read, nothing more is shown than what the log has.
      return .same
    }
  }

  /// Forgets all names.
  func forget() { (known, changes) = ([:], nil) }

  override func letGo(for lock: Lock) { forget() }

  override func outlives(_ lock: Lock) -> Bool { !known.isEmpty }
}
