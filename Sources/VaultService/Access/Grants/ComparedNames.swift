internal import Glibc
internal import VaultModel

/// Names of items that are compared with patterns: each pattern only once, and only with names in its folder.
struct ComparedNames {
  /// The further steps for a pattern that has names in its folder; see ``CallLimits/steps``. They are for remembering
  /// the pattern.
  private static let stepsOfPattern = 300

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
    let range = range(of: pattern)
    // For most patterns, the search is less work than remembering the result.
    if range.isEmpty { return false }
    if let known = known[pattern] { return known }
    let isFound = names[range].contains(where: pattern.matches)
    known[pattern] = isFound
    return isFound
  }

  /// The most steps of the comparisons of the names with the pattern; see ``CallLimits/steps``.
  ///
  /// - Parameter isKnown: called if the pattern has names; returns true if it was counted before.
  func steps(with pattern: ItemPattern, isKnown: () -> Bool) -> Int {
    let found = range(of: pattern)
    let ofSearch = CallLimits.stepsOfComparison + CallLimits.stepsOfFolder * (pattern.folder?.utf8.count ?? 0)
    if found.isEmpty || isKnown() { return ofSearch }
    return ofSearch + Self.stepsOfPattern + CallLimits.stepsOfComparison * found.count
      + pattern.steps(for: bytes[found.upperBound] - bytes[found.lowerBound])
  }

  /// The places of the names that the pattern may match.
  private func range(of pattern: ItemPattern) -> Range<Int> {
    if pattern.isExact {
      let first = place(of: pattern.text)
      let isThere = first < names.count && pattern.matches(names[first])
      return first..<(isThere ? first + 1 : first)
    }
    guard let folder = pattern.folder else { return names.indices }
    let slash = UInt8(ascii: "/")
    let first = place(of: folder, slash)
    // Most folders have none of the names.
    if first == names.count || !isInFolder(names[first], folder) { return first..<first }
    // In ASCII the digit 0 follows the slash, so all names in the folder, and no others, are between the two places.
    return first..<place(of: folder, slash + 1, from: first)
  }

  private func isInFolder(_ name: ItemName, _ folder: String) -> Bool {
    !isBefore(name, folder, UInt8(ascii: "/")) && isBefore(name, folder, UInt8(ascii: "0"))
  }

  /// The place of the first name that does not come before the text. If `byte` is given, the text ends with this byte
  /// in addition.
  private func place(of text: String, _ byte: UInt8? = nil, from start: Int = 0) -> Int {
    var range = start..<names.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = isBefore(names[middle], text, byte) ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  private func isBefore(_ name: ItemName, _ text: String, _ byte: UInt8?) -> Bool {
    let (name, text) = (name.text.utf8Span.span, text.utf8Span.span)
    let order = unsafe name.withUnsafeBufferPointer { name in
      // Neither is empty, and both have at least the number of bytes that is compared.
      unsafe text.withUnsafeBufferPointer { text in
        unsafe memcmp(name.baseAddress!, text.baseAddress!, min(name.count, text.count))
      }
    }
    if order != 0 { return order < 0 }
    guard let byte, name.count >= text.count else { return name.count < text.count }
    return name.count == text.count || name[text.count] < byte
  }
}
