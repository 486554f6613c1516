import Glibc
public import VaultCore
import VaultModel

/// A vault that is being made from a backup (vault-backup(5)), piece by piece as they come.
///
/// The pieces go to a file of another name. Only when each of them has authenticated, and the whole of it is a vault that the
/// given key opens, does that file become the vault: so until then there is none, and after it there is all of it, whenever
/// the power goes. Given up earlier, it leaves nothing.
public struct Restoration: ~Copyable {
  /// How many bytes ``take(_:)`` wants next; nil when it has all.
  public private(set) var expected: Int?
  private let header: BackupHeader
  private let directory: StoreDirectory
  // Nobody else makes a vault here meanwhile.
  private let lock: StoreLock
  private var opener: StreamOpener
  private var plaintext: [UInt8]
  private var file: Int32
  private var index = 0

  /// Begins.
  ///
  /// - Parameter vaultKey: what one of the header's slots gave.
  /// - Throws: ``VaultError/vaultExists``; ``VaultError/corrupt(_:)`` when the key is not that of the backup;
  ///   ``VaultError/inUse(pid:)``, ``VaultError/permissions(_:)``, ``VaultError/storage(_:)``.
  public init(of header: BackupHeader, in directory: String, vaultKey: borrowing SecureBytes) throws(VaultError) {
    let folder = try StoreDirectory.openOrMake(directory)
    let lock = try Database.lockForNew(in: folder)
    let opener = try Self.open(header, vaultKey)
    let file = try Self.makeFile(in: folder)
    self.init(header, folder, lock, opener, file)
  }

  // Apart from what can fail: a part that cannot be copied is either made or not.
  private init(
    _ header: BackupHeader, _ directory: consuming StoreDirectory, _ lock: StoreLock,
    _ opener: consuming StreamOpener, _ file: Int32
  ) {
    self.header = header
    self.directory = directory
    self.lock = lock
    self.opener = opener
    self.file = file
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

  private static func makeFile(in directory: borrowing StoreDirectory) throws(VaultError) -> Int32 {
    try directory.makeFile(Database.newName)
    guard let file = try directory.openFile(Database.newName, O_WRONLY) else {
      throw SystemCall.error("open", directory.path(of: Database.newName), ENOENT)
    }
    return file
  }

  deinit {
    if file >= 0 { close(file) }
    // After the end there is none; before it, it is of no use.
    try? Database.removeUnfinished(in: directory)
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
    try write(count)
    index += 1
    self.expected = isLast ? nil : header.pieceSize(index) + StreamSealer.overhead
  }

  private mutating func open(_ sealed: RawSpan, _ first: [UInt8], isLast: Bool) throws(CryptoError) -> Int {
    // Taken out, because the opener is held at the same time.
    var buffer: [UInt8] = []
    swap(&buffer, &plaintext)
    defer { swap(&buffer, &plaintext) }
    var span = buffer.mutableSpan
    var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    // The same.
    return try opener.open(sealed, isLast: isLast, associatedData: unsafe first.span.bytes, into: &bytes)
  }

  private func write(_ count: Int) throws(VaultError) {
    let file = file
    var done = 0
    while done < count {
      let written = unsafe plaintext.withUnsafeBytes { bytes in
        // Read by the kernel, within what was opened.
        unsafe Glibc.write(file, bytes.baseAddress!.advanced(by: done), count - done)
      }
      if written < 0, errno == EINTR { continue }
      guard written >= 0 else { throw SystemCall.error("write", directory.path(of: Database.newName), errno) }
      done += written
    }
  }

  /// Checks what came, fits it to this machine, and makes it the vault: closed, as after ``Keychain/create(in:slots:vaultID:vaultKey:bootKey:now:)``.
  ///
  /// - Parameters:
  ///   - vaultKey: the same as before.
  ///   - bootKey: 32 bytes that open `always` items from boot here.
  ///   - ready: called when nothing but the name is missing any more, to put down what has to be there first.
  /// - Returns: the slots that were left out, because they need the machine that they were made on.
  /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/newer(_:)``; ``VaultError/vaultExists``;
  ///   ``VaultError/storage(_:)``; what `ready` throws. Then no vault was made.
  public mutating func finish(
    vaultKey: borrowing SecureBytes, bootKey: borrowing SecureBytes, _ ready: () throws(VaultError) -> Void
  ) throws(VaultError) -> [SlotRecord] {
    guard expected == nil else { throw .corrupt("it is cut short") }
    // Before SQLite sees it, too: a write that failed late shows here.
    if fsync(file) != 0 { throw SystemCall.error("fsync", directory.path(of: Database.newName), errno) }
    close(file)
    file = -1
    let leftOut = try Keychain.adopt(header, in: directory, lock, vaultKey: vaultKey, bootKey: bootKey)
    try Database.settle(in: directory)
    if directory.contains(Database.fileName) { throw .vaultExists }
    try ready()
    try Database.putInPlace(in: directory)
    return leftOut
  }
}

extension Keychain {
  /// Opens the copied database, checks that it is what the header says, and has it fit this machine.
  fileprivate static func adopt(
    _ header: BackupHeader, in directory: borrowing StoreDirectory, _ lock: StoreLock,
    vaultKey: borrowing SecureBytes, bootKey: borrowing SecureBytes
  ) throws(VaultError) -> [SlotRecord] {
    let database = try Database.openCopy(in: directory, lock)
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
    }
    try database.connection.checkpoint()
    return leftOut
  }
}
