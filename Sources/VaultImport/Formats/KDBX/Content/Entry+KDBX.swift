internal import VaultWire

extension Entry {
  /// Adds a field unless it is empty, and refuses one for which an item has no room.
  mutating func put(_ name: String, _ role: ImportedField.Role, _ value: [UInt8], time: Int64? = nil) {
    let name = name.cut(ImportedField.longestName)
    if value.count > ImportedField.longestValue {
      refuseTooLarge(name, role, value.count)
    } else if !value.isEmpty {
      fields.append(Field(name, role, value, time: time))
    }
  }

  /// Refuses a field for which an item has no room.
  mutating func refuseTooLarge(_ name: String, _ role: ImportedField.Role, _ count: Int) {
    let room = KDBXWords.size(ImportedField.longestValue)
    refuse(name, role, size: count, "it has \(KDBXWords.size(count)), and an item has room for \(room)")
  }

  /// Leaves out the oldest values of the history as long as there are too many fields.
  ///
  /// - Throws: ``ImportFailure`` if there are too many without the history.
  mutating func limitFields() throws(ImportFailure) {
    let excess = fields.count - ImportedEntry.most.fields
    guard excess > 0 else { return }
    let old = fields.indices.filter { [.oldPassword, .oldField].contains(fields[$0].role) }
    guard old.count > excess else {
      throw ImportFailure(
        .tooLarge, "an entry has \(fields.count) fields, and there is room for \(ImportedEntry.most.fields)")
    }
    // One more, because the refusal is a field too.
    let left = Set(old.prefix(excess + 1))
    let size = left.reduce(0) { $0 + fields[$1].size }
    fields = fields.indices.filter { !left.contains($0) }.map { fields[$0] }
    refuse("History", .oldField, size: size, "the entry has too many earlier values; these are the oldest \(left.count)")
  }
}

extension String {
  /// The text, or as many whole characters of it as have at most `count` bytes.
  func cut(_ count: Int) -> String {
    guard utf8.count > count else { return self }
    var end = utf8.index(startIndex, offsetBy: count)
    while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}
