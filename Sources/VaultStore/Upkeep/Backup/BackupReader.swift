public import VaultCore
import VaultModel

/// A backup that is being read (vault-backup(5)), piece by piece as the pieces arrive. This reader writes nothing.
///
/// When it has taken the last piece, every byte of the backup is as it was written and in its place, and no byte is
/// missing.
public struct BackupReader: BackupTaking, ~Copyable {
  /// The number of bytes that ``take(_:_:)`` expects next; nil when the backup is complete.
  public private(set) var expected: Int?
  private let header: BackupHeader
  private var opener: StreamOpener
  private var plaintext: [UInt8]
  private var index = 0

  /// Begins to read a backup.
  ///
  /// - Parameter vaultKey: the vault key that one of the header's slots gave.
  /// - Throws: ``VaultError/corrupt(_:)`` when the key is not the backup's, or the header is damaged.
  public init(_ header: BackupHeader, vaultKey: borrowing SecureBytes) throws(VaultError) {
    let opener = try Self.open(header, vaultKey)
    self.init(header, opener)
  }

  // A separate initializer without the step that can fail: a noncopyable value is initialized as a whole or not at all.
  private init(_ header: BackupHeader, _ opener: consuming StreamOpener) {
    self.header = header
    self.opener = opener
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

  public mutating func take(_ sealed: RawSpan) throws(VaultError) {
    try take(sealed) { (_, _) throws(VaultError) in }
  }

  /// Takes the next ``expected`` bytes and passes the piece of the database that they contain to `body`: an array, and
  /// the number of bytes at its beginning that are the piece.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` unless these bytes are what the backup has there; what `body` throws.
  mutating func take(_ sealed: RawSpan, _ body: ([UInt8], Int) throws(VaultError) -> Void) throws(VaultError) {
    guard let expected, sealed.byteCount == expected else { throw .corrupt("it does not end where it should") }
    let isLast = index == header.pieces - 1
    let first = index == 0 ? header.encoded() : []
    let count: Int
    do throws(CryptoError) { count = try open(sealed, first, isLast: isLast) } catch {
      throw .corrupt(
        index == 0
          ? "it is damaged at its beginning" : "it is damaged \(index * BackupHeader.pieceCount) bytes into the store")
    }
    try body(plaintext, count)
    index += 1
    self.expected = isLast ? nil : header.pieceSize(index) + StreamSealer.overhead
  }

  private mutating func open(_ sealed: RawSpan, _ first: [UInt8], isLast: Bool) throws(CryptoError) -> Int {
    // The buffer is taken out of this value, because the opener is accessed at the same time.
    var buffer: [UInt8] = []
    swap(&buffer, &plaintext)
    defer { swap(&buffer, &plaintext) }
    var span = buffer.mutableSpan
    var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    // These bytes have no padding either.
    return try opener.open(sealed, isLast: isLast, associatedData: unsafe first.span.bytes, into: &bytes)
  }
}
