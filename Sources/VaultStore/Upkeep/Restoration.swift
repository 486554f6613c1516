public import VaultCore
import VaultModel

/// A vault that is being made from a backup (vault-backup(5)), piece by piece as they come.
///
/// The pieces go to a file of another name. Only when each of them has been authenticated, and the whole of it is a
/// vault that the given key opens, does that file become the vault. So until then there is none, and after it there is
/// all of it, whenever the power goes. Given up earlier, it leaves nothing.
public struct Restoration: ~Copyable {
  /// The number of bytes that ``take(_:)`` wants next; nil when it has all.
  public private(set) var expected: Int?
  private let header: BackupHeader
  private var database: IncomingDatabase
  private var opener: StreamOpener
  private var plaintext: [UInt8]
  private var index = 0

  /// Begins a restoration into `directory`.
  ///
  /// - Parameter vaultKey: the key that one of the header's slots gave.
  /// - Throws: ``VaultError/vaultExists``; ``VaultError/corrupt(_:)`` when the key is not that of the backup;
  ///   ``VaultError/inUse(pid:)``, ``VaultError/permissions(_:)``, ``VaultError/storage(_:)``.
  public init(of header: BackupHeader, in directory: String, vaultKey: borrowing SecureBytes) throws(VaultError) {
    let database = try IncomingDatabase(in: directory)
    let opener = try Self.open(header, vaultKey)
    self.init(header, opener, database)
  }

  // Apart from the steps that can fail: a noncopyable value is initialized as a whole or not at all.
  private init(_ header: BackupHeader, _ opener: consuming StreamOpener, _ database: consuming IncomingDatabase) {
    self.header = header
    self.opener = opener
    self.database = database
    plaintext = [UInt8](repeating: 0, count: header.pieceSize(0))
    expected = header.pieceSize(0) + StreamSealer.overhead
  }

  private static func open(
    _ header: BackupHeader, _ vaultKey: borrowing SecureBytes
  ) throws(VaultError) -> StreamOpener {
    do throws(CryptoError) { return try header.open(vaultKey: vaultKey) } catch {
      throw .corrupt("its header is damaged")
    }
  }

  /// Takes the next ``expected`` bytes.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` unless they are what the backup has there; ``VaultError/storage(_:)``.
  public mutating func take(_ sealed: RawSpan) throws(VaultError) {
    guard let expected, sealed.byteCount == expected else { throw .corrupt("it does not end where it should") }
    let isLast = index == header.pieces - 1
    let first = index == 0 ? header.encoded() : []
    let count: Int
    do throws(CryptoError) { count = try open(sealed, first, isLast: isLast) } catch {
      throw .corrupt(
        index == 0
          ? "it is damaged at its beginning" : "it is damaged \(index * BackupHeader.pieceCount) bytes into the store")
    }
    try database.write(plaintext, count)
    index += 1
    self.expected = isLast ? nil : header.pieceSize(index) + StreamSealer.overhead
  }

  private mutating func open(_ sealed: RawSpan, _ first: [UInt8], isLast: Bool) throws(CryptoError) -> Int {
    // Taken out, because the opener is accessed at the same time.
    var buffer: [UInt8] = []
    swap(&buffer, &plaintext)
    defer { swap(&buffer, &plaintext) }
    var span = buffer.mutableSpan
    var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    // Nor have these bytes any padding.
    return try opener.open(sealed, isLast: isLast, associatedData: unsafe first.span.bytes, into: &bytes)
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
