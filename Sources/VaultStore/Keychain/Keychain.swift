public import VaultCore
public import VaultModel

/// A vault's items: names, values, versions and policies, in a ``Database`` that never has them unencrypted.
///
/// The keychain holds class keys as long as it may: none after opening the file, those of `always` items after
/// ``openAlways(bootKey:)``, all after ``unlock(vaultKey:)``. It has one owner, takes no locks and has no clock: times
/// are passed in as Unix seconds. If an item's record, or its place, is not exactly what was written, the answer is
/// ``VaultError/corrupt(_:)`` and never another value.
public final class Keychain {
  /// The largest value in bytes.
  public static let maximumValue = ValueLimits.bytes
  /// The most versions of a value that are kept; the oldest are deleted first.
  public static let keptVersions = 10
  /// The most bytes that all versions except the current one have together; the oldest are deleted first. The limit is
  /// there because a change of policy writes all versions of an item again, and a deletion overwrites them, in one
  /// transaction for which everybody waits.
  public static let keptBytes = 1 << 20

  /// The vault's random identity, 16 bytes, which slots are bound to.
  public var vaultID: [UInt8] { vault.bytes }
  /// A copy of the key that seals the search positions given to clients; nil before the keys of `always` items are in
  /// memory.
  public var cursorKey: SecureBytes? {
    switch keys.always.cursors {
    case .some(let key): key.withBytes { SecureBytes(copying: $0) }
    case .none: nil
    }
  }
  /// The slots, by id. A slot whose record cannot be read is in ``damagedSlots`` instead.
  public internal(set) var slots: [SlotRecord] {
    get { slotTable.slots }
    set { slotTable.slots = newValue }
  }
  /// The ids of slots whose records cannot be read. The other slots still open the vault.
  public internal(set) var damagedSlots: [UInt32] {
    get { slotTable.damaged }
    set { slotTable.damaged = newValue }
  }
  private var slotTable = (slots: [SlotRecord](), damaged: [UInt32]())

  /// The same identity as a ``VaultID``.
  public var identity: VaultID { vault }
  let vault: VaultID
  // Replaced by another database at the end of a rekey.
  var database: Database
  var keys = HeldKeys()
  // The facts in the class records. They are readable without a key from the opening on, so that they can be shown, and
  // trusted once the class's key was in memory. They are not secret, and a lock does not remove them.
  var facts = ByClass<ClassRecord.Facts?>(repeating: nil)
  var isVouchedFor = ByClass<Bool>(repeating: false)
  var transaction = OpenTransaction()
  var bound = KeyBound()
  /// The versions that deposits have made of their items, kept until all waiting deposits are taken in, even if a lock
  /// or a rekey comes in between. See ``takenBase(of:_:)``.
  var takenBases: [ItemID: (base: TakenBase, name: ItemName)] = [:]
  /// The number of bytes of the audit log that were written before a first unlock, until the anchor counts them.
  var earlyAudit: Int64 = 0
  /// True when the boot key has opened the keys of `always` items since the store was opened.
  var opensWithBootKey = false
  /// The public key of the vault's box (``SealedBox``), 32 bytes; nil until the vault was unlocked since the store was
  /// opened, because the key in the store could be somebody else's.
  public var publicKey: [UInt8]? { bound.publicKey }
  var spare: Scratch? = Scratch()
  var changes = RecordChanges(isListing: false)
  var pass: VerifyPass?
  // The source of a backup while a backup is being made.
  var snapshot: Snapshot?
  /// The known condition of the records as a whole.
  public var integrity: IntegrityState { pass?.state ?? lastResult }
  // The result of the last check that covered everything; a check in progress does not change it. Once a fault was
  // found, in a check or outside of one, the result is `.failed` as long as the store is open.
  var lastResult: IntegrityState { verdict.failure == nil ? verdict.lastCheck : .failed }
  var verdict = Verdict()
  /// Called with the first fault that is found outside of a check, described without names.
  public var whenMet: (String) -> Void = { _ in }
  /// Called when keys were taken into memory.
  public var whenKeysTaken: () -> Void = {}
  /// Checks that a value is a key for a use, together with the attributes that go with that use, and returns the key's
  /// public half in SSH's format, if it has one. This module does not know any kind of key itself.
  public var keyCheck: (KeyUse, RawSpan, [String: String]) throws(ValueError) -> [UInt8]? = { _, _, _ in nil }
  /// Checks that the parts of a value belong together, for a value that is not the key of a use.
  public var partsCheck: (ItemKind, RawSpan) throws(ValueError) -> Void = { _, _ in }
  // True while a salvage reads the records.
  var isBeingSalvaged: Bool {
    get { database.takesUnreadableForDamage }
    set { database.takesUnreadableForDamage = newValue }
  }
  // The rows that committed transactions have changed, while a rekey needs to know them.
  var touched: Set<Int64>?
  // The numbers of the deposits and of the grants that committed transactions have changed, likewise.
  var touchedDeposits: Set<Int64>?
  var touchedGrants: Set<Int64>?
  // The deposits and grants that committed transactions have changed, while a salvage needs to know them.
  var salvaged: (deposits: Set<Int64>, grants: Set<Int64>)?
  // The file of the old store after a rekey.
  var displaced: DisplacedFile?
  /// True when the files are closed: by ``close()``, or because they could not be opened again after another store had
  /// taken their place. Nothing can be read or written here any more; ``init(opening:)`` shows what exists.
  public var isGone: Bool { database.lock == nil }
  /// True when vault.db is a copy that was made without the log that belongs to it, or has lost that log. The newest
  /// writes are missing then, and no record shows it.
  public var isCopy: Bool { database.isCopy }
  /// True when, at opening, the log had a part of a change behind the last complete change. That part was dropped.
  public var hadUnfinishedChange: Bool { database.connection.hadRemains }

