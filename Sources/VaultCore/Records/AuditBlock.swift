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
///      5 their entry, 6 counted, 7 subject    then of these those that are there: 2  the caller's place among those of
///      the record    2  the subject's    item    detail    purpose    4  count    8  number of the entry
///   3  an entry at the time of the one before it: the same without its time
///   4  a subject: 16  ``AuditEntry/Subject``; no record of the first programs has one
///   5  the item of the entry after it: 16  ``ItemID``
///   6  the same, of an item that the record has in one before: 2  its place among these; like 5 in no record of earlier
///      programs
///
/// A text of an entry that the record has in one before is not there again: its size is 32768 + its place among these.
public struct AuditBlock: ~Copyable, Sendable {
  /// The size of the plaintext from which on no more is added, in bytes.
  public static let capacity = 12 << 10
  /// The size of the longest plaintext in bytes.
  public static let largest = 16 << 10

  static let formatVersion: UInt8 = 1
  private static let prefix = 1 + 8 + Digest.count
  enum Kind {
    static let caller: UInt8 = 1
    static let entry: UInt8 = 2
    static let next: UInt8 = 3
    static let subject: UInt8 = 4
    static let item: UInt8 = 5
    static let knownItem: UInt8 = 6
  }
  enum Field {
    static let caller: UInt8 = 1
    static let item: UInt8 = 2
    static let detail: UInt8 = 4
    static let purpose: UInt8 = 8
    static let repeats: UInt8 = 16
    static let of: UInt8 = 32
    static let counted: UInt8 = 64
    static let subject: UInt8 = 128
  }

  private var memory = SecureBytes(count: largest)
  private var writer = ByteWriter(at: prefix)
  private var texts = AuditTexts()
  /// The time of the last entry.
  private var time: Int64?
  /// The number of entries.
  public private(set) var count = 0
  private var callers = 0
  /// The places of callers that came with their entries, and those of subjects.
  private var places: [AuditEntry.Caller: UInt16] = [:]
  private var subjects: [AuditEntry.Subject: UInt16] = [:]
  private var items = AuditItems()
  /// Counts the times that it was emptied: a caller's place is one of one filling.
  public private(set) var filling = 0

  /// An empty one.
  public init() {}

  /// True when it is time to write it.
  public var isFull: Bool { writer.offset >= Self.capacity }

  /// The bytes that a record takes beside what is in the block: what begins its plaintext, and what seals it.
  public static let overhead = prefix + AEAD.overhead

  /// The bytes that a caller takes.
  public static func size(of caller: AuditEntry.Caller) -> Int {
    let texts = caller.door.utf8.count + (caller.unit?.utf8.count ?? 0) + (caller.executable?.utf8.count ?? 0)
    return 1 + 4 + 4 + 3 * 2 + texts
  }

  /// The bytes that a subject takes.
  public static let subjectSize = 1 + 2 * 8

  /// The most bytes that the identity of an item takes.
  public static let itemSize = 1 + ItemID.count

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

  /// Adds an entry, whose texts have to be as short as ``AuditEntry`` says; an empty one is none.
  ///
  /// - Parameters:
  ///   - caller: the place that ``add(_:)`` gave; nil for the daemon itself.
  ///   - subject: see ``AuditEntry/subject``.
  ///   - id: see ``AuditEntry/id``.
  ///   - isCounted: see ``AuditEntry/isCounted``.
  public mutating func add(
    _ action: AuditAction, _ outcome: AuditOutcome, time: Int64, caller: UInt16?, of subject: AuditEntry.Subject? = nil,
    item: RawSpan, id: ItemID? = nil, detail: RawSpan, purpose: RawSpan, repeats: AuditEntry.Repeats? = nil,
    isCounted: Bool = false
  ) {
    let subject = subject.map { place(of: $0) }
    if let id { write(id) }
    var fields: UInt8 = caller == nil ? 0 : Field.caller
    if subject != nil { fields |= Field.subject }
    if item.byteCount > 0 { fields |= Field.item }
    if detail.byteCount > 0 { fields |= Field.detail }
    if purpose.byteCount > 0 { fields |= Field.purpose }
    if let repeats { fields |= Field.repeats | (repeats.of == nil ? 0 : Field.of) }
    if isCounted { fields |= Field.counted }
    let isNext = time == self.time
    self.time = time
    memory.withMutableBytes { out in
      writer.uint8(isNext ? Kind.next : Kind.entry, &out)
      writer.uint8(action.rawValue, &out)
      writer.uint8(outcome.rawValue, &out)
      if !isNext { writer.int64(time, &out) }
      writer.uint8(fields, &out)
      if let caller { writer.uint16(Int(caller), &out) }
      if let subject { writer.uint16(Int(subject), &out) }
      if item.byteCount > 0 { texts.write(item, &writer, &out) }
      if detail.byteCount > 0 { texts.write(detail, &writer, &out) }
      if purpose.byteCount > 0 { texts.write(purpose, &writer, &out) }
      if let repeats {
        writer.uint32(repeats.count, &out)
        if let of = repeats.of { writer.int64(of, &out) }
      }
    }
    count += 1
  }

  /// The same with texts that were not turned into bytes before.
  public mutating func add(
    _ action: AuditAction, _ outcome: AuditOutcome, time: Int64, caller: UInt16?, of subject: AuditEntry.Subject? = nil,
    item: String = "", id: ItemID? = nil, detail: String = "", purpose: String = "",
    repeats: AuditEntry.Repeats? = nil, isCounted: Bool = false
  ) {
    // Bytes have no padding: all are initialized.
    unsafe add(
      action, outcome, time: time, caller: caller, of: subject, item: item.utf8Span.span.bytes, id: id,
      detail: detail.utf8Span.span.bytes, purpose: purpose.utf8Span.span.bytes, repeats: repeats, isCounted: isCounted)
  }

  /// Adds an entry with its caller, unless that came with one before it.
  public mutating func add(_ entry: AuditEntry) {
    add(
      entry.action, entry.outcome, time: entry.time, caller: entry.caller.map { place(of: $0) }, of: entry.subject,
      item: entry.item ?? "", id: entry.id, detail: entry.detail ?? "", purpose: entry.purpose ?? "",
      repeats: entry.repeats, isCounted: entry.isCounted)
  }

  private mutating func place(of caller: AuditEntry.Caller) -> UInt16 {
    if let known = places[caller] { return known }
    let place = add(caller)
    places[caller] = place
    return place
  }

  private mutating func place(of subject: AuditEntry.Subject) -> UInt16 {
    if let known = subjects[subject] { return known }
    memory.withMutableBytes { out in
      writer.uint8(Kind.subject, &out)
      writer.int64(subject.first, &out)
      writer.int64(subject.second, &out)
    }
    let place = UInt16(subjects.count)
    subjects[subject] = place
    return place
  }

  private mutating func write(_ item: ItemID) {
    let known = items.place(of: item)
    memory.withMutableBytes { out in
      writer.uint8(known == nil ? Kind.item : Kind.knownItem, &out)
      if let known { writer.uint16(Int(known), &out) } else { item.withBytes { writer.bytes($0, &out) } }
    }
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
    texts.forget()
    items.forget()
    (count, callers, places, subjects, time) = (0, 0, [:], [:], nil)
    filling += 1
  }
}
