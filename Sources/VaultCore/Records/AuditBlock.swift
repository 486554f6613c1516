public import VaultModel

/// Entries of the audit log on their way into one record: what happened within a second, as a rule.
///
/// It names items, so it is secure memory, made once and used again. The plaintext of a record, numbers little-endian, texts
/// UTF-8 after their size (2):
///
///   1  format version, 1    8  number of the first entry    32  ``AuditChain`` link of the record before it
///   then records, each after its kind (1):
///   1  a caller: door    4  uid    4  pid    unit    executable; the texts of those that are not known are empty
///   2  an entry: 1  action    1  outcome    8  time    1  fields: bit 0 caller, 1 item, 2 detail, 3 purpose, 4 repeats,
///      5 their entry    then of these those that are there: 2  the caller's place among those of the record    item
///      detail    purpose    4  count    8  number of the entry
public struct AuditBlock: ~Copyable, Sendable {
  /// The size of the plaintext from which on no more is added, in bytes.
  public static let capacity = 12 << 10
  /// The size of the longest plaintext in bytes.
  public static let largest = 16 << 10

  private static let formatVersion: UInt8 = 1
  private static let prefix = 1 + 8 + Digest.count
  private enum Kind { static let (caller, entry): (UInt8, UInt8) = (1, 2) }
  private enum Field {
    static let (caller, item, detail, purpose, repeats, of): (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) =
      (1, 2, 4, 8, 16, 32)
    static let all: UInt8 = 63
  }

  private var memory = SecureBytes(count: largest)
  private var writer = ByteWriter(at: prefix)
  /// The number of entries.
  public private(set) var count = 0
  private var callers = 0
  /// Counts the times that it was emptied: a caller's place is one of one filling.
  public private(set) var filling = 0

  /// An empty one.
  public init() {}

  /// True when it is time to write it.
  public var isFull: Bool { writer.offset >= Self.capacity }

  /// The number of bytes that it takes.
  public var size: Int { writer.offset }

  /// Adds a caller; the answer is its place among those of this filling.
  public mutating func add(_ caller: AuditEntry.Caller) -> UInt16 {
    memory.withMutableBytes { out in
      writer.uint8(Kind.caller, &out)
      writer.sized(caller.door, &out)
      writer.uint32(caller.uid, &out)
      writer.uint32(UInt32(bitPattern: caller.pid), &out)
      writer.sized(caller.unit ?? "", &out)
      writer.sized(caller.executable ?? "", &out)
    }
    callers += 1
    return UInt16(callers - 1)
  }

  /// Adds an entry, whose texts have to be as short as ``AuditEntry`` says.
  ///
  /// - Parameter caller: the place that ``add(_:)`` gave; nil for the daemon itself.
  public mutating func add(
    _ action: AuditAction, _ outcome: AuditOutcome, time: Int64, caller: UInt16?, item: String? = nil,
    detail: String? = nil, purpose: String? = nil, repeats: AuditEntry.Repeats? = nil
  ) {
    var fields: UInt8 = caller == nil ? 0 : Field.caller
    if item != nil { fields |= Field.item }
    if detail != nil { fields |= Field.detail }
    if purpose != nil { fields |= Field.purpose }
    if let repeats { fields |= Field.repeats | (repeats.of == nil ? 0 : Field.of) }
    memory.withMutableBytes { out in
      writer.uint8(Kind.entry, &out)
      writer.uint8(action.rawValue, &out)
      writer.uint8(outcome.rawValue, &out)
      writer.int64(time, &out)
      writer.uint8(fields, &out)
      if let caller { writer.uint16(Int(caller), &out) }
      if let item { writer.sized(item, &out) }
      if let detail { writer.sized(detail, &out) }
      if let purpose { writer.sized(purpose, &out) }
      if let repeats {
        writer.uint32(repeats.count, &out)
        if let of = repeats.of { writer.int64(of, &out) }
      }
    }
    count += 1
  }

