public import VaultCore
import VaultModel

/// The work of giving a vault a new vault key, and with it new class keys and new slots. Everything is sealed again, in
/// steps, while the items are served.
///
/// A second store is filled beside the live one, in the directory `rekey` inside the live store's directory, and takes
/// the live store's name at the end. Until then the live store is the vault: it is read and changed as always, and
/// changes in it are copied again. The new vault key lies in the live store, sealed under the old one, so that after a
/// lock, a crash or a power cut the rekey resumes with the next unlock. Items that the second store has in the same
/// revision are then skipped. Between any two steps, the files are either the old vault together with a second store
/// from which the rekey can resume, or the new vault.
///
/// A rekey needs all keys of the live keychain in memory, and holds the keys of the new one, which are wiped when the
/// rekey is released. The owner of the live keychain owns the rekey, too.
public final class Rekey {
  /// The name of the second store's directory within the directory of the live store.
  static let directoryName = "rekey"
  /// The number of records or bytes written before a commit. Each commit waits for the disk, as in the live store:
  /// otherwise a power cut could leave a log that looks like a damaged one.
  private static let batch = (records: 512, bytes: 1 << 20)
  /// The number of bytes of a value that count as one more record in a step.
  static let recordSize = 16 << 10

  enum Stage {
    /// Walks over the live items.
    case items
    /// Writes the tags that the walk has collected.
    case tags
    /// Removes items that the live store no longer has.
    case leftovers
    /// Copies the audit log.
    case audit
    /// Copies the deposits.
    case deposits
    /// Copies the grants.
    case grants
    /// Copies again the items that changed meanwhile; `isChecked` when the second store's records have been checked.
    case changed(isChecked: Bool)
    /// Checks the second store.
    case check
  }

  let source: Keychain
  let target: Keychain
  var stage = Stage.items
  /// The last live item that the walk has read.
  var position = Int64.min
  var walked = 0
  /// True when the walk has read the last item.
  var isWalkOver = false
  var leftover = Int64.min
  /// True when the second store may hold items that the live one does not have.
  var isResumed: Bool
  var tags = TagBatch()
  /// The copying of the deposits; nil before it begins.
  var deposits: DepositCopy?
  /// The copying of the grants; nil before it begins.
  var grants: GrantCopy?
  /// True when the live store's log was folded in shortly before the end.
  var isFolded = false
  private var saved: Keychain.Saved?
  /// The furthest place at which an error stopped the work; nil once a commit was made beyond it.
  private var faultPlace: (stage: Int, walked: Int)?
  typealias Written = (records: Int, bytes: Int)
  /// The records and bytes that were written since the last commit.
  var written: Written = (0, 0)
  /// Called at each step of the end, so that tests can examine the files at that moment, or make the step fail.
  var atStep: (ReplacementStep) throws(VaultError) -> Void = { _ in }

  /// Makes the second store and records that it must be filled. All keys of `source` must be in memory.
  ///
  /// - Parameters:
  ///   - carried: the slots from which `slots` were made: all slots that the vault has.
  ///   - slots: the slots of the new vault, made for this vault's id and `nextKey`.
  ///   - nextKey: 32 random bytes, the new vault key.
  ///   - vaultKey: the present vault key.
  ///   - bootKey: the key that opens `always` items from boot on.
  /// - Throws: ``VaultError/rekeying`` when a rekey is in progress; ``VaultError/lastSlot`` when none of `slots`
  ///   is lasting; ``VaultError/overtaken`` when the vault has other slots than `carried`; ``VaultError/corrupt(_:)``
  ///   for another vault's key and when a check of the live store has failed; ``VaultError/locked`` when keys of the
  ///   live store are no longer in memory; ``VaultError/storage(_:)``, also when there is no room for a second store.
  ///   Then nothing is left of the rekey.
  public init(
    _ source: Keychain, carrying carried: [SlotRecord], slots: [SlotRecord], nextKey: borrowing SecureBytes,
    vaultKey: borrowing SecureBytes, bootKey: borrowing SecureBytes, now: Int64
  ) throws(VaultError) {
    guard !source.isRekeying else { throw .rekeying }
    // From here to the mark of the rekey, which keeps the slots unchanged, nothing else uses the store.
    guard source.slots == carried else { throw .overtaken }
    guard !source.hasFailed else { throw .corrupt("the check of the store failed") }
    guard source.holdsAllKeys else { throw .locked }
    _ = try source.unwrap(.always, under: .vault, vaultKey)
    try Self.checkRoom(for: source)
    guard try source.removeStaleStore() else {
      throw .storage("\(Self.path(in: source)) does not belong to this vault; move it elsewhere")
    }
    let path = Self.path(in: source)
    do throws(VaultError) {
      try Keychain.create(
        in: path, slots: slots, vaultID: source.vaultID, vaultKey: nextKey, bootKey: bootKey,
        now: now)
      let next = NextVaultKey(sealing: nextKey, slots: slots, under: vaultKey, vaultID: source.vault)
      try source.write { () throws(VaultError) in
        try source.database.putMeta(MetaName.rekeying, next.encoded)
        try source.note(rekeying: next.encoded)
      }
      target = try Self.open(path, source, nextKey)
    } catch {
      try? source.dropRekey()
      throw error
    }
    self.source = source
    isResumed = false
    source.touched = []
  }

