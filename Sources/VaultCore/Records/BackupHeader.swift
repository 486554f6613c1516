internal import VaultBytes
import VaultModel

/// The beginning of a backup, in the clear: the vault that it belongs to, and all that opens it except a password
/// or a recovery code.
///
/// The pieces of a stream follow (``StreamSealer``): the database file, ``pieceCount`` bytes in each piece but the
/// last. The header is the associated data of the first piece, so nothing in it can be changed either. The stream's key
/// is derived from the key of the class `after-first-unlock`: its ``Subkey/backup`` hashes format, `backup`, vault id
/// and salt (keyed BLAKE2b).
public struct BackupHeader: Hashable, Sendable {
  /// The number of bytes of the database that are sealed in one piece.
  public static let pieceCount = 64 << 10
  /// The highest number of slots in a backup.
  public static let maximumSlots = 255
  static let saltCount = 32

  /// The vault of which this is a backup.
  public let vaultID: VaultID
  /// The time at which the backup was made, Unix seconds.
  public let created: Int64
  /// The size of the database in bytes, at least 1.
  public let size: Int
  let salt: [UInt8]
  /// The slots that open the backup.
  public let slots: [SlotRecord]
  let wrappedKey: [UInt8]
  var streamHeader: [UInt8]

  init(
    vaultID: VaultID, created: Int64, size: Int, salt: [UInt8], slots: [SlotRecord], wrappedKey: [UInt8],
    streamHeader: [UInt8]
  ) throws(CryptoError) {
    guard size > 0 else { throw .malformed("backup of nothing") }
    guard salt.count == Self.saltCount else { throw .malformed("backup salt size") }
    guard !slots.isEmpty, slots.count <= Self.maximumSlots else { throw .limits("a backup has from 1 to 255 slots") }
    guard slots.allSatisfy(\.kind.facts.isPortable) else {
      throw .malformed("a backup's slot is of another kind")
    }
    guard wrappedKey.count == KeyWrap.wrappedCount else { throw .malformed("wrapped key size") }
    guard streamHeader.count == StreamSealer.headerCount else { throw .malformed("stream header size") }
    self.vaultID = vaultID
    self.created = created
    self.size = size
    self.salt = salt
    self.slots = slots
    self.wrappedKey = wrappedKey
    self.streamHeader = streamHeader
  }

  /// Describes a backup that is about to be made, with a fresh salt; call ``seal(backupKey:)`` next.
  ///
  /// - Parameter wrappedKey: The key of `after-first-unlock`, wrapped under the vault key.
  /// - Throws: ``CryptoError/limits(_:)`` without slots or with more than ``maximumSlots``;
  ///   ``CryptoError/malformed(_:)`` for a slot that is not portable, or a part of the wrong size.
  public init(
    vaultID: VaultID, created: Int64, size: Int, slots: [SlotRecord], wrappedKey: [UInt8]
  ) throws(CryptoError) {
    try self.init(
      vaultID: vaultID, created: created, size: size, salt: RandomBytes.array(count: Self.saltCount), slots: slots,
      wrappedKey: wrappedKey, streamHeader: [UInt8](repeating: 0, count: StreamSealer.headerCount))
  }

  /// Begins the stream, and stores its header.
  public mutating func seal(backupKey: borrowing SecureBytes) -> StreamSealer {
    let sealer = StreamSealer(key: streamKey(backupKey))
    streamHeader = sealer.header
    return sealer
  }

  /// Begins to open the stream.
  ///
  /// - Throws: ``CryptoError/authenticationFailed`` if `vaultKey` belongs to another vault, or if the header was
  ///   changed in a way that is detected here; any other change is detected at the first piece.
  public func open(vaultKey: borrowing SecureBytes) throws(CryptoError) -> StreamOpener {
    let classKey = try wrappedKey.withSpan { (wrapped: RawSpan) throws(CryptoError) in
      try KeyWrap.unwrap(wrapped, of: .afterFirstUnlock, under: .vault, key: vaultKey, vaultID: vaultID)
    }
    return try StreamOpener(key: streamKey(Subkey.backup.derive(from: classKey)), header: streamHeader)
  }

  private func streamKey(_ backupKey: borrowing SecureBytes) -> SecureBytes {
    let context = AssociatedData.encode(purpose: "backup", vaultID, [salt])
    return SecureBytes(count: StreamSealer.keyCount) { key in
      context.withSpan { KeyedHash.hash($0, key: backupKey, into: &key) }
    }
  }
}

// The places of the pieces.
extension BackupHeader {
  /// The number of pieces that follow the header.
  public var pieces: Int { (size - 1) / Self.pieceCount + 1 }

  /// The number of bytes of the database in the piece `index`; the first piece has index 0.
  public func pieceSize(_ index: Int) -> Int { min(Self.pieceCount, size - index * Self.pieceCount) }

  /// The total size of all sealed pieces in bytes; nil if no file can be that large.
  public var streamCount: Int? {
    let (count, overflow) = size.addingReportingOverflow(pieces * StreamSealer.overhead)
    return overflow ? nil : count
  }
}
