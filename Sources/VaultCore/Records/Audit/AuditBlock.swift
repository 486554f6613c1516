public import VaultModel

/// A block of audit log entries that will become one record: usually the events of one second.
///
/// Entries name items, so the block is secure memory, allocated once and used again. The plaintext of a record, numbers
/// little-endian, texts UTF-8 after their size (2):
///
///   1  format version, 1    8  number of the first entry    32  ``AuditChain`` link of the record before it
///   then records, each after its kind (1):
///   1  a caller: door    4  uid    4  pid    unit    executable; an unknown text is empty
///   2  an entry: 1  action    1  outcome    8  time    1  fields: bit 0 caller, 1 item, 2 detail, 3 purpose,
///      4 repeats, 5 repeated entry, 6 counted, 7 subject    then the fields present: 2  the caller's place among the
///      callers of the record    2  the subject's place    item    detail    purpose    4  count    8  number of the
///      repeated entry
///   3  an entry at the time of the entry before it: the same without the time
///   4  a subject: 16  ``AuditEntry/Subject``; absent from records of the first programs
///   5  the item of the next entry: 16  ``ItemID``; absent from records of earlier programs
///   6  the item of the next entry, if the record has that item already: 2  its place among the record's items; absent
///      from records of earlier programs
///
/// A text of an earlier entry need not be written again: its size is then 32768 + its place among the texts of entries.
public struct AuditBlock: ~Copyable, Sendable {
  /// The size of the plaintext in bytes at which the block is full: no more entries should be added.
  public static let capacity = 12 << 10
  /// The maximum size of the plaintext in bytes.
  public static let largest = 16 << 10

  static let formatVersion: UInt8 = 1
  private static let prefix = 1 + 8 + Digest.count
  /// The fewest bytes that an entry takes: its kind, its action, its outcome and its fields.
  static let leastEntry: Int64 = 4
  /// The most entries of a record, one of which has a time.
  static let mostEntries = (Int64(largest - prefix) - 8) / leastEntry
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
  /// The places of the callers that were added with their entries, and of the subjects.
  private var places: [AuditEntry.Caller: UInt16] = [:]
  private var subjects: [AuditEntry.Subject: UInt16] = [:]
  private var items = AuditItems()
  /// The number of times that the block was emptied. A caller's place is valid within one filling only.
  public private(set) var filling = 0

  /// Makes an empty block.
  public init() {}

  /// True if it is time to write the block.
  public var isFull: Bool { writer.offset >= Self.capacity }

  /// The bytes of a record besides the entries in the block: the beginning of its plaintext, and
  /// the overhead of sealing.
  public static let overhead = prefix + AEAD.overhead

  /// The number of bytes that a caller takes.
  public static func size(of caller: AuditEntry.Caller) -> Int {
    let texts = caller.door.utf8.count + (caller.unit?.utf8.count ?? 0) + (caller.executable?.utf8.count ?? 0)
    return 1 + 4 + 4 + 3 * 2 + texts
  }

  /// The number of bytes that a subject takes.
  public static let subjectSize = 1 + 2 * 8

  /// The highest number of bytes that the identity of an item takes.
  public static let itemSize = 1 + ItemID.count

  /// The number of bytes in the block.
  public var size: Int { writer.offset }

  /// True if the block has room for an entry, its texts and its caller, even if the block has none of these yet. An
  /// empty block has room for every entry that ``read(_:_:)`` returns.
  public func hasRoom(for entry: AuditEntry) -> Bool {
    let texts = [entry.item, entry.detail, entry.purpose].reduce(0) { $0 + 2 + ($1?.utf8.count ?? 0) }
    let caller = entry.caller.map { Self.size(of: $0) } ?? 0
    return size + caller + Self.subjectSize + Self.itemSize + Self.entrySize + texts <= Self.largest
  }

  /// The most bytes that an entry takes besides its texts, its caller, its subject and its item.
  private static let entrySize = 1 + 1 + 1 + 8 + 1 + 2 + 2 + 4 + 8

  /// Adds a caller, and returns its place among the callers of this filling.
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

  /// Adds an entry. Its texts must respect the limits of ``AuditEntry``; an empty text means no text.
  ///
  /// - Parameters:
  ///   - caller: The place that ``add(_:)`` returned; nil for the daemon itself.
  ///   - subject: See ``AuditEntry/subject``.
  ///   - id: See ``AuditEntry/id``.
  ///   - isCounted: See ``AuditEntry/isCounted``.
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

  /// Adds an entry with texts as strings.
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

  /// Adds an entry together with its caller, unless the caller came with an earlier entry.
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

  /// Lends the plaintext, for the record that comes after `position`.
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

  /// Wipes the content.
  public mutating func empty() {
    memory.wipe()
    writer = ByteWriter(at: Self.prefix)
    texts.forget()
    items.forget()
    (count, callers, places, subjects, time) = (0, 0, [:], [:], nil)
    filling += 1
  }
}
