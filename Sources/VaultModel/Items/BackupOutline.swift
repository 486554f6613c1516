/// The facts that the header of a backup (vault-backup(5)) states about the whole backup and that need no key. Nothing
/// vouches for them: anyone who can write to the file can change them.
public struct BackupOutline: Hashable, Sendable {
  /// The number of bytes of the database that are sealed in one piece, and the number of bytes that sealing
  /// adds to a piece.
  static let piece = (count: 64 << 10, overhead: 17)

  /// The time at which the backup was made, Unix seconds.
  public let created: Int64
  /// The header's size in bytes.
  public let headerCount: Int
  /// The size of the whole backup in bytes.
  public let count: Int

  /// Reads a whole header; nil if the bytes cannot be a header.
  public init?(_ header: [UInt8]) {
    // The label is followed by the size of the database.
    guard header.count >= BackupLabel.count + 8, let created = Int64(exactly: header.number(at: BackupLabel.time)),
      let database = Int(exactly: header.number(at: BackupLabel.count)), database > 0
    else { return nil }
    let pieces = (database - 1) / Self.piece.count + 1
    let (sealed, isTooLong) = database.addingReportingOverflow(pieces * Self.piece.overhead)
    let (all, isTooLongWithIt) = sealed.addingReportingOverflow(header.count)
    guard !isTooLong, !isTooLongWithIt else { return nil }
    (self.created, headerCount, count) = (created, header.count, all)
  }
}

/// The vault of a backup and the time of the backup, as the beginning of its header (vault-backup(5)) states them in
/// the clear. Nothing vouches for them.
public struct BackupLabel: Hashable, Sendable {
  /// The offset of the time from the beginning of the backup, in bytes.
  fileprivate static let time = BackupPrefix.count + 16
  /// The number of bytes at the beginning of a backup that hold the label.
  public static let count = time + 8

  /// The id of the vault, which has 16 bytes.
  public let vault: [UInt8]
  /// The time at which the backup was made, Unix seconds.
  public let created: Int64

  /// Reads the beginning of a file; nil if it does not begin like a backup, or is cut short within these bytes.
  public init?(_ bytes: [UInt8]) {
    // Bytes have no padding: all of them are initialized.
    guard bytes.count >= Self.count, unsafe BackupPrefix.isBegun(by: bytes.span.bytes) else { return nil }
    vault = Array(bytes[BackupPrefix.count..<Self.time])
    created = Int64(bitPattern: bytes.number(at: Self.time))
  }
}

extension [UInt8] {
  /// The number in eight bytes from `start` on, little-endian.
  fileprivate func number(at start: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(self[start + $1]) << (8 * $1) } }
}
