public import VaultCore
public import VaultModel

/// The grants for items of one class as they were read, and the set that their records are. They count where
/// ``Keychain/grants(of:among:)`` says so.
public struct ReadGrants {
  /// Those that open.
  public fileprivate(set) var records: [GrantRecord] = []
  public fileprivate(set) var set = RecordSet()
  /// False when one of them does not open.
  fileprivate(set) var isWhole = true
  /// The reason why no more of them were read; nil where all were.
  public fileprivate(set) var problem: VaultError?

  /// True when there is none.
  var isEmpty: Bool { problem == nil && isWhole && records.isEmpty }
}

/// The reading of all grants, in steps, with keys of its own: for those that an unlock is to know from its beginning on it
/// begins before that, while nothing is open.
///
/// It tells what was read, and not that this is what was stored last: ``Keychain/grants(of:among:)`` judges that.
public final class GrantWalk {
  /// The rows between two looks at the clock.
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
  /// The number of the next row; nil at the end.
  private var next: Int64? = .min
  /// The number of rows that were looked at, each once.
  private var count = 0
  private var problem: VaultError?
  private var texts = GrantTexts()
  private let plaintext = Scratch()

  /// Begins to read what a vault key opens, but for the classes of which `known` has the set that was stored last.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the key does not open the classes.
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
    if keys.isEmpty { next = nil }
  }

  /// Reads what the keys in memory open, of these classes.
  init(_ keychain: Keychain, _ classes: [AccessClass]) {
    for accessible in classes { keys[accessible] = keychain.withKeys(accessible) { Keys($0) } }
  }

  /// Goes on until the time is up; true at the end, or where the table cannot be read on, which ``found`` tells then.
  public func step(_ keychain: Keychain, isTimeUp: () -> Bool) -> Bool {
    guard let first = next else { return true }
    next = nil
    defer { plaintext.wipe() }
    do throws(VaultError) { try read(keychain, from: first, isTimeUp) } catch { problem = error }
    return next == nil
  }

  private func read(_ keychain: Keychain, from first: Int64, _ isTimeUp: () -> Bool) throws(VaultError) {
    var left = Self.stride
    try keychain.database.eachGrant(from: first) { (found: Result<GrantRow, VaultError>) throws(VaultError) in
      // One that cannot be read counts towards no set: where it stands for one that did, the set is another one.
      let row = try? found.get()
      if let row, left == 0, isTimeUp() {
        next = row.row
        return false
      }
      guard count < Database.mostGrantRows else { throw Database.tooManyGrants }
      count += 1
      guard let row else { return true }
      left = left == 0 ? Self.stride : left - 1
      if let keys = keys[row.accessible] { take(row, keys, keychain.vault) }
      return true
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
    } catch { read.isWhole = false }
    self.read[row.accessible] = read
  }

  /// The grants that were read of each class, at the end.
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
