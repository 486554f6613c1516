internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The entries that come from `vault-import`. Every reply is checked: its place in the order, its sizes, and the sums
/// at the end.
struct ReceivedEntries {
  /// The most entries, fields, and bytes of values and texts that a source may have.
  static let most = (entries: 1 << 17, fields: 1 << 21, bytes: ImportCall.most.bytes)
  /// The longest name of a format and the longest other texts of it, in bytes.
  static let longest = (name: 64, text: 4096)

  private(set) var format: ImportedFormat?
  private(set) var entries: [SourceEntry] = []
  private var fields = 0
  private var bytes = 0

  mutating func take(_ format: ImportedFormat) throws(Failure) {
    let isName = format.name.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
    }
    guard self.format == nil, isName, (1...Self.longest.name).contains(format.name.utf8.count),
      format.detail.utf8.count <= Self.longest.text, format.source.utf8.count <= Self.longest.text
    else { throw ImportProgram.wrong }
    self.format = format
  }

  mutating func take(_ entry: ImportedEntry) throws(Failure) {
    guard format != nil, isComplete, entries.count < Self.most.entries else { throw ImportProgram.wrong }
    try count(entry.folder.reduce(entry.id.utf8.count + entry.title.utf8.count) { $0 + $1.utf8.count })
    entries.append(SourceEntry(entry))
  }

  mutating func take(_ field: ImportedField, _ value: consuming SecretBuffer) throws(Failure) {
    guard !isComplete, let entry = entries.last, fields < Self.most.fields, value.count <= ImportedField.longestValue,
      field.refusal == nil ? field.size == value.count : value.count == 0
    else { throw ImportProgram.wrong }
    try count(value.count + field.name.utf8.count + (field.refusal?.utf8.count ?? 0))
    fields += 1
    entry.fields.append(SourceField(field, value))
  }

  /// Checks the sums, and returns the format.
  func finish(_ totals: ImportTotals) throws(Failure) -> ImportedFormat {
    guard let format, isComplete, totals == ImportTotals(entries: entries.count, fields: fields) else {
      throw ImportProgram.wrong
    }
    return format
  }

  /// True if the last entry has all the fields that it announced.
  private var isComplete: Bool { entries.last.map { $0.fields.count == $0.facts.fieldCount } ?? true }

  private mutating func count(_ more: Int) throws(Failure) {
    bytes += more
    guard bytes <= Self.most.bytes else { throw ImportSource.tooLarge }
  }
}
