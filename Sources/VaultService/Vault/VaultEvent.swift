package import VaultModel

/// Something that those who watch are told.
package enum VaultEvent {
  package enum Change: String, Sendable {
    case created, updated, deleted, moved
  }

  case state(LockState)
  /// `to` is the new name of a moved item, `version` the one that is served now of a created or updated one.
  case item(ItemName, Change, to: ItemName? = nil, version: Int? = nil)
  /// The check of the store failed, for that reason.
  case integrityFailed(String)
  /// Something came of a request, by its number: for administrators.
  case request(Int, RequestChange)

  /// An item that was stored, by the version that was made.
  static func item(_ name: ItemName, stored version: Int) -> VaultEvent {
    .item(name, version == 1 ? .created : .updated, version: version)
  }
}