  /// Opens the vault in `directory`. The vault belongs to this process alone until ``close()`` or until the keychain is
  /// released.
  ///
  /// - Throws: ``VaultError/noVault``; ``VaultError/inUse(pid:)``; ``VaultError/permissions(_:)``;
  ///   ``VaultError/corrupt(_:)`` and ``VaultError/newer(_:)``, after which no file was changed;
  ///   ``VaultError/storage(_:)``.
  public init(opening directory: String) throws(VaultError) {
    let database = try Database(opening: directory)
    let id: [UInt8]?
    do throws(VaultError) { id = try database.meta(MetaName.vaultID) } catch .corrupt(let reason) {
      throw .corrupt("the vault's identity cannot be read: \(reason)")
    }
    guard let id, let vault = try? VaultID(id) else { throw .corrupt("the vault has no identity") }
    self.database = database
    self.vault = vault
    try readFacts()
    try readSlots()
    if slots.isEmpty { throw .corrupt("no slot can be read") }
    database.trust()
    if !isRekeying { _ = try? removeStaleStore() }
  }

  /// Makes a vault with new class keys, and closes it again.
  ///
  /// The directory is made if it is missing. The whole vault is on the disk when this returns, and nothing is left when
  /// this throws or is cut off.
  /// - Parameters:
  ///   - slots: slots made for this `vaultID` and `vaultKey`, at least one of them of a lasting kind.
  ///   - vaultID: 16 random bytes.
  ///   - vaultKey: 32 random bytes, which the slots wrap.
  ///   - bootKey: 32 random bytes, which open `always` items from boot on.
  ///   - now: Unix seconds.
  /// - Throws: ``VaultError/vaultExists`` when anything has the database's name; ``VaultError/lastSlot`` without
  ///   a lasting slot; ``VaultError/inUse(pid:)``, ``VaultError/permissions(_:)``, ``VaultError/storage(_:)``.
  public static func create(
    in directory: String, slots: [SlotRecord], vaultID: [UInt8], vaultKey: borrowing SecureBytes,
    bootKey: borrowing SecureBytes, now: Int64
  ) throws(VaultError) {
    guard let highest = slots.map(\.id).max(), Set(slots.map(\.id)).count == slots.count,
      slots.contains(where: \.kind.facts.isLasting)
    else { throw .lastSlot }
    guard let vault = try? VaultID(vaultID) else { throw .corrupt("a vault id has 16 bytes") }
    let whenUnlocked = RandomBytes.secret(count: 32)
    let afterFirstUnlock = RandomBytes.secret(count: 32)
    let always = RandomBytes.secret(count: 32)
    func wrap(_ classKey: borrowing SecureBytes, _ accessible: AccessClass) -> (name: String, sealed: [UInt8]) {
      let sealed = KeyWrap.wrap(classKey: classKey, of: accessible, under: .vault, key: vaultKey, vaultID: vault)
      return (KeyName.vault(accessible), sealed)
    }
    let sealedForBoot = KeyWrap.wrap(classKey: always, of: .always, under: .boot, key: bootKey, vaultID: vault)
    let wrapped = [
      wrap(whenUnlocked, .whenUnlocked), wrap(afterFirstUnlock, .afterFirstUnlock), wrap(always, .always),
      (KeyName.boot, sealedForBoot),
      (KeyName.box, SealedBox.publicKey(of: Subkey.box.derive(from: whenUnlocked))),
    ]
    guard highest < ClassRecord.lastSlot else { throw .corrupt("a slot has an impossible number") }
    try Database.create(in: directory) { (database: Database) throws(VaultError) in
      try database.putMeta(MetaName.vaultID, vault.bytes)
      for (name, sealed) in wrapped { try database.putKey(name, sealed) }
      for slot in slots { try database.insertSlot(Int64(slot.id), slot.encoded()) }
      let keychain = Keychain(database, vault)
      keychain.keys.whenUnlocked = ClassKeys(classKey: whenUnlocked, of: .whenUnlocked)
      keychain.keys.afterFirstUnlock = ClassKeys(classKey: afterFirstUnlock, of: .afterFirstUnlock)
      keychain.keys.always = ClassKeys(classKey: always, of: .always)
      let facts = ClassRecord.Facts(time: now, nextRow: 1, nextSlot: highest + 1)
      try keychain.writeFirstRecords(ByClass(repeating: facts))
    }
  }

