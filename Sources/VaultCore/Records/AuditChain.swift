internal import VaultModel

/// The beginning of a chain of audit records, and what follows from record to record.
///
/// A chain begins with a random seed (``AuditKey``) that is sealed to the vault's box. Each row after it has a record that is
/// sealed under the chain's next key and bound to the row, and says what was before it: so one that was changed or taken
/// away keeps none of the others from being read. As stored, numbers little-endian:
///
///   1  format version, 1    1  origin    8  time    8  age    8  number of the first entry    32  ``link`` of what is before
///   it    32  MAC of the ``AuditEnd`` before it    32  commitment to the seed    32  MAC over all of these at the row
///   80  the seed, sealed to the vault's box
///
/// A rekey seals the seed anew, and nothing else of it changes but the MAC.
public struct AuditChain: Hashable, Sendable {
  /// The state in which a chain was begun, which says what its MAC is made with.
  public enum Origin: UInt8, Sendable {
    /// While the vault was unlocked: with the audit key of `when-unlocked`.
    case unlocked = 1
    /// By a daemon that had written the chain before it: with the key at that one's end.
    case continued = 2
    /// Before the first unlock: with the audit key of `always`, or with none, where that was not there either.
    case cold = 3
  }

  /// The size of a stored beginning in bytes.
  public static let encodedCount = signedCount + RecordMark.count + 32 + SealedBox.overhead
  private static let signedCount = 1 + 1 + 8 + 8 + 8 + Digest.count + RecordMark.count + Digest.count
  private static let formatVersion: UInt8 = 1

  public var origin: Origin
  /// Unix seconds.
  public var time: Int64
  /// The age of the log then, in seconds: the time from the beginning of each chain to that of the next, of which no more than
  /// ``longestStep`` counts. A clock that jumps ages no log.
  public var age: Int64
  /// The number of its first entry.
  public var first: Int64
  /// The link to everything before it.
  public var previous: Digest
  /// The MAC of the end that was found there: so the one who checks the log learns whether that was where the chain before
  /// it ended.
  public var ended: RecordMark
  public var commitment: Digest
  public var mac: RecordMark
  /// The seed, sealed to the vault's box.
  public var sealedSeed: [UInt8]

  /// The most seconds between the beginnings of two chains by which the log ages.
  public static let longestStep: Int64 = 86_400

  /// The age of a log at a time, Unix seconds, whose last chain was begun at another.
  public static func age(at now: Int64, since time: Int64, _ age: Int64) -> Int64 {
    min(age, AuditPosition.most) + min(max(0, Seconds.from(time, to: now)), longestStep)
  }

  /// The link that a log begins with.
  public static let beginning = Digest(of: RawSpan())

  /// A chain that begins with `seed`; its MAC is still to be made.
  ///
  /// - Parameters:
  ///   - end: the place that it comes after.
  ///   - ended: the MAC of the end that is there.
  /// - Throws: ``CryptoError/malformed(_:)`` when `publicKey` is no key.
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
  /// - Throws: ``CryptoError/malformed(_:)`` when `publicKey` is no key.
  public mutating func seal(_ seed: borrowing SecureBytes, to publicKey: [UInt8]) throws(CryptoError) {
    sealedSeed = try seed.withBytes { (bytes: RawSpan) throws(CryptoError) in
      try SealedBox.seal(bytes, to: publicKey)
    }
  }

  /// Reads what ``encoded`` made, without believing it.
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

  /// As it is stored.
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

  /// True when somebody vouches for its entries, if that is so of the chain before it.
  public func isVouchedFor(after isBefore: Bool) -> Bool {
    switch origin {
    case .unlocked: true
    case .continued: isBefore
    case .cold: mac != .none
    }
  }

  /// The place that the record in a row of the chain that begins in row `chain` is bound to.
  public static func place(_ row: Int64, chain: Int64, _ vault: VaultID) -> AssociatedData {
    AssociatedData(
      vault: vault, table: .audit, number: row, accessible: .whenUnlocked, policyRevision: Int(chain))
  }

  /// The MAC of a beginning in a row, which has another version than a record.
  public func mac(_ row: Int64, _ vault: VaultID, key: borrowing SecureBytes) -> RecordMark {
    let place = Self.beginningPlace(row, vault)
    return unsafe RecordMark(place, signed.span.bytes, key: key)  // Bytes have no padding: all are initialized.
  }

  /// The same with the key at the end of the chain before it.
  public func mac(_ row: Int64, _ vault: VaultID, after end: inout AuditKey) -> RecordMark {
    unsafe end.mac(Self.beginningPlace(row, vault), signed.span.bytes)  // Bytes have no padding: all are initialized.
  }

  private static func beginningPlace(_ row: Int64, _ vault: VaultID) -> AssociatedData {
    AssociatedData(vault: vault, table: .audit, number: row, version: 1, accessible: .whenUnlocked)
  }

  /// Opens the seed.
  ///
  /// - Throws: ``CryptoError/authenticationFailed`` when it is not the one that the chain was begun with.
  public func seed(_ secretKey: borrowing SecureBytes) throws(CryptoError) -> SecureBytes {
    let seed = try unsafe SealedBox.open(sealedSeed.span.bytes, secretKey: secretKey)
    guard seed.count == 32, AuditKey.commitment(to: seed) == commitment else { throw .authenticationFailed }
    return seed
  }

  // MARK: From record to record

  /// The link that stands for everything up to this beginning in that row.
  public func link(_ row: Int64) -> Digest { Self.link(1, row, previous, signed) }

  /// The link that stands for everything up to a sealed record in that row, after `previous`.
  public static func link(_ row: Int64, after previous: Digest, _ sealed: [UInt8]) -> Digest {
    link(2, row, previous, sealed)
  }

  // The kind and the row have fixed sizes, and so does what was before: where the record begins is never in doubt.
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
