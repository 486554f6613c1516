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
    // The prefix is followed by the vault's id in 16 bytes, the time, and the size of the database.
    let (time, size) = (BackupPrefix.count + 16, BackupPrefix.count + 24)
    guard header.count >= size + 8 else { return nil }
    func number(_ start: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(header[start + $1]) << (8 * $1) } }
    guard let created = Int64(exactly: number(time)), let database = Int(exactly: number(size)), database > 0 else {
      return nil
    }
    let pieces = (database - 1) / Self.piece.count + 1
    let (sealed, isTooLong) = database.addingReportingOverflow(pieces * Self.piece.overhead)
    let (all, isTooLongWithIt) = sealed.addingReportingOverflow(header.count)
    guard !isTooLong, !isTooLongWithIt else { return nil }
    (self.created, headerCount, count) = (created, header.count, all)
  }
}
