internal import VaultModel

/// The beginning of a chain of audit records, and the links from record to record.
///
/// A chain begins with a random seed (``AuditKey``), sealed to the vault's box. Each row after the beginning has a
/// record, which is sealed under the chain's next key, bound to the row, and contains the link of the record before it.
/// So a record that was changed or removed does not prevent the others from being read. The stored form, numbers
/// little-endian:
///
///   1  format version, 1    1  origin    8  time    8  age    8  number of the first entry
///   32  ``link`` of the record before    32  MAC of the ``AuditEnd`` before    32  commitment to the seed
///   32  MAC over all of these at the row    80  the seed, sealed to the vault's box
///
/// A rekey seals the seed anew; of the other fields, only the MAC changes.
public struct AuditChain: Hashable, Sendable {
  /// The state in which a chain began, which decides the key of its MAC.
  public enum Origin: UInt8, Sendable {
    /// The vault was unlocked: the MAC is made with the audit key of `when-unlocked`.
    case unlocked = 1
    /// The daemon had also written the chain before: the MAC is made with the key at the end of that chain.
    case continued = 2
    /// The vault was not unlocked yet: the MAC is made with the audit key of `always`, or there is none if that
    /// key was missing too.
    case cold = 3
  }

  /// The size of a stored beginning in bytes.
  public static let encodedCount = signedCount + RecordMark.count + 32 + SealedBox.overhead
  private static let signedCount = 1 + 1 + 8 + 8 + 8 + Digest.count + RecordMark.count + Digest.count
  private static let formatVersion: UInt8 = 1

  public var origin: Origin
  /// The time at which the chain began, Unix seconds.
  public var time: Int64
  /// The age of the log when the chain began, in seconds: the sum of the times from the beginning of each chain to that
  /// of the next, of which each counts for at most ``longestStep``. If the vault was unlocked at that time, the age has
  /// grown since each earlier chain of the unlocked vault by no more than the time since that chain.
  public var age: Int64
  /// The number of the chain's first entry.
  public var first: Int64
  /// The link that stands for everything before the chain.
  public var previous: Digest
  /// The MAC of the ``AuditEnd`` that was found when the chain began. It tells a check of the log whether the chain
  /// before ended there.
  public var ended: RecordMark
  public var commitment: Digest
  public var mac: RecordMark
  /// The seed, sealed to the vault's box.
  public var sealedSeed: [UInt8]

  /// The most seconds between the beginnings of two chains that count for the age of the log.
  public static let longestStep: Int64 = 86_400

  /// The age of a log at `now`, if its last chain began at `time` with the given age. Times are Unix seconds.
  public static func age(at now: Int64, since time: Int64, _ age: Int64) -> Int64 {
    min(age + min(max(0, Seconds.from(time, to: now)), longestStep), AuditPosition.most)
  }

  /// The link at the beginning of a log.
  public static let beginning = Digest(of: RawSpan())

  /// Makes a chain that begins with `seed`. Its MAC is still to be made.
  ///
  /// - Parameters:
  ///   - end: The position after which the chain begins.
  ///   - ended: The MAC of the ``AuditEnd`` found there.
  /// - Throws: ``CryptoError/malformed(_:)`` if `publicKey` is not a valid key.
  public init(
    origin: Origin, time: Int64, age: Int64 = 0, after end: AuditPosition, ended: RecordMark = .none,
    seed: borrowing SecureBytes, publicKey: [UInt8]
  ) throws(CryptoError) {
    (self.origin, self.time, self.age) = (origin, time, age)
    (first, previous, self.ended) = (end.entries + 1, end.link, ended)
    commitment = AuditKey.commitment(to: seed)
    mac = .none
    sealedSeed = []
    try seal(seed, to: publicKey)
  }

  /// Seals the seed to another box.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` if `publicKey` is not a valid key.
  public mutating func seal(_ seed: borrowing SecureBytes, to publicKey: [UInt8]) throws(CryptoError) {
    sealedSeed = try seed.withBytes { (bytes: RawSpan) throws(CryptoError) in
      try SealedBox.seal(bytes, to: publicKey)
    }
  }

