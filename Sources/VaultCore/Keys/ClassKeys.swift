public import VaultModel

/// The purposes of the keys that are derived from a class key. The numbers are part of the format.
public enum Subkey: UInt64, CaseIterable, Sendable {
  /// Seals value records.
  case values = 1
  /// Seals head records.
  case metadata = 2
  /// Makes the blind tags of names and attributes.
  case tags = 3
  /// Seals access grants.
  case grants = 4
  /// Authenticates the multiset hashes over the tables.
  case integrity = 5
  /// Authenticates the beginnings of the audit log's chains. Only the audit keys of `when-unlocked` and, before the
  /// first unlock, of `always` are used.
  case audit = 6
  /// Seals backups. Only the key of `after-first-unlock` is used.
  case backup = 7
  /// The secret key of the vault's box. Only the key of `when-unlocked` is used.
  case box = 8
  /// Authenticates deposits.
  case deposits = 9
  /// Seals the search positions that clients receive. Only the key of `always` is used.
  case cursors = 10
  /// Wraps the key of the items that only the daemon's memory has. Only the key of `after-first-unlock` is used.
  case session = 11

  /// Derives the subkey from a class key (`crypto_kdf`, context `classkey`).
  public func derive(from classKey: borrowing SecureBytes) -> SecureBytes {
    KDF.subkey(rawValue, context: "classkey", of: classKey)
  }
}

/// The keys of one access class that are in memory. The class key itself is not kept.
public struct ClassKeys: ~Copyable, Sendable {
  /// Opens and seals values. Wiped by ``forgetValues()``.
  public private(set) var values: SecureBytes?
  /// Opens and seals heads: names, attributes and policy. Wiped by ``forgetNames()``.
  public private(set) var metadata: SecureBytes?
  /// Makes tags. Wiped by ``forgetNames()``.
  public private(set) var tags: SecureBytes?
  /// Opens and seals grants. Wiped by ``forgetValues()``.
  public private(set) var grants: SecureBytes?
  /// Authenticates the class's set of records. Wiped by ``forgetValues()``.
  public private(set) var integrity: SecureBytes?
  /// Authenticates the beginnings of the audit log's chains; nil for `after-first-unlock`. Wiped by ``forgetValues()``.
  public private(set) var audit: SecureBytes?
  /// Seals backups; nil except for `after-first-unlock`, so that an idle lock does not prevent a backup. The key opens
  /// backups, in which the records are sealed as they are in the store. Wiped by ``forgetValues()``.
  public private(set) var backup: SecureBytes?
  /// The secret key of the vault's box, which opens what was sealed to the vault while the vault was locked; nil except
  /// for `when-unlocked`. Wiped by ``forgetValues()``.
  public private(set) var box: SecureBytes?
  /// Authenticates deposits for items of the class while the class is locked. The key opens
  /// nothing. Wiped by ``forgetDeposits()``.
  public private(set) var deposits: SecureBytes?
  /// Seals the search positions that clients receive; nil except for `always`. The key opens no
  /// record. Wiped by ``forgetNames()``.
  public private(set) var cursors: SecureBytes?
  /// Wraps the key of the items that only the daemon's memory has; nil except for `after-first-unlock`. Wiped by
  /// ``forgetValues()``.
  public private(set) var session: SecureBytes?

  /// Makes a set without keys.
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
    case .afterFirstUnlock:
      backup = Subkey.backup.derive(from: classKey)
      session = Subkey.session.derive(from: classKey)
    case .always:
      audit = Subkey.audit.derive(from: classKey)
      cursors = Subkey.cursors.derive(from: classKey)
    }
  }

  /// Copies every key into new buffers.
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
    copy.session = Self.copy(of: session)
    return copy
  }

  private static func copy(of key: borrowing SecureBytes?) -> SecureBytes? {
    switch key {
    case .some(let key): key.withBytes { SecureBytes(copying: $0) }
    case .none: nil
    }
  }

  /// True if values can be opened.
  public var opensValues: Bool { values != nil }
  /// True if heads can be opened and items looked up.
  public var opensMetadata: Bool { metadata != nil }

  /// Wipes the keys that open values and grants and that authenticate records. Names can still be searched.
  public mutating func forgetValues() {
    values = nil
    grants = nil
    integrity = nil
    audit = nil
    backup = nil
    box = nil
    session = nil
  }

  /// Wipes also the keys that open names.
  public mutating func forgetNames() {
    forgetValues()
    metadata = nil
    tags = nil
    cursors = nil
  }

  /// Wipes the key that authenticates deposits: nobody can leave a deposit until the class is unlocked.
  public mutating func forgetDeposits() { deposits = nil }

  /// Wipes all keys.
  public mutating func forgetAll() {
    forgetNames()
    forgetDeposits()
  }
}
