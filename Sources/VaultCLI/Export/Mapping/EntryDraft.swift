internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// An entry that an export makes of items, while its fields are added.
struct EntryDraft {
  var kind = ImportedEntry.Kind.login
  var id = ""
  var folder: [String] = []
  var title = ""
  private(set) var fields: [SourceField] = []

  /// The index that the next field gets.
  var next: Int { fields.count }

  mutating func add(
    _ name: String, _ role: ImportedField.Role, _ value: borrowing SecretBuffer, time: Int64? = nil,
    mediaType: String? = nil, mark: String? = nil
  ) {
    let facts = ImportedField(name, role, time: time, mediaType: mediaType, size: value.count, mark: mark)
    fields.append(SourceField(facts, value.withBytes { SecretBuffer(copying: $0) }))
  }

  mutating func add(_ name: String, _ role: ImportedField.Role, text: String, mark: String? = nil) {
    var value = SecretBuffer(capacity: text.utf8.count)
    value.append(utf8: text)
    add(name, role, value, mark: mark)
  }

  func has(_ role: ImportedField.Role) -> Bool { fields.contains { $0.facts.role == role } }
  func has(_ name: String) -> Bool { fields.contains { $0.facts.name.utf8.elementsEqual(name.utf8) } }

  /// The whole entry.
  func finish() -> SourceEntry {
    let facts = ImportedEntry(
      kind, id: id, folder: folder, title: title, isTrashed: false, fieldCount: fields.count)
    let entry = SourceEntry(facts)
    entry.fields = fields
    return entry
  }
}

/// An entry for a format, and the items that it holds.
struct ExportedEntry {
  let entry: SourceEntry
  /// The items, and for each the index of the field that is its value; nil if the format cannot hold it.
  let items: [(item: ExportedItem, field: Int?)]
}