  /// Reads bytes that ``encoded`` wrote, without verifying them.
  ///
  /// - Throws: ``CryptoError/malformed(_:)``.
  public init(decoding input: RawSpan) throws(CryptoError) {
    var reader = ByteReader()
    guard try reader.uint8(input) == Self.formatVersion else { throw .malformed("unknown version of audit chain") }
    guard let origin = Origin(rawValue: try reader.uint8(input)) else { throw .malformed("origin of audit chain") }
    self.origin = origin
    time = try reader.int64(input)
    age = try reader.int64(input)
    guard (0...AuditPosition.most).contains(age) else { throw .malformed("age of audit log") }
    first = try reader.int64(input)
    guard (1...AuditPosition.most).contains(first) else { throw .malformed("number of audit entry") }
    guard let previous = Digest(input.extracting(try reader.range(Digest.count, input))),
      let ended = RecordMark(input.extracting(try reader.range(RecordMark.count, input))),
      let commitment = Digest(input.extracting(try reader.range(Digest.count, input))),
      let mac = RecordMark(input.extracting(try reader.range(RecordMark.count, input)))
    else { throw .malformed("audit chain") }
    (self.previous, self.ended, self.commitment, self.mac) = (previous, ended, commitment, mac)
    sealedSeed = try reader.array(32 + SealedBox.overhead, input)
    try reader.finish(input)
  }

  /// The stored form.
  public var encoded: [UInt8] { signed + mac.array + sealedSeed }

  private var signed: [UInt8] {
    ByteWriter.array(count: Self.signedCount) { writer, out in
      writer.uint8(Self.formatVersion, &out)
      writer.uint8(origin.rawValue, &out)
      writer.int64(time, &out)
      writer.int64(age, &out)
      writer.int64(first, &out)
      previous.withBytes { writer.bytes($0, &out) }
      ended.withBytes { writer.bytes($0, &out) }
      commitment.withBytes { writer.bytes($0, &out) }
    }
  }

  /// True if a key vouches for the chain's entries. `isBefore` tells whether a key vouches for those of the chain
  /// before.
  public func isVouchedFor(after isBefore: Bool) -> Bool {
    switch origin {
    case .unlocked: true
    case .continued: isBefore
    case .cold: mac != .none
    }
  }

  /// True if the chain was begun before a first unlock, or continues such a chain.
  public func isEarly(after isBefore: Bool) -> Bool {
    switch origin {
    case .unlocked: false
    case .cold: true
    case .continued: isBefore
    }
  }

  /// The place to which a record in `row` is bound, in the chain that begins in row `chain`.
  public static func place(_ row: Int64, chain: Int64, _ vault: VaultID) -> AssociatedData {
    AssociatedData(
      vault: vault, table: .audit, number: row, accessible: .whenUnlocked, policyRevision: Int(chain))
  }

  /// The MAC of a chain's beginning in `row`. The associated data has another version than that of a record.
  public func mac(_ row: Int64, _ vault: VaultID, key: borrowing SecureBytes) -> RecordMark {
    let place = Self.beginningPlace(row, vault)
    return unsafe RecordMark(place, signed.span.bytes, key: key)  // Bytes have no padding: all are initialized.
  }

  /// The same MAC, made with the key at the end of the chain before.
  public func mac(_ row: Int64, _ vault: VaultID, after end: inout AuditKey) -> RecordMark {
    unsafe end.mac(Self.beginningPlace(row, vault), signed.span.bytes)  // Bytes have no padding: all are initialized.
  }

  private static func beginningPlace(_ row: Int64, _ vault: VaultID) -> AssociatedData {
    AssociatedData(vault: vault, table: .audit, number: row, version: 1, accessible: .whenUnlocked)
  }

  /// Opens the seed.
  ///
  /// - Throws: ``CryptoError/authenticationFailed`` if it is not the seed with which the chain began.
  public func seed(_ secretKey: borrowing SecureBytes) throws(CryptoError) -> SecureBytes {
    let seed = try unsafe SealedBox.open(sealedSeed.span.bytes, secretKey: secretKey)
    guard seed.count == 32, AuditKey.commitment(to: seed) == commitment else { throw .authenticationFailed }
    return seed
  }

  // MARK: From record to record

  /// The link that stands for everything up to this beginning in `row`.
  public func link(_ row: Int64) -> Digest { Self.link(1, row, previous, signed) }

  /// The link that stands for everything up to the sealed record in `row`, which comes after `previous`.
  public static func link(_ row: Int64, after previous: Digest, _ sealed: [UInt8]) -> Digest {
    link(2, row, previous, sealed)
  }

  // The kind, the row and the previous link have fixed sizes, so the place where the record begins is unambiguous.
  private static func link(_ kind: UInt8, _ row: Int64, _ previous: Digest, _ record: [UInt8]) -> Digest {
    var bytes: [UInt8] = [kind]
    bytes.reserveCapacity(1 + 8 + Digest.count + record.count)
    for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: row >> shift)) }
    bytes += previous.array
    bytes += record
    return unsafe Digest(of: bytes.span.bytes)  // Bytes have no padding: all are initialized.
  }
}

extension Digest {
  /// The 32 bytes.
  public var array: [UInt8] { withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } } }
}

extension RecordMark {
  /// The 32 bytes.
  public var array: [UInt8] { withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } } }
}
