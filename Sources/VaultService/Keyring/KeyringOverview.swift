internal import VaultCore
package import VaultModel
internal import VaultStore

/// A collection, as its owner sees it in an overview.
package struct KeyringOverview {
  package let collection: CollectionID
  /// Nil if it is empty, or cannot be read now.
  package let label: String?
  package let isDefault: Bool
  /// The number of items; nil if it cannot be told now, and for ``CollectionID/shared``.
  package let items: Int?
}

extension Keyring {
  /// All collections, for an administrator.
  package func overview(for caller: Caller) -> [KeyringOverview] {
    let standard = collection(alias: "default")
    return collections.map { collection in
      let label = (try? describe(collection, for: caller))?.label ?? ""
      return KeyringOverview(
        collection: collection, label: label.isEmpty ? nil : label, isDefault: collection == standard,
        items: count(of: collection))
    }
  }

  private func count(of collection: CollectionID) -> Int? {
    switch collection {
    case .session: return ofSession.count
    case .shared: return nil
    case .login, .made:
      guard vault.hidesNames == false, let folder = collection.folder else { return nil }
      return try? vault.openKeychain?.count(within: folder, limit: 1_000_000)
    }
  }
}
