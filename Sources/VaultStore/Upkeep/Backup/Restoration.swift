public import VaultCore
import VaultModel

/// A vault that is being made from a backup (vault-backup(5)), piece by piece as the pieces arrive.
///
/// The pieces go to a file of another name. That file becomes the vault only when each piece was authenticated, and the
/// whole is a vault that the given key opens. So at any moment, even after a power cut, there is either no vault or all
/// of it. A restoration that is abandoned leaves nothing behind.
public struct Restoration: BackupTaking, ~Copyable {
  private let header: BackupHeader
  private var database: IncomingDatabase
  private var reader: BackupReader

  public var expected: Int? { reader.expected }

  /// Begins a restoration into `directory`.
  ///
  /// - Parameter vaultKey: the vault key that one of the header's slots gave.
  /// - Throws: ``VaultError/vaultExists``; ``VaultError/corrupt(_:)`` when the key is not the backup's;
  ///   ``VaultError/inUse(pid:)``, ``VaultError/permissions(_:)``, ``VaultError/storage(_:)``.
  public init(of header: BackupHeader, in directory: String, vaultKey: borrowing SecureBytes) throws(VaultError) {
    let database = try IncomingDatabase(in: directory)
    let reader = try BackupReader(header, vaultKey: vaultKey)
    self.init(header, reader, database)
  }

  // A separate initializer without the steps that can fail: a noncopyable value is initialized as a whole or not at
  // all.
  private init(_ header: BackupHeader, _ reader: consuming BackupReader, _ database: consuming IncomingDatabase) {
    self.header = header
    self.reader = reader
    self.database = database
  }

  public mutating func take(_ sealed: RawSpan) throws(VaultError) {
    try reader.take(sealed) { (plaintext, count) throws(VaultError) in try database.write(plaintext, count) }
  }

  /// Checks the database that arrived, adapts it to this machine, and makes it the vault. The vault is closed then, as
  /// after ``Keychain/create(in:slots:vaultID:vaultKey:bootKey:now:)``.
  ///
  /// - Parameters:
  ///   - vaultKey: the same vault key as before.
  ///   - bootKey: 32 bytes that open `always` items from boot on, on this machine.
  ///   - ready: called when the vault lacks only its name, to write down what must exist before the vault does.
  /// - Returns: the slots that were left out, because they need the machine on which they were made.
  /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/newer(_:)``; ``VaultError/vaultExists``;
  ///   ``VaultError/storage(_:)``; what `ready` throws. Then no vault was made.
  public mutating func finish(
    vaultKey: borrowing SecureBytes, bootKey: borrowing SecureBytes, _ ready: () throws(VaultError) -> Void
  ) throws(VaultError) -> [SlotRecord] {
    guard expected == nil else { throw .corrupt("it is cut short") }
    let leftOut = try Keychain.adopt(header, try database.open(), vaultKey: vaultKey, bootKey: bootKey)
    try database.putInPlace(ready)
    return leftOut
  }
}

extension Keychain {
  /// Checks that a copied database is what the header says, and adapts it to this machine.
  fileprivate static func adopt(
    _ header: BackupHeader, _ database: Database, vaultKey: borrowing SecureBytes, bootKey: borrowing SecureBytes
  ) throws(VaultError) -> [SlotRecord] {
    guard let id = try database.meta(MetaName.vaultID), id == header.vaultID.bytes else {
      throw .corrupt("it holds a different vault than its header says")
    }
    let keychain = Keychain(database, header.vaultID)
    try keychain.readFacts()
    try keychain.readSlots()
    try keychain.unlock(vaultKey: vaultKey)
    try keychain.checkFewRows()
    let leftOut = keychain.slots.filter { !$0.kind.facts.isPortable }
    guard keychain.slots.filter({ !leftOut.contains($0) }) == header.slots else {
      throw .corrupt("it holds different slots than its header says")
    }
    try keychain.setBootKey(bootKey, vaultKey: vaultKey)
    try keychain.transaction { () throws(VaultError) in
      for slot in leftOut { try keychain.removeSlot(id: slot.id, given: [], vaultKey: vaultKey) }
      try keychain.suspendGrants()
    }
    try database.checkpoint()
    return leftOut
  }
}
