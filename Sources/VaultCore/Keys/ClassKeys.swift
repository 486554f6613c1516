public import VaultModel

/// The purposes of the keys that come from a class key. The numbers are part of the format.
public enum Subkey: UInt64, CaseIterable, Sendable {
  /// Seals value records.
  case values = 1
  /// Seals head records.
  case metadata = 2
  /// Makes the blind tags of names and attributes.
  case tags = 3
  /// For access grants.
  case grants = 4
  /// For the multiset hashes over the tables.
  case integrity = 5
  /// Vouches for the beginnings of the audit log's chains; that of `when-unlocked` and, for the time before the first
  /// unlock, that of `always` are used.
  case audit = 6
  /// Seals backups; that of `after-first-unlock` alone is used.
  case backup = 7
  /// The secret key of the vault's box; that of `when-unlocked` alone is used.
  case box = 8
  /// Vouches for deposits.
  case deposits = 9
  /// Seals the places in searches that clients are told; that of `always` alone is used.
  case cursors = 10

  /// Derives the key from the key of a class (`crypto_kdf`, context `classkey`).
  public func derive(from classKey: borrowing SecureBytes) -> SecureBytes {
    KDF.subkey(rawValue, context: "classkey", of: classKey)
  }
}

/// The keys of one access class that are in memory now. The class key itself is not kept.
public struct ClassKeys: ~Copyable, Sendable {
  /// Opens and seals values; gone after ``forgetValues()``.
  public private(set) var values: SecureBytes?
  /// Opens and seals heads: names, attributes, policy; gone after ``forgetNames()``.
  public private(set) var metadata: SecureBytes?
  /// Makes tags; gone after ``forgetNames()``.
  public private(set) var tags: SecureBytes?
  /// Opens and seals grants; gone after ``forgetValues()``.
  public private(set) var grants: SecureBytes?
  /// Authenticates the class's set of records; gone after ``forgetValues()``.
  public private(set) var integrity: SecureBytes?
  /// Vouches for the beginnings of the audit log's chains, where this is not `after-first-unlock`; gone after
  /// ``forgetValues()``.
  public private(set) var audit: SecureBytes?
  /// Seals backups, where this is `after-first-unlock`, so that an idle lock does not keep one from being made; gone after
  /// ``forgetValues()``. All it opens is records as they lie in the store, sealed.
  public private(set) var backup: SecureBytes?
  /// The secret key of the vault's box, where this is `when-unlocked`: it opens what was sealed to the vault while it was
  /// locked. Gone after ``forgetValues()``.
  public private(set) var box: SecureBytes?
  /// Vouches for what is left for items of the class while it is locked: it opens nothing. Gone after ``forgetDeposits()``.
  public private(set) var deposits: SecureBytes?
  /// Seals the places in searches that clients are told, where this is `always`: it opens no record. Gone after
  /// ``forgetNames()``.
  public private(set) var cursors: SecureBytes?

  /// No keys.
  public init() {}

  /// Derives the keys of a class.
  public init(classKey: borrowing SecureBytes, of accessible: AccessClass) {
    values = Subkey.values.derive(from: classKey)
    metadata = Subkey.metadata.derive(from: classKey)
    tags = Subkey.tags.derive(from: classKey)
    grants = Subkey.grants.derive(from: classKey)
    integrity = Subkey.integrity.derive(from: classKey)
    deposits = Subkey.deposits.derive(from: classKey)
    switch accessible {
    case .whenUnlocked:
      audit = Subkey.audit.derive(from: classKey)
      box = Subkey.box.derive(from: classKey)
    case .afterFirstUnlock: backup = Subkey.backup.derive(from: classKey)
    case .always:
      audit = Subkey.audit.derive(from: classKey)
      cursors = Subkey.cursors.derive(from: classKey)
    }
  }

  /// Another set of the same keys.
  public borrowing func copy() -> ClassKeys {
    var copy = ClassKeys()
    copy.values = Self.copy(of: values)
    copy.metadata = Self.copy(of: metadata)
    copy.tags = Self.copy(of: tags)
    copy.grants = Self.copy(of: grants)
    copy.integrity = Self.copy(of: integrity)
    copy.audit = Self.copy(of: audit)
    copy.backup = Self.copy(of: backup)
    copy.box = Self.copy(of: box)
    copy.deposits = Self.copy(of: deposits)
    copy.cursors = Self.copy(of: cursors)
    return copy
  }

  private static func copy(of key: borrowing SecureBytes?) -> SecureBytes? {
    switch key {
    case .some(let key): key.withBytes { SecureBytes(copying: $0) }
    case .none: nil
    }
  }

  /// True when values can be opened.
  public var opensValues: Bool { values != nil }
  /// True when heads can be opened and items looked up.
  public var opensMetadata: Bool { metadata != nil }

  /// Wipes what opens values and grants and vouches for records; names can still be searched.
  public mutating func forgetValues() {
    values = nil
    grants = nil
    integrity = nil
    audit = nil
    backup = nil
    box = nil
  }

  /// Wipes what opens names, too.
  public mutating func forgetNames() {
    forgetValues()
    metadata = nil
    tags = nil
    cursors = nil
  }

  /// Wipes what vouches for deposits: none can be left until the class is unlocked.
  public mutating func forgetDeposits() { deposits = nil }

  /// Wipes everything.
  public mutating func forgetAll() {
    forgetNames()
    forgetDeposits()
  }
}
