public import VaultCore
import VaultModel

/// A backup that is being read (vault-backup(5)), piece by piece as they come. It writes nothing.
///
/// When it has taken the last piece, every byte of the backup is as it was written, in its place, and none is missing.
public struct BackupReader: BackupTaking, ~Copyable {
  /// The number of bytes that ``take(_:_:)`` wants next; nil when it has all.
  public private(set) var expected: Int?
  private let header: BackupHeader
  private var opener: StreamOpener
  private var plaintext: [UInt8]
  private var index = 0

  /// Begins to read.
  ///
  /// - Parameter vaultKey: the key that one of the header's slots gave.
  /// - Throws: ``VaultError/corrupt(_:)`` when the key is not that of the backup.
  public init(_ header: BackupHeader, vaultKey: borrowing SecureBytes) throws(VaultError) {
    let opener = try Self.open(header, vaultKey)
    self.init(header, opener)
  }

  // Apart from the step that can fail: a noncopyable value is initialized as a whole or not at all.
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

  /// Takes the next ``expected`` bytes, and hands over the piece of the database that they are: the first so many bytes of
  /// what `body` gets.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` unless they are what the backup has there; what `body` throws.
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
    // Taken out, because the opener is accessed at the same time.
    var buffer: [UInt8] = []
    swap(&buffer, &plaintext)
    defer { swap(&buffer, &plaintext) }
    var span = buffer.mutableSpan
    var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    // Nor have these bytes any padding.
    return try opener.open(sealed, isLast: isLast, associatedData: unsafe first.span.bytes, into: &bytes)
  }
}
