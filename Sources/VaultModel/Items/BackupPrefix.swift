internal import VaultBytes

/// The beginning of a backup file (vault-backup(5)), which distinguishes it from other files and states the
/// size of its header.
///
///   8  "vaultbk" and a newline    1  format version, 1
///   4  the header's size in bytes, these 13 included, little-endian
///
/// The prefix is separate from the rest of the header because the client, which has no cryptography, needs
/// this much of it.
public struct BackupPrefix: Hashable, Sendable {
  /// The reason that bytes do not begin a readable backup.
  public enum Problem: Error, Hashable, Sendable {
    /// The bytes are something else, or too few.
    case notABackup
    /// A later program wrote the backup, in this format version.
    case newer(Int)
    /// A header cannot have this size.
    case size(Int)
  }

  /// The size in bytes.
  public static let count = 13
  /// The format version that this program writes and reads.
  public static let version: UInt8 = 1
  /// The largest header in bytes: larger than that of 255 slots with the longest labels.
  public static let maximumHeader = 128 << 10
  private static let magic: StaticString = "vaultbk\n"

  /// The header's size in bytes, the prefix included.
  public let headerCount: Int

  /// Describes the prefix of a header of `headerCount` bytes.
  public init(headerCount: Int) { self.headerCount = headerCount }

  /// Reads the first bytes of a file; bytes after the prefix are ignored.
  public init(_ bytes: RawSpan) throws(Problem) {
    guard bytes.byteCount >= Self.count, bytes.hasBytes(Self.magic, at: 0) else { throw .notABackup }
    guard bytes.byte(8) == Self.version else { throw .newer(Int(bytes.byte(8))) }
    let size = (0..<4).reduce(0) { $0 | Int(bytes.byte(9 + $1)) << (8 * $1) }
    guard (Self.count...Self.maximumHeader).contains(size) else { throw .size(size) }
    headerCount = size
  }

  /// True if the bytes could begin a backup, possibly with more bytes after them.
  public static func isBegun(by bytes: RawSpan) -> Bool {
    (0..<min(bytes.byteCount, magic.utf8CodeUnitCount)).allSatisfy { bytes.byte($0) == magic.byte($0) }
  }

  /// The encoded prefix.
  public var bytes: [UInt8] {
    (0..<8).map { Self.magic.byte($0) } + [Self.version]
      + (0..<4).map { UInt8(truncatingIfNeeded: headerCount >> (8 * $0)) }
  }
}

extension BackupPrefix.Problem {
  /// The reason as one clause for a person.
  public var reason: String {
    switch self {
    case .notABackup: "it is not a backup of a vault"
    case .newer(let version): "it was written by a newer version of vault (backup format \(version)), which can read it"
    case .size: "its header is damaged"
    }
  }
}
