public import VaultModel

/// The number of bytes that each subject has used of its parts of the audit log, and the number of events that found no
/// room in these parts. The usage is stored with the anchor of the log, so that a restarted daemon continues from
/// there.
///
/// The plaintext, numbers little-endian:
///
///   1  format version, 1    8  time    8  number of counted events    8  time of the first    8  time of the last
///   2  number of subjects    then for each 16  ``Key``    4×4  bytes used of each part
public struct AuditUsage: Hashable, Sendable {
  /// The bytes used of each part.
  public typealias Used = [UInt32]

  public typealias Key = AuditEntry.Subject

  /// The events that did not fit into a part and were only counted.
  public struct Counted: Hashable, Sendable {
    public var count: Int64
    /// The time of the first event, and below it that of the last, Unix seconds.
    public var since: Int64
    public var last: Int64

    public init(count: Int64, since: Int64, last: Int64) { (self.count, self.since, self.last) = (count, since, last) }
  }

  /// The number of parts in the encoding. The log has three parts; earlier versions used the fourth number for counts.
  public static let parts = 4
  /// The highest number of subjects; those that used the most are kept.
  public static let most = 1024

  /// The time at which the usage was taken, Unix seconds.
  public var time: Int64
  public var counted: Counted?
  public var subjects: [Key: Used]

  private static let formatVersion: UInt8 = 1
  private static let prefix = 1 + 4 * 8 + 2
  private static let each = 16 + 4 * parts
  /// The maximum size of the encoding in bytes.
  static let largest = prefix + most * each

  public init(time: Int64, counted: Counted? = nil, subjects: [Key: Used] = [:]) {
    (self.time, self.counted, self.subjects) = (time, counted, subjects)
  }

  public var encoded: [UInt8] {
    let kept = subjects.sorted { Self.sum($0.value) > Self.sum($1.value) }.prefix(Self.most)
    return ByteWriter.array(count: Self.prefix + kept.count * Self.each) { writer, out in
      writer.uint8(Self.formatVersion, &out)
      writer.int64(time, &out)
      writer.int64(counted?.count ?? 0, &out)
      writer.int64(counted?.since ?? 0, &out)
      writer.int64(counted?.last ?? 0, &out)
      writer.uint16(kept.count, &out)
      for (key, used) in kept {
        writer.int64(key.first, &out)
        writer.int64(key.second, &out)
        for part in 0..<Self.parts { writer.uint32(part < used.count ? used[part] : 0, &out) }
      }
    }
  }

  private static func sum(_ used: Used) -> UInt64 { used.reduce(0) { $0 + UInt64($1) } }

  /// Reads bytes that ``encoded`` wrote.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for any other bytes.
  public init(decoding input: RawSpan) throws(CryptoError) {
    var reader = ByteReader()
    guard try reader.uint8(input) == Self.formatVersion else { throw .malformed("unknown version of audit usage") }
    time = try reader.int64(input)
    let counted = Counted(
      count: try reader.int64(input), since: try reader.int64(input), last: try reader.int64(input))
    guard counted.count >= 0 else { throw .malformed("audit usage") }
    self.counted = counted.count > 0 ? counted : nil
    let count = try reader.uint16(input)
    guard count <= Self.most else { throw .malformed("audit usage") }
    subjects = [:]
    for _ in 0..<count {
      let key = Key(first: try reader.int64(input), second: try reader.int64(input))
      var used = Used()
      for _ in 0..<Self.parts { used.append(try reader.uint32(input)) }
      subjects[key] = used
    }
    try reader.finish(input)
  }
}

extension AuditEntry.Subject {
  public init(of name: String) {
    let digest = unsafe Digest(of: name.utf8Span.span.bytes)  // Bytes have no padding: all are initialized.
    let numbers = digest.withBytes { bytes in
      var reader = ByteReader()
      return (try? reader.int64(bytes), try? reader.int64(bytes))
    }
    self.init(first: numbers.0 ?? 0, second: numbers.1 ?? 0)
  }
}
