import VaultCore
import VaultModel

/// Everything in memory that was made with the keys of the vault, or tells of what lies sealed to them, beside the
/// keys.
///
/// A rekey puts another one in its place, together with the keys, so nothing in here outlives them. Whatever a keychain
/// keeps that another key would make worthless belongs in here, and where it waits to be written, in ``isSettled`` and
/// ``Keychain/settle()`` as well. A check that is under way, which also belongs here, cannot be: it changes while it
/// reads the rest. ``Keychain/takeOver(_:_:)`` drops it by name.
struct KeyBound: ~Copyable {
  /// The identity of the keys, by which a call knows what it has sealed before under the same ones.
  let identity = KeyIdentity()
  /// The chain of the audit log that is written to; nil before the first entry.
  var audit: AuditWriting?
  /// True once the part of the log that was there before is known to be whole, so that all of it can be vouched for.
  var isAuditJoined = false
  /// The walk over that part, until it is over.
  var auditJoin: AuditWalk?
  /// The first and the last entry of that part that nobody vouches for.
  var unvouchedAudit: (first: Int64, last: Int64)?
  /// See ``Keychain/publicKey``.
  var publicKey: [UInt8]?
  /// The known content of the table of deposits; nil until somebody wants to know it.
  var depositTable: DepositTable?
  /// The numbers and identities of what was left since the store was opened, and was not taken in yet.
  var leftDeposits: [Int64: ItemID] = [:]
  var recent = RecentItems()
  /// The places of items in the store: the rows are this store's own.
  var places = ItemPlaces()

  /// True when nothing of it waits to be written.
  var isSettled: Bool {
    switch audit {
    case .some(let writing): writing.unwrittenBytes == 0
    case .none: true
    }
  }
}

extension Keychain {
  /// Writes whatever waits in memory sealed to the present keys, and waits until it is on the disk.
  ///
  /// - Throws: ``VaultError/storage(_:)``, ``VaultError/diskFull``: it waits as before then.
  func settle() throws(VaultError) {
    if !bound.isSettled { try writeAudit(anchored: false) }
  }
}