  /// Resumes a rekey that was begun earlier. All keys of `source` must be in memory.
  ///
  /// - Parameter nextKey: the key that ``Keychain/nextKey(vaultKey:)`` returned.
  /// - Throws: ``VaultError/secondStore(_:)`` when the second store is missing or not ours; ``VaultError/corrupt(_:)``
  ///   when the live store has failed. In both cases only ``Keychain/dropRekey()`` is left to do. Also
  ///   ``VaultError/locked``; ``VaultError/storage(_:)``.
  public init(resuming source: Keychain, nextKey: borrowing SecureBytes) throws(VaultError) {
    guard source.holdsAllKeys else { throw .locked }
    guard !source.hasFailed else { throw .corrupt("the check of the store failed") }
    self.source = source
    target = try Self.open(Self.path(in: source), source, nextKey)
    guard let next = source.nextVaultKey, target.damagedSlots.isEmpty, next.isFor(target.slots) else {
      throw .secondStore("its slots are not those that were made for it")
    }
    isResumed = true
    source.touched = []
  }

  deinit { source.forgetTouched() }

  static func path(in keychain: Keychain) -> String { keychain.database.path + "/" + directoryName }

  private static func open(
    _ path: String, _ source: Keychain, _ key: borrowing SecureBytes
  ) throws(VaultError) -> Keychain {
    do throws(VaultError) {
      let target = try Keychain(opening: path)
      guard target.vault == source.vault else { throw .corrupt("it is another vault's") }
      try target.unlock(vaultKey: key)
      try target.database.shrink()
      return target
    } catch { throw error.ofSecondStore }
  }

  // MARK: State

  /// The number of items that were examined, and the number of all items.
  public var progress: (done: Int, of: Int) {
    let count = Int(clamping: source.knownItems)
    return (min(walked, count), count)
  }

  /// The number of items, deposits and grants that changed meanwhile and must be copied again; nil in any stage other
  /// than ``Stage/changed(isChecked:)``.
  public var behind: Int? { if case .changed = stage { source.countOfTouched } else { nil } }

  /// True after an error, until work beyond the place of the error is on the disk.
  public var isBehindFault: Bool { faultPlace != nil }

  /// The place in the work, which increases as the work proceeds.
  private var place: (stage: Int, walked: Int) {
    switch stage {
    case .items, .tags: (0, walked)
    case .leftovers: (1, 0)
    case .audit: (2, 0)
    case .deposits: (3, 0)
    case .grants: (4, 0)
    case .changed(isChecked: false): (5, 0)
    case .check: (6, 0)
    case .changed(isChecked: true): (7, 0)
    }
  }

  /// The slots of the new vault.
  public var slots: [SlotRecord] { target.slots }

  // MARK: Steps

  /// Continues over at most `records` records. True when only ``finish(recording:now:)`` is left, which must follow at
  /// once.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when a live record is not authentic; ``VaultError/secondStore(_:)`` when the
  ///   second store is not what was written; ``VaultError/locked`` when keys of the live keychain are no longer in
  ///   memory; ``VaultError/storage(_:)``, which is also thrown as long as no check since the opening has found the
  ///   live store intact: a record that is not the latest would be sealed again as if it were. After an error in the
  ///   work, the next step compares from the first item on. The live store is unchanged in any case.
  public func step(records: Int) throws(VaultError) -> Bool {
    guard source.holdsAllKeys else { throw .locked }
    guard !source.hasFailed else { throw .corrupt("the check of the store failed") }
    guard source.isVerified else { throw .storage("the store has not been checked since it was opened") }
    do throws(VaultError) {
      return try findingFault { () throws(VaultError) in
        // A call of ``finish(recording:now:)`` that failed may have closed the second store.
        try target.reopen(Self.path(in: source))
        return try work(records)
      }
    } catch {
      startOver()
      throw error
    }
  }

  private func work(_ records: Int) throws(VaultError) -> Bool {
    if saved == nil, target.hasLongLog {
      // This has a step of its own. The end, which is one turn, then gets only the rest of the log to fold in.
      target.foldLog()
      return false
    }
    switch stage {
    case .items: try walkItems(records)
    case .tags: try writeTags(records)
    case .leftovers: try walkLeftovers(records)
    case .audit: try copyAudit(records)
    case .deposits: try copyDeposits(records)
    case .grants: try copyGrants(records)
    case .changed(let isChecked): return try copyChanged(records, isChecked)
    case .check: try check(records)
    }
    return false
  }

  func startOver() {
    if faultPlace.map({ place > $0 }) ?? true { faultPlace = place }
    if let saved { target.rollBack(saved) }
    saved = nil
    written = (0, 0)
    (stage, position, walked, leftover, isResumed) = (.items, .min, 0, .min, true)
    tags = TagBatch()
    (deposits, grants, isFolded) = (nil, nil, false)
    (source.touchedDeposits, source.touchedGrants) = (nil, nil)
  }

  // MARK: Transactions

  func begin() throws(VaultError) {
    if saved == nil { saved = try target.begin() }
  }

  func commit() throws(VaultError) {
    guard let saved else { return }
    self.saved = nil
    written = (0, 0)
    try target.commit(saved)
    if let faultPlace, place > faultPlace { self.faultPlace = nil }
  }

  func commitWhenDue() throws(VaultError) {
    if written.records >= Self.batch.records || written.bytes >= Self.batch.bytes { try commit() }
  }

  func count(_ head: HeadRecord) {
    written.records += 1
    for version in head.item.versions { written.bytes += version.size }
  }
}