  /// Lends the plaintext, for the record that comes after what is before that position.
  public mutating func withPlaintext<R, E: Error>(
    after position: AuditPosition, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    memory.withMutableBytes { out in
      var start = ByteWriter()
      start.uint8(Self.formatVersion, &out)
      start.int64(position.entries + 1, &out)
      position.link.withBytes { start.bytes($0, &out) }
    }
    let size = size
    return try memory.withBytes { (all: RawSpan) throws(E) in try body(all.extracting(first: size)) }
  }

  /// Wipes what is in it.
  public mutating func empty() {
    memory.wipe()
    writer = ByteWriter(at: Self.prefix)
    (count, callers) = (0, 0)
    filling += 1
  }

  // MARK: Reading

  /// Reads a plaintext: calls `body` with each entry and its number.
  ///
  /// - Returns: the number of the first entry, how many there are, and the link of the record before it.
  /// - Throws: ``CryptoError/malformed(_:)`` for anything that is none; what `body` was called with before is true.
  public static func read(
    _ input: RawSpan, _ body: (Int64, AuditEntry) -> Void
  ) throws(CryptoError) -> (first: Int64, count: Int64, previous: Digest) {
    var reader = ByteReader()
    guard try reader.uint8(input) == formatVersion else { throw .malformed("unknown version of audit record") }
    let first = try reader.int64(input)
    guard first >= 1, first < .max - Int64(largest) else { throw .malformed("number of audit entry") }
    guard let previous = Digest(input.extracting(try reader.range(Digest.count, input))) else {
      throw .malformed("audit record")
    }
    var callers: [AuditEntry.Caller] = []
    var number = first
    while reader.remaining(input) > 0 {
      switch try reader.uint8(input) {
      case Kind.caller: callers.append(try caller(&reader, input))
      case Kind.entry:
        body(number, try entry(&reader, input, callers))
        number += 1
      default: throw .malformed("kind of audit record")
      }
    }
    return (first, number - first, previous)
  }

  private static func caller(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> AuditEntry.Caller {
    let door = try text(&reader, input)
    let uid = try reader.uint32(input)
    let pid = Int32(bitPattern: try reader.uint32(input))
    let (unit, executable) = (try text(&reader, input), try text(&reader, input))
    return AuditEntry.Caller(
      door: door, uid: uid, pid: pid, unit: unit.isEmpty ? nil : unit, executable: executable.isEmpty ? nil : executable
    )
  }

  private static func entry(
    _ reader: inout ByteReader, _ input: RawSpan, _ callers: [AuditEntry.Caller]
  ) throws(CryptoError) -> AuditEntry {
    guard let action = AuditAction(rawValue: try reader.uint8(input)),
      let outcome = AuditOutcome(rawValue: try reader.uint8(input))
    else { throw .malformed("action of audit entry") }
    var entry = AuditEntry(time: try reader.int64(input), action: action, outcome: outcome)
    let fields = try reader.uint8(input)
    guard fields & ~Field.all == 0, fields & Field.of == 0 || fields & Field.repeats != 0 else {
      throw .malformed("fields of audit entry")
    }
    if fields & Field.caller != 0 {
      let place = try reader.uint16(input)
      guard callers.indices.contains(place) else { throw .malformed("caller of audit entry") }
      entry.caller = callers[place]
    }
    if fields & Field.item != 0 { entry.item = try text(&reader, input) }
    if fields & Field.detail != 0 { entry.detail = try text(&reader, input) }
    if fields & Field.purpose != 0 { entry.purpose = try text(&reader, input) }
    if fields & Field.repeats != 0 {
      let count = try reader.uint32(input)
      entry.repeats = AuditEntry.Repeats(of: fields & Field.of == 0 ? nil : try reader.int64(input), count: count)
    }
    return entry
  }

  private static func text(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> String {
    try reader.text(try reader.uint16(input), input)
  }
}