  struct OpenTransaction {
    var state = TransactionState.none
    /// The latest time that was given to the transaction.
    var stamp: Int64?
  }

  /// The class keys that are in memory.
  struct HeldKeys: ~Copyable {
    var whenUnlocked = ClassKeys()
    var afterFirstUnlock = ClassKeys()
    var always = ClassKeys()
    /// Integrity keys derived for one change, in a state in which the keychain does not hold them.
    var lent = LentKeys()
  }

  /// The results of checks, and the faults that were found outside of them.
  struct Verdict {
    var lastCheck = IntegrityState.unchecked
    /// The first fault found since the store was opened.
    var failure: Finding?
    /// The error of that fault, if it is that an open file has lost its name.
    var loss: VaultError?
    /// The texts of all these faults, at most ``mostMet`` of them.
    var met: Set<String> = []
    static let mostMet = 256
    /// The faults found since the check in progress began, and the faults that no check would find. The result of the
    /// check includes them.
    var doubts: [Finding] = []
  }

  /// Wraps a database that is being made. No slot is read, and no key is in memory.
  init(_ database: Database, _ vault: VaultID) {
    self.database = database
    self.vault = vault
  }
}

/// The names in the table `keys`.
enum KeyName {
  static func vault(_ accessible: AccessClass) -> String { accessible.name }
  static let boot = "always.boot"
  /// The public key of the vault's box, not encrypted.
  static let box = "box"

  /// The part of the hashes that covers the row of that name; 0 for a name that is not one of ours.
  static func part(_ name: String) -> UInt32 {
    if name == boot { return 4 }
    if name == box { return 5 }
    return AccessClass(name: name).map { UInt32($0.rawValue) } ?? 0
  }

  /// The name of the row that a part of the hashes covers.
  static func name(part: UInt32) -> String {
    if part == 4 { return boot }
    if part == 5 { return box }
    return UInt8(exactly: part).flatMap(AccessClass.init(rawValue:))?.name ?? "of another name"
  }
}

/// The names in the table `meta`.
enum MetaName {
  static let all = [vaultID, staleSlots, rekeying, LogMark.name, auditEnd, auditAnchor]
  static let vaultID = "vault-id"
  static let staleSlots = "stale-slots"
  static let rekeying = "rekeying"
  static let auditEnd = "audit-end"
  static let auditAnchor = "audit-anchor"

  static func encode(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }

  static func decode(_ bytes: [UInt8]) -> UInt32? {
    bytes.count == 4 ? bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } : nil
  }
}
