internal import VaultBytes
internal import VaultModel
internal import VaultWire

// The earlier values of fields.
extension EntryMapping {
  /// The most versions that the vault keeps of an item, the current one included.
  static let mostVersions = 10
  /// The most bytes that the vault keeps of an item's versions, the current one not included.
  static let mostVersionBytes = 1 << 20

  /// Makes versions of the earlier values.
  mutating func placeVersions() {
    if hasPassword { add(open([.oldPassword]), to: 0) }
    var fields: [Int: [Int]] = [:]
    for index in open([.oldField]) {
      if let item = itemHolding(entry.fields[index].facts.name) {
        fields[item, default: []].append(index)
      } else {
        places[index] = FieldPlace(fate: .refused("an attribute has no earlier versions"))
      }
    }
    for (item, indices) in fields.sorted(by: { $0.key < $1.key }) { add(indices, to: item) }
  }

  /// The index of the item whose value is the field of this name.
  private func itemHolding(_ name: String) -> Int? {
    // The note that lists the texts of an entry is no field of it.
    if isValueless { return nil }
    return items.indices.first { index in
      let field = items[index].value.facts
      // The earlier values of the password have a role of their own.
      if index == 0, hasPassword { return false }
      return field.role != .oldPassword && field.name.utf8.elementsEqual(name.utf8)
    }
  }

  /// Adds earlier values to an item, the oldest first, as many as the vault keeps.
  private mutating func add(_ indices: [Int], to item: Int) {
    let target = items[item]
    var kept: [Int] = []
    for index in inOrder(indices) {
      let field = entry.fields[index]
      guard FittingKind.first(of: [target.kind], for: field.value, attributes) == target.kind else {
        places[index] = FieldPlace(fate: .refused("it is not a value of kind \(target.kind.rawValue)"))
        continue
      }
      kept.append(index)
    }
    // Programs keep whole entries, so that a value often repeats: the equal ones are one version.
    var runs: [[Int]] = []
    for index in kept {
      if let last = runs.last?.last, entry.fields[last].value.isSame(as: entry.fields[index].value) {
        runs[runs.count - 1].append(index)
      } else {
        runs.append([index])
      }
    }
    if let last = runs.last, entry.fields[last[0]].value.isSame(as: target.value.value) {
      for index in last { places[index] = FieldPlace(fate: .version, item: item) }
      runs.removeLast()
    }
    var bytes = 0
    for (number, run) in runs.reversed().enumerated() {
      bytes += entry.fields[run[0]].value.count
      let isKept = number < Self.mostVersions - 1 && bytes <= Self.mostVersionBytes
      let place = isKept ? FieldPlace(fate: .version, item: item, age: number + 1) : FieldPlace(fate: Self.tooMany)
      for index in run { places[index] = place }
      if isKept { target.versions.insert(entry.fields[run[0]], at: 0) }
    }
  }

  private static let tooMany = FieldFate.refused("only ten versions are kept, with 1 MiB of earlier ones")

  /// The fields from the oldest to the newest: by their times if all have one, or else as the source has them.
  private func inOrder(_ indices: [Int]) -> [Int] {
    let times = indices.map { entry.fields[$0].facts.time }
    guard !times.contains(nil) else { return indices }
    return indices.sorted { one, other in
      let (first, second) = (entry.fields[one].facts.time ?? 0, entry.fields[other].facts.time ?? 0)
      return first == second ? one < other : first < second
    }
  }
}

extension SecretBuffer {
  /// True if both hold the same bytes. The time of the comparison depends on the bytes, which are of one source.
  borrowing func isSame(as other: borrowing SecretBuffer) -> Bool {
    guard count == other.count else { return false }
    return withBytes { mine in
      other.withBytes { theirs in
        let (mine, theirs) = (Span<UInt8>(_bytes: mine), Span<UInt8>(_bytes: theirs))
        return mine.indices.allSatisfy { mine[$0] == theirs[$0] }
      }
    }
  }
}
