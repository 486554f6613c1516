internal import VaultModel

/// Names of items that are compared with patterns: each pattern only once, and only with names in its folder.
struct ComparedNames {
  /// The names, sorted by their bytes.
  private let names: [ItemName]
  /// The number of bytes of the names before each place, and of all names at the end.
  private let bytes: [Int]
  /// The results for the patterns so far, if there are several names.
  private var known: [ItemPattern: Bool] = [:]

  init(_ names: [ItemName]) {
    let names = names.count < 2 ? names : names.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    self.names = names
    bytes = names.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.text.utf8.count) }
  }

  /// True if the pattern matches one of the names.
  mutating func has(_ pattern: ItemPattern) -> Bool {
    guard names.count > 1 else { return names.contains(where: pattern.matches) }
    if let known = known[pattern] { return known }
    let isFound = names[range(of: pattern)].contains(where: pattern.matches)
    known[pattern] = isFound
    return isFound
  }

  /// The most steps of the comparisons of the names with the pattern; see ``CallLimits/steps``.
  func steps(with pattern: ItemPattern) -> Int {
    let found = range(of: pattern)
    let ofFolder = CallLimits.stepsOfFolder * (pattern.folder?.utf8.count ?? 0)
    return CallLimits.stepsOfComparison * (1 + found.count) + ofFolder
      + pattern.steps(for: bytes[found.upperBound] - bytes[found.lowerBound])
  }

  /// The places of the names that the pattern may match.
  private func range(of pattern: ItemPattern) -> Range<Int> {
    if pattern.isExact {
      let first = place(of: pattern.text)
      return first..<min(first + 1, names.count)
    }
    guard let folder = pattern.folder else { return names.indices }
    // The digit 0 is the next byte after the slash, so all names in the folder, and no others, are between the two.
    return place(of: "\(folder)/")..<place(of: "\(folder)0")
  }

  /// The place of the first name that the text does not follow.
  private func place(of text: String) -> Int {
    var range = names.indices
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      let isBefore = names[middle].text.utf8.lexicographicallyPrecedes(text.utf8)
      range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
