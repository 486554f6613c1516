internal import VaultWire

extension Entry {
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
