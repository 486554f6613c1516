public import VaultCore
import VaultModel

/// A vault that is being made from a backup (vault-backup(5)), piece by piece as they come.
///
/// The pieces go to a file of another name. Only when each of them has been authenticated, and the whole of it is a
/// vault that the given key opens, does that file become the vault. So until then there is none, and after it there is
/// all of it, whenever the power goes. Given up earlier, it leaves nothing.
public struct Restoration: BackupTaking, ~Copyable {
  private let header: BackupHeader
  private var database: IncomingDatabase
  private var reader: BackupReader

  public var expected: Int? { reader.expected }

  /// Begins a restoration into `directory`.
  ///
  /// - Parameter vaultKey: the key that one of the header's slots gave.
  /// - Throws: ``VaultError/vaultExists``; ``VaultError/corrupt(_:)`` when the key is not that of the backup;
  ///   ``VaultError/inUse(pid:)``, ``VaultError/permissions(_:)``, ``VaultError/storage(_:)``.
  public init(of header: BackupHeader, in directory: String, vaultKey: borrowing SecureBytes) throws(VaultError) {
    let database = try IncomingDatabase(in: directory)
    let reader = try BackupReader(header, vaultKey: vaultKey)
    self.init(header, reader, database)
  }

  // Apart from the steps that can fail: a noncopyable value is initialized as a whole or not at all.
  private init(_ header: BackupHeader, _ reader: consuming BackupReader, _ database: consuming IncomingDatabase) {
    self.header = header
    self.reader = reader
    self.database = database
  }

  public mutating func take(_ sealed: RawSpan) throws(VaultError) {
    try reader.take(sealed) { (plaintext, count) throws(VaultError) in try database.write(plaintext, count) }
  }

  /// Checks what came in, fits it to this machine, and makes it the vault: closed, as after
  /// ``Keychain/create(in:slots:vaultID:vaultKey:bootKey:now:)``.
  ///
  /// - Parameters:
  ///   - vaultKey: the same as before.
  ///   - bootKey: 32 bytes that open `always` items from boot here.
  ///   - ready: called when nothing but the name is missing, to write down what has to be there first.
  /// - Returns: the slots that were left out, because they need the machine that they were made on.
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
  /// Checks that a copied database is what the header says, and fits it to this machine.
  fileprivate static func adopt(
    _ header: BackupHeader, _ database: Database, vaultKey: borrowing SecureBytes, bootKey: borrowing SecureBytes
  ) throws(VaultError) -> [SlotRecord] {
    guard let id = try database.meta(MetaName.vaultID), id == header.vaultID.bytes else {
      throw .corrupt("it holds another vault than it says")
    }
    let keychain = Keychain(database, header.vaultID)
    try keychain.readFacts()
    try keychain.readSlots()
    try keychain.unlock(vaultKey: vaultKey)
    try keychain.checkFewRows()
    let leftOut = keychain.slots.filter { !BackupHeader.portableKinds.contains($0.kind) }
    guard keychain.slots.filter({ !leftOut.contains($0) }) == header.slots else {
      throw .corrupt("it holds other slots than it says")
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
