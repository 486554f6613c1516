import VaultCore
import VaultModel

/// Everything in memory that was made with the vault's keys, or describes records that are sealed to these keys, except
/// the keys themselves.
///
/// A rekey replaces this value together with the keys, so nothing in here outlives them. Anything that a keychain keeps
/// and that another key would make worthless belongs in here. If such a thing waits to be written, ``isSettled`` and
/// ``Keychain/settle()`` must cover it as well. One thing that belongs here cannot be here: a check in progress,
/// because it changes while it reads the rest. ``Keychain/takeOver(_:_:)`` drops that check by name.
struct KeyBound: ~Copyable {
  /// The identity of the keys, by which a call recognizes what it sealed before under the same keys.
  let identity = KeyIdentity()
  /// The chain of the audit log that is being written; nil before the first entry.
  var audit: AuditWriting?
  /// True once the earlier part of the log is known to be intact, so that the whole log is trusted.
  var isAuditJoined = false
  /// The walk over the earlier part of the log, until it is over.
  var auditJoin: AuditWalk?
  /// The fault because of which nothing can be removed from within the earlier part; nil if there is none.
  var auditFault: String?
  /// The first and the last of those entries in the earlier part that nothing authenticates; nil if there are none.
  var unvouchedAudit: (first: Int64, last: Int64)?
  /// The vault's public key. See ``Keychain/publicKey``.
  var publicKey: [UInt8]?
  /// The known content of the table of deposits; nil until it is first needed.
  var depositTable: DepositTable?
  /// The walk that reads the table of deposits again after an unlock; nil unless it is under way.
  var depositWalk: DepositWalk?
  /// The walk that reads the table for the first time after the store was opened; nil unless it is under way.
  var depositOutlines: DepositWalk?
  /// The numbers and identities of the deposits that were left since the store was opened and were not taken in yet.
  var leftDeposits: [Int64: ItemID] = [:]
  var recent = RecentItems()
  /// The places of items in the store. They go with the store because row numbers belong to this store alone.
  var places = ItemPlaces()
  /// The searches in the trash that are under way. Their rows belong to this store alone, too.
  var trashSearches = TrashSearches()

  /// True when nothing in here waits to be written.
  var isSettled: Bool {
    switch audit {
    case .some(let writing): writing.unwrittenBytes == 0
    case .none: true
    }
  }
}

extension Keychain {
  /// Writes everything in memory that is sealed to the present keys and waits to be written, and waits until it is on
  /// the disk.
  ///
  /// - Throws: ``VaultError/storage(_:)``, ``VaultError/diskFull``. What was not written waits as before.
  func settle() throws(VaultError) {
    if !bound.isSettled { try writeAudit(anchored: false) }
  }
}
