public import VaultCore
public import VaultModel

// Taking keys into memory, lending them and wiping them.
extension Keychain {
  /// Takes all class keys into memory. When a class record is not authentic, the store is served nonetheless, and
  /// ``integrity`` is ``IntegrityState/failed`` from then on.
  ///
  /// It does not judge the origin of the vault key: a slot that gave it must have passed
  /// ``check(_:vaultKey:)`` just before.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when `vaultKey` does not open them, because it is another vault's or they
  ///   were changed. Then the keys in memory are the same as before.
  public func unlock(vaultKey: borrowing SecureBytes) throws(VaultError) {
    let newWhenUnlocked = ClassKeys(classKey: try unwrap(.whenUnlocked, under: .vault, vaultKey), of: .whenUnlocked)
    let newAfterFirstUnlock = ClassKeys(
      classKey: try unwrap(.afterFirstUnlock, under: .vault, vaultKey), of: .afterFirstUnlock)
    let newAlways = ClassKeys(classKey: try unwrap(.always, under: .vault, vaultKey), of: .always)
    bound.recent.forget()
    // Read and looked at anew, now that the key is there.
    bound.depositTable = nil
    keys.whenUnlocked = newWhenUnlocked
    keys.afterFirstUnlock = newAfterFirstUnlock
    keys.always = newAlways
    learnPublicKey()
    AccessClass.allCases.forEach(vouch)
    dropForeignRekey()
    whenKeysTaken()
  }

  /// Takes the keys of `always` items into memory, for which nobody has to be there. A class record that is not
  /// authentic has the same effect as at an unlock.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when `bootKey` does not open them.
  public func openAlways(bootKey: borrowing SecureBytes) throws(VaultError) {
    let newAlways = ClassKeys(classKey: try unwrap(.always, under: .boot, bootKey), of: .always)
    bound.recent.forget()
    keys.always = newAlways
    opensWithBootKey = true
    vouch(for: .always)
    whenKeysTaken()
  }

  /// Wraps the `always` keys under another boot key, for a vault that came to another machine.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when `vaultKey` does not open them.
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
  /// `always` items are still served, and so are `after-first-unlock` items if `keepingAfterFirstUnlock`; otherwise
  /// these are as they were before the first unlock.
  public func lock(hidingNames: Bool, keepingAfterFirstUnlock: Bool = true) {
    if hidingNames || !keepingAfterFirstUnlock {
      bound.recent.forget()
      // The store has their marks.
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
    bound.auditJoin = nil
  }

  /// Wipes all keys: the state is that after opening the file.
  public func wipe() {
    wipeAllButLog()
    bound.audit = nil
  }

  /// Wipes all keys but the one with which the next record of the audit log is sealed, which opens none that is there.
  /// So what is written between this and ``close()`` is vouched for like the records before it.
  public func wipeAllButLog() {
    bound.recent.forget()
    takenBases = [:]
    keys.whenUnlocked.forgetAll()
    keys.afterFirstUnlock.forgetAll()
    keys.always.forgetAll()
    bound.isAuditJoined = false
    bound.auditJoin = nil
    pass?.forgetNames()
    pass?.thaw()
    pass?.forgetAudit()
    isVouchedFor = ByClass(repeating: false)
  }

  /// True when values of a class can be read and written now.
  public func opensValues(of accessible: AccessClass) -> Bool {
    withKeys(accessible) { $0.opensValues }
  }

  /// True when names of a class can be looked up and searched now.
  public func opensNames(of accessible: AccessClass) -> Bool {
    withKeys(accessible) { $0.opensMetadata }
  }

  /// True when all names can be looked up, so that what is not found does not exist.
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
      throw .corrupt("the key \(name) does not open")
    }
  }
}
