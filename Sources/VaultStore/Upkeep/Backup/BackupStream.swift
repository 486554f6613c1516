internal import VaultBytes
import VaultCore
import VaultModel

/// A backup that is being made (vault-backup(5)): first its header, then the database in sealed pieces.
///
/// ``Keychain/beginBackup(now:)`` makes it. One thread may use it at a time. `@unchecked` holds because the owner of
/// the keychain hands it to another thread and does not use it again before that thread is done with it.
public final class BackupStream: @unchecked Sendable {
  /// The most bytes that ``next(into:)`` returns at once.
  public static let largestPart = max(BackupPrefix.maximumHeader, BackupHeader.pieceCount + StreamSealer.overhead)

  /// The total number of bytes of the backup.
  public let count: Int
  /// The time whose state the backup has, Unix seconds.
  public var created: Int64 { header.created }
  private let header: BackupHeader
  private let snapshot: Snapshot
  private var sealer: StreamSealer?
  private var plaintext: [UInt8] = []
  // The index of the next piece, counted from 0; -1 stands for the header.
  private var index = -1

  init(_ header: BackupHeader, _ sealer: consuming StreamSealer, _ snapshot: Snapshot) throws(VaultError) {
    guard let streamCount = header.streamCount else { throw .corrupt("vault.db has an impossible size") }
    count = header.encoded().count + streamCount
    self.header = header
    self.sealer = consume sealer
    self.snapshot = snapshot
  }

  /// Puts the next part at the beginning of `destination`, which must have room for ``largestPart`` bytes. Returns the
  /// number of bytes of the part, 0 at the end.
  ///
  /// - Throws: ``VaultError/storage(_:)`` when the system fails to read; ``VaultError/locked`` after ``wipe()`` and
  ///   ``Keychain/endBackup()``.
  public func next(into destination: inout MutableRawSpan) throws(VaultError) -> Int {
    if index < 0 {
      index = 0
      let bytes = header.encoded()
      destination.copy(bytes)
      return bytes.count
    }
    guard index < header.pieces else { return 0 }
    let size = header.pieceSize(index)
    if plaintext.count != size { plaintext = [UInt8](repeating: 0, count: size) }
    try snapshot.read(at: index * BackupHeader.pieceCount, into: &plaintext)
    guard var sealer = sealer.take() else { throw .locked }
    let first = index == 0 ? header.encoded() : []
    let count = first.withSpan { (associatedData: RawSpan) in
      plaintext.withSpan { (bytes: RawSpan) in
        sealer.seal(
          bytes, isLast: index == header.pieces - 1, associatedData: associatedData, into: &destination)
      }
    }
    self.sealer = consume sealer
    index += 1
    return count
  }

  /// Wipes the key. The stream cannot continue afterwards.
  public func wipe() { _ = sealer.take() }
}

extension MutableRawSpan {
  /// Copies `bytes` to the beginning of the span.
  fileprivate mutating func copy(_ bytes: [UInt8]) {
    for (offset, byte) in bytes.enumerated() { storeBytes(of: byte, toByteOffset: offset, as: UInt8.self) }
  }
}
