package import VaultModel

/// Something that those who watch are told.
package enum VaultEvent {
  package enum Change: String, Sendable {
    case created, updated, deleted, moved
  }

  case state(LockState)
  /// `to` is the new name of a moved item.
  case item(ItemName, Change, to: ItemName? = nil)
  /// The check of the store failed, for that reason.
  case integrityFailed(String)
  /// Something came of a request, by its number: for administrators.
  case request(Int, RequestChange)
}
