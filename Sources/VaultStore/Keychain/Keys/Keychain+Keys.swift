internal import VaultBytes
public import VaultCore
public import VaultModel

// The operations that take keys into memory, lend them and wipe them.
extension Keychain {
  /// Takes all class keys into memory. If a class record is not authentic, the store is served nonetheless, and
  /// ``integrity`` is ``IntegrityState/failed`` from then on.
  ///
  /// This method does not check where the vault key came from: if a slot gave it, that slot must have passed
  /// ``check(_:vaultKey:)`` just before.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when `vaultKey` does not open the class keys, because it belongs to another
  ///   vault or the wrapped keys were changed. Then the keys in memory are the same as before.
  public func unlock(vaultKey: borrowing SecureBytes) throws(VaultError) {
    let newWhenUnlocked = ClassKeys(classKey: try unwrap(.whenUnlocked, under: .vault, vaultKey), of: .whenUnlocked)
    let newAfterFirstUnlock = ClassKeys(
      classKey: try unwrap(.afterFirstUnlock, under: .vault, vaultKey), of: .afterFirstUnlock)
    let newAlways = ClassKeys(classKey: try unwrap(.always, under: .vault, vaultKey), of: .always)
    bound.recent.forget()
    // The table of deposits is read and checked again, in steps, now that the key is in memory. Until then, its known
    // content limits how many deposits can be left.
    bound.depositTable?.isVerified = false
    bound.depositWalk = DepositWalk()
    keys.whenUnlocked = newWhenUnlocked
    keys.afterFirstUnlock = newAfterFirstUnlock
    keys.always = newAlways
    learnPublicKey()
    AccessClass.allCases.forEach(vouch)
    dropForeignRekey()
    whenKeysTaken()
  }

  /// Takes the keys of `always` items into memory, which needs no person. A class record that is not authentic has the
  /// same effect as at an unlock.
  ///
  /// - Throws: ``wrongBootKey`` when `bootKey` does not open the keys; ``VaultError/corrupt(_:)`` when their record is
  ///   missing or cannot be read; ``VaultError/storage(_:)``.
  public func openAlways(bootKey: borrowing SecureBytes) throws(VaultError) {
    let newAlways = ClassKeys(classKey: try unwrap(.always, under: .boot, bootKey), of: .always)
    bound.recent.forget()
    keys.always = newAlways
    opensWithBootKey = true
    vouch(for: .always)
    whenKeysTaken()
  }

  /// Wraps the keys of `always` items under another boot key. This is for a vault that came to another machine.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when `vaultKey` does not open the keys.
  public func setBootKey(
    _ bootKey: borrowing SecureBytes, vaultKey: borrowing SecureBytes
  ) throws(VaultError) {
    let key = try unwrap(.always, under: .vault, vaultKey)
    let wrapped = KeyWrap.wrap(classKey: key, of: .always, under: .boot, key: bootKey, vaultID: vault)
    try change(vaultKey: vaultKey) { () throws(VaultError) in
      try database.putKey(KeyName.boot, wrapped)
      try note(key: KeyName.boot, wrapped)
    }
  }

  /// Wipes the keys to the values of `when-unlocked` items. Their names can still be searched, unless `hidingNames`.
  /// `always` items are still served. So are `after-first-unlock` items if `keepingAfterFirstUnlock`; otherwise their
  /// keys are wiped too, as before the first unlock.
  public func lock(hidingNames: Bool, keepingAfterFirstUnlock: Bool = true) {
    if hidingNames || !keepingAfterFirstUnlock {
      bound.recent.forget()
      // The bases can be found again: the deposits' notes in the store have the blind marks of the items.
      takenBases = [:]
    }
    if hidingNames { pass?.forgetNames() }
    pass?.thaw()
    pass?.forgetAudit()
    if hidingNames { keys.whenUnlocked.forgetNames() } else { keys.whenUnlocked.forgetValues() }
    if !keepingAfterFirstUnlock {
      keys.afterFirstUnlock.forgetAll()
      keys.whenUnlocked.forgetDeposits()
    }
    keys.lent = LentKeys()
    bound.auditJoin = nil
    bound.depositWalk = nil
  }

