public import VaultModel

// The reading of audit log records.
extension AuditBlock {
  /// Reads a plaintext, and calls `body` with the number of each entry and the entry.
  ///
  /// - Returns: The number of the first entry, the number of entries, and the link of the record before this one.
  /// - Throws: ``CryptoError/malformed(_:)`` if the bytes are not such a plaintext; the entries that `body` got before
  ///   the error are valid.
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
    var before = Before()
    var number = first
    while reader.remaining(input) > 0 {
      let kind = try reader.uint8(input)
      switch kind {
      case Kind.caller: before.callers.append(try caller(&reader, input))
      case Kind.subject:
        let (first, second) = (try reader.int64(input), try reader.int64(input))
        before.subjects.append(AuditEntry.Subject(first: first, second: second))
      case Kind.item, Kind.knownItem:
        guard before.item == nil else { throw .malformed("item of audit entry") }
        before.item = try item(&reader, input, &before, isKnown: kind == Kind.knownItem)
      case Kind.entry, Kind.next:
        body(number, try entry(&reader, input, &before, isNext: kind == Kind.next))
        number += 1
      default: throw .malformed("kind of audit record")
      }
    }
    guard before.item == nil else { throw .malformed("item of audit entry") }
    return (first, number - first, previous)
  }

  /// The parts of the plaintext read so far, to which later entries refer.
  private struct Before {
    var callers: [AuditEntry.Caller] = []
    var subjects: [AuditEntry.Subject] = []
    var items: [ItemID] = []
    /// The item of the next entry.
    var item: ItemID?
    /// The texts of the entries read so far.
    var texts: [String] = []
    var time: Int64?
  }

  private static func caller(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> AuditEntry.Caller {
    func text() throws(CryptoError) -> String {
      let size = try reader.uint16(input)
      guard size <= AuditEntry.longestText else { throw .malformed("caller of audit entry") }
      return try reader.text(size, input)
    }
    let door = try text()
    let uid = try reader.uint32(input)
    let pid = Int32(bitPattern: try reader.uint32(input))
    let (unit, executable) = (try text(), try text())
    return AuditEntry.Caller(
      door: door, uid: uid, pid: pid, unit: unit.isEmpty ? nil : unit, executable: executable.isEmpty ? nil : executable
    )
  }

  private static func item(
    _ reader: inout ByteReader, _ input: RawSpan, _ before: inout Before, isKnown: Bool
  ) throws(CryptoError) -> ItemID {
    if isKnown {
      let place = try reader.uint16(input)
      guard before.items.indices.contains(place) else { throw .malformed("item of audit entry") }
      return before.items[place]
    }
    guard let item = ItemID(input.extracting(try reader.range(ItemID.count, input))) else {
      throw .malformed("item of audit entry")
    }
    before.items.append(item)
    return item
  }

  private static func entry(
    _ reader: inout ByteReader, _ input: RawSpan, _ before: inout Before, isNext: Bool
  ) throws(CryptoError) -> AuditEntry {
    guard let action = AuditAction(rawValue: try reader.uint8(input)),
      let outcome = AuditOutcome(rawValue: try reader.uint8(input))
    else { throw .malformed("action of audit entry") }
    guard let time = isNext ? before.time : try reader.int64(input) else { throw .malformed("time of audit entry") }
    before.time = time
    var entry = AuditEntry(time: time, action: action, outcome: outcome)
    (entry.id, before.item) = (before.item, nil)
    let fields = try reader.uint8(input)
    guard fields & Field.of == 0 || fields & Field.repeats != 0 else {
      throw .malformed("fields of audit entry")
    }
    entry.isCounted = fields & Field.counted != 0
    if fields & Field.caller != 0 {
      let place = try reader.uint16(input)
      guard before.callers.indices.contains(place) else { throw .malformed("caller of audit entry") }
      entry.caller = before.callers[place]
    }
    if fields & Field.subject != 0 {
      let place = try reader.uint16(input)
      guard before.subjects.indices.contains(place) else { throw .malformed("subject of audit entry") }
      entry.subject = before.subjects[place]
    }
    if fields & Field.item != 0 { entry.item = try AuditTexts.read(&reader, input, &before.texts) }
    if fields & Field.detail != 0 { entry.detail = try AuditTexts.read(&reader, input, &before.texts) }
    if fields & Field.purpose != 0 { entry.purpose = try AuditTexts.read(&reader, input, &before.texts) }
    if fields & Field.repeats != 0 {
      let count = try reader.uint32(input)
      entry.repeats = AuditEntry.Repeats(of: fields & Field.of == 0 ? nil : try reader.int64(input), count: count)
    }
    return entry
  }
}
