/// The beginning of a backup file (vault-backup(5)): what tells it from other files, and how long its header is.
///
///   8  "vaultbk" and a newline    1  format version, 1    4  the header's size in bytes, these 13 included, little-endian
///
/// It is apart from the rest of the header because the client, which has no cryptography, needs this much of it.
public struct BackupPrefix: Hashable, Sendable {
  /// The reason why bytes do not begin a backup that can be read.
  public enum Problem: Error, Hashable, Sendable {
    /// They are something else, or too few.
    case notABackup
    /// A later program wrote them, in this format version.
    case newer(Int)
    /// The header cannot have this size.
    case size(Int)
  }

  /// The size in bytes.
  public static let count = 13
  /// The format version that this program writes and reads.
  public static let version: UInt8 = 1
  /// The largest header in bytes, more than 255 slots with the longest labels have.
  public static let maximumHeader = 128 << 10
  private static let magic: StaticString = "vaultbk\n"

  /// The header's size in bytes, the prefix included.
  public let headerCount: Int

  /// Begins a header of `headerCount` bytes.
  public init(headerCount: Int) { self.headerCount = headerCount }

  /// Reads the first bytes of a file; what comes behind them is not looked at.
  public init(_ bytes: RawSpan) throws(Problem) {
    guard bytes.byteCount >= Self.count, bytes.hasBytes(Self.magic, at: 0) else { throw .notABackup }
    guard bytes.byte(8) == Self.version else { throw .newer(Int(bytes.byte(8))) }
    let size = (0..<4).reduce(0) { $0 | Int(bytes.byte(9 + $1)) << (8 * $1) }
    guard (Self.count...Self.maximumHeader).contains(size) else { throw .size(size) }
    headerCount = size
  }

  /// True where more bytes behind these can make them the beginning of a backup.
  public static func isBegun(by bytes: RawSpan) -> Bool {
    (0..<min(bytes.byteCount, magic.utf8CodeUnitCount)).allSatisfy { bytes.byte($0) == magic.byte($0) }
  }

  /// The bytes.
  public var bytes: [UInt8] {
    (0..<8).map { Self.magic.byte($0) } + [Self.version]
      + (0..<4).map { UInt8(truncatingIfNeeded: headerCount >> (8 * $0)) }
  }
}

extension BackupPrefix.Problem {
  /// One clause for a person.
  public var reason: String {
    switch self {
    case .notABackup: "it is not a backup of a vault"
    case .newer(let version): "it was written by a later vault (backup format \(version)), which can read it"
    case .size: "its header is damaged"
    }
  }
}
