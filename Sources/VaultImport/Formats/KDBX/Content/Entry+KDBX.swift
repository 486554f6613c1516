internal import VaultWire

extension Entry {
  /// Adds a field unless it is empty. A field for which an item has no room is refused.
  mutating func keep(_ name: String, _ role: ImportedField.Role, _ value: [UInt8], time: Int64? = nil) {
    let name = name.cut(ImportedField.longestName)
    if value.count > ImportedField.longestValue {
      refuseLarge(name, role, value.count)
    } else if !value.isEmpty {
      fields.append(Field(name, role, value, time: time))
    }
  }

  /// Refuses a field for which an item has no room.
  mutating func refuseLarge(_ name: String, _ role: ImportedField.Role, _ count: Int) {
    let room = KDBXWords.size(ImportedField.longestValue)
    refuse(name, role, size: count, "it has \(KDBXWords.size(count)), and an item has room for \(room)")
  }

  /// Leaves out fields if there are too many: the oldest values of the history or, if those are too few, the last
  /// fields. One refusal stands for all of them.
  mutating func limitFields() {
    // One more, because the refusal is a field too.
    let excess = fields.count - ImportedEntry.most.fields + 1
    guard excess > 1 else { return }
    let old = fields.indices.filter { [.oldPassword, .oldField].contains(fields[$0].role) }
    let isEnough = old.count >= excess
    let left = Set(isEnough ? Array(old.prefix(excess)) : Array(fields.indices.suffix(excess)))
    let size = left.reduce(0) { $0 + fields[$1].size }
    fields = fields.indices.filter { !left.contains($0) }.map { fields[$0] }
    let place = isEnough ? "the oldest of its history" : "the last ones"
    refuse(
      isEnough ? "History" : "String", isEnough ? .oldField : .text, size: size,
      "the entry has more than \(ImportedEntry.most.fields) fields, and these \(excess) are \(place)")
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
