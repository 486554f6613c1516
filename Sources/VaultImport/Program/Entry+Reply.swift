internal import VaultWire

// A source may hold anything, and replies have limits. Whatever exceeds them is cut in the facts of an entry, of which
// the fields have the whole text, or becomes a refused field, so that the account of the import adds up.

extension Entry {
  /// The most bytes of the name of a folder in a reply: a name of 512 bytes is the longest one that the vault keeps.
  private static let longestFolder = 4096

  /// The facts that precede the fields, of which there are `count`.
  func facts(fields count: Int) -> ImportedEntry {
    var names = folder
    if names.count > ImportedEntry.most.folders {
      // The last name stands for all that are too deep.
      let deep = names[(ImportedEntry.most.folders - 1)...].joined(separator: "/")
      names = names.prefix(ImportedEntry.most.folders - 1) + [deep]
    }
    return ImportedEntry(
      // Two entries whose long identifications only begin alike must not be taken for one.
      kind, id: id.utf8.count > ImportedEntry.most.text ? "" : id,
      folder: names.map { $0.cut(Self.longestFolder) }, title: title.cut(ImportedEntry.most.text),
      isTrashed: isTrashed, fieldCount: count)
  }

  /// The fields within the limits of replies. If there are too many, the last one stands for all that are left out.
  var fittingFields: [Field] {
    let most = ImportedEntry.most.fields
    guard fields.count > most else { return fields.map(\.fitting) }
    let left = fields[(most - 1)...]
    let size = left.reduce(0) { sum, field in
      let (sum, isTooLarge) = sum.addingReportingOverflow(field.size)
      return isTooLarge ? Int.max : sum
    }
    let rest = Field(
      "\(left.count) more fields", .text, [], size: size, refusal: "an entry has room for \(most) fields")
    return fields.prefix(most - 1).map(\.fitting) + [rest]
  }
}

extension Field {
  private static let longestType = 256

  /// The field, refused if its value is too large, and without a value if it is refused.
  fileprivate var fitting: Field {
    var field = self
    field.name = name.cut(ImportedField.longestName)
    field.size = max(0, size)
    if let type = mediaType, type.utf8.count > Self.longestType { field.mediaType = nil }
    if refusal == nil, value.count > ImportedField.longestValue {
      field.refusal = ImportedField.tooLarge(value.count)
    }
    field.refusal = field.refusal.map { $0.cut(ImportedField.longestName) }
    if field.refusal != nil { field.value = [] }
    return field
  }

  /// The facts of the field, without its value.
  var facts: ImportedField {
    ImportedField(
      name, role, time: time, mediaType: mediaType, size: size, refusal: refusal, place: place, mark: mark)
  }
}
