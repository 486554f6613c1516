package import VaultModel

/// An event that watchers are told of.
package enum VaultEvent {
  package enum Change: String, Sendable {
    case created, updated, deleted, moved
  }

  case state(LockState)
  /// An item has changed. `to` is the new name of a moved item; `version` is the version of a created or updated item
  /// that is served now; `keyring` is the number by which a keyring's clients knew an item that is deleted.
  case item(ItemName, Change, to: ItemName? = nil, version: Int? = nil, keyring: KeyringID? = nil)
  /// The check of the store has failed, for this reason.
  case integrityFailed(String)
  /// The request with this number has changed. Administrators are told.
  case request(QuestionNumber, RequestChange)

  /// The event of an item that was stored. The version number does not tell whether the item is new: a change that
  /// keeps the value also keeps the number, even the first one.
  static func item(_ name: ItemName, _ stored: StoredVersion) -> VaultEvent {
    .item(name, stored.isNew ? .created : .updated, version: stored.number)
  }
}