  /// Wipes all keys. The keychain is then in the state that it has after opening the file.
  public func wipe() {
    wipeAllButLog()
    bound.audit = nil
  }

  /// Wipes all keys except the one that seals the next record of the audit log, which opens no existing record. So
  /// records written between this call and ``close()`` are authenticated like the records before them.
  public func wipeAllButLog() {
    bound.recent.forget()
    takenBases = [:]
    keys.whenUnlocked.forgetAll()
    keys.afterFirstUnlock.forgetAll()
    keys.always.forgetAll()
    keys.lent = LentKeys()
    bound.isAuditJoined = false
    bound.auditJoin = nil
    bound.depositWalk = nil
    pass?.forgetNames()
    pass?.thaw()
    pass?.forgetAudit()
    isVouchedFor = ByClass(repeating: false)
  }

  /// True when values of this class can be read and written now.
  public func opensValues(of accessible: AccessClass) -> Bool {
    withKeys(accessible) { $0.opensValues }
  }

  /// True when names of this class can be looked up and searched now.
  public func opensNames(of accessible: AccessClass) -> Bool {
    withKeys(accessible) { $0.opensMetadata }
  }

  /// True when all names can be looked up, so that a name which is not found does not exist.
  public var knowsAllNames: Bool { AccessClass.allCases.allSatisfy(opensNames) }

  func withKeys<R: ~Copyable, E: Error>(
    _ accessible: AccessClass, _ body: (borrowing ClassKeys) throws(E) -> R
  ) throws(E) -> R {
    switch accessible {
    case .whenUnlocked: try body(keys.whenUnlocked)
    case .afterFirstUnlock: try body(keys.afterFirstUnlock)
    case .always: try body(keys.always)
    }
  }

  /// Lends the key that seals the values of a class.
  func withValueKey<R: ~Copyable>(
    _ accessible: AccessClass, _ body: (borrowing SecureBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try withKeys(accessible) { (keys: borrowing ClassKeys) throws(VaultError) in
      switch keys.values {
      case .some(let key): try body(key)
      case .none: throw .locked
      }
    }
  }

  /// Lends the key that seals the heads of a class.
  func withHeadKey<R: ~Copyable>(
    _ accessible: AccessClass, _ body: (borrowing SecureBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try withKeys(accessible) { (keys: borrowing ClassKeys) throws(VaultError) in
      switch keys.metadata {
      case .some(let key): try body(key)
      case .none: throw .locked
      }
    }
  }

  func unwrap(
    _ accessible: AccessClass, under wrapping: KeyWrap.WrappingKey, _ key: borrowing SecureBytes
  ) throws(VaultError) -> SecureBytes {
    let name = wrapping == .boot ? KeyName.boot : KeyName.vault(accessible)
    let found: [UInt8]?
    do throws(VaultError) { found = try database.key(name) } catch .corrupt(let reason) {
      throw .corrupt("the key \(name) cannot be read: \(reason)")
    }
    guard let wrapped = found else { throw .corrupt("the key \(name) is missing") }
    do throws(CryptoError) {
      return try wrapped.withSpan { (bytes: RawSpan) throws(CryptoError) in
        try KeyWrap.unwrap(bytes, of: accessible, under: wrapping, key: key, vaultID: vault)
      }
    } catch {
      throw Self.doesNotOpen(name)
    }
  }

  private static func doesNotOpen(_ name: String) -> VaultError { .corrupt("the key \(name) does not open") }

  /// The error for a boot key that is not this vault's, or for a changed record of the keys that it opens.
  public static let wrongBootKey = doesNotOpen(KeyName.boot)
}
