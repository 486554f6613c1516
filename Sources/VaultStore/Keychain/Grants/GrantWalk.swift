internal import VaultBytes
public import VaultCore
public import VaultModel

/// The grants for items of one class as they were read, and the set of their records. They count only if
/// ``Keychain/grants(of:among:)`` accepts them.
public struct ReadGrants {
  /// The records that open.
  public fileprivate(set) var records: [GrantRecord] = []
  /// The same records, sealed, in the same order; empty unless the reading keeps them.
  public fileprivate(set) var sealed: [SealedGrant] = []
  public fileprivate(set) var set = RecordSet()
  /// False when one of the records does not open.
  fileprivate(set) var isWhole = true
  /// The reason why no more records were read; nil when all were read.
  public fileprivate(set) var problem: VaultError?

  /// True when there is no record at all.
  var isEmpty: Bool { problem == nil && isWhole && records.isEmpty }
}

/// One record of the grants as it stands in the store, sealed.
public struct SealedGrant {
  let row: GrantRow
}

/// The reading of all grants, in steps, with keys of its own. An unlock that must know the grants from the start begins
/// this walk before it opens the vault.
///
/// The walk reports what it read. It does not judge whether this is what was stored last;
/// ``Keychain/grants(of:among:)`` does.
public final class GrantWalk {
  /// The number of rows between two checks of the time.
  private static let stride = 32

  private final class Keys {
    let grants: SecureBytes
    let integrity: SecureBytes

    init(classKey: borrowing SecureBytes) {
      grants = Subkey.grants.derive(from: classKey)
      integrity = Subkey.integrity.derive(from: classKey)
    }

    init?(_ keys: borrowing ClassKeys) {
      guard let grants = Self.copy(of: keys.grants), let integrity = Self.copy(of: keys.integrity) else { return nil }
      self.grants = grants
      self.integrity = integrity
    }

    private static func copy(of key: borrowing SecureBytes?) -> SecureBytes? {
      switch key {
      case .some(let key): key.withBytes { SecureBytes(copying: $0) }
      case .none: nil
      }
    }
  }

  private var keys: [AccessClass: Keys] = [:]
  private var read: [AccessClass: ReadGrants] = [:]
  /// The place that the walk has reached, and whether that is its end.
  private var place = Database.RowPlace()
  private var isOver = false
  private var problem: VaultError?
  private var texts = GrantTexts()
  private var keepsSealed = false
  private let plaintext = Scratch()

  /// Begins to read the grants that a vault key opens, except for the classes whose set in `known` is the one that was
  /// stored last.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the key does not open the class keys.
  public init(
    _ keychain: Keychain, vaultKey: borrowing SecureBytes, known: [AccessClass: RecordSet]
  ) throws(VaultError) {
    for accessible in AccessClass.allCases {
      let own = Keys(classKey: try keychain.unwrap(accessible, under: .vault, vaultKey))
      if let set = known[accessible], set == (try? keychain.classRecord(accessible, key: own.integrity))?.grants {
        continue
      }
      keys[accessible] = own
    }
    isOver = keys.isEmpty
  }

  /// Begins to read the grants of these classes that the keys in memory open.
  ///
  /// - Parameter keepsSealed: true to keep the records in their sealed form as well.
  init(_ keychain: Keychain, _ classes: [AccessClass], keepsSealed: Bool = false) {
    self.keepsSealed = keepsSealed
    for accessible in classes { keys[accessible] = keychain.withKeys(accessible) { Keys($0) } }
  }

  /// Continues until the time is up. True at the end, and also when the table cannot be read any further, which
  /// ``found`` then reports.
  public func step(_ keychain: Keychain, isTimeUp: () -> Bool) -> Bool {
    if isOver { return true }
    defer { plaintext.wipe() }
    isOver = true
    do throws(VaultError) { try read(keychain, isTimeUp) } catch { problem = error }
    return isOver
  }

  private func read(_ keychain: Keychain, _ isTimeUp: () -> Bool) throws(VaultError) {
    var left = Self.stride
    try keychain.database.eachGrant(from: &place) { (found: Result<GrantRow, VaultError>) throws(VaultError) in
      // A row that cannot be read counts towards no set. If the row counted before it was damaged, the set differs from
      // the stored one.
      if case .success(let row) = found, let keys = keys[row.accessible] { take(row, keys, keychain.vault) }
      left -= 1
      guard left == 0 else { return true }
      left = Self.stride
      isOver = !isTimeUp()
      return isOver
    }
  }

  private func take(_ row: GrantRow, _ keys: Keys, _ vault: VaultID) {
    let place = GrantRecord.place(row.id, vault, row.accessible)
    var read = self.read.removeValue(forKey: row.accessible) ?? ReadGrants()
    read.set.insert(row.sealed.withSpan { RecordMark(place, $0, key: keys.integrity) })
    do throws(CryptoError) {
      try row.sealed.withSpan { (sealed: RawSpan) throws(CryptoError) in
        try plaintext.open(sealed, key: keys.grants, associatedData: place)
      }
      let record = try plaintext.withBytes { (bytes: RawSpan) throws(CryptoError) in
        try GrantRecord(decoding: bytes, id: row.id, &texts)
      }
      read.records.append(record)
      if keepsSealed { read.sealed.append(SealedGrant(row: row)) }
    } catch { read.isWhole = false }
    self.read[row.accessible] = read
  }

  /// The grants of each class that were read, at the end of the walk.
  public var found: [AccessClass: ReadGrants] {
    var found: [AccessClass: ReadGrants] = [:]
    for accessible in keys.keys {
      found[accessible] = read[accessible] ?? ReadGrants()
      found[accessible]?.problem = problem
    }
    return found
  }
}

extension ClassRecord {
  /// The set of the grants that were stored last.
  var grants: RecordSet { sets[Keychain.grantsPlace] }
}
