internal import VaultBytes
internal import VaultWire

/// The texts before values, sorted so that a search for the texts before a place need not look at every text.
struct ContextIndex: ~Copyable {
  /// A text before one or more values; see ``Context/forEachByte(before:in:_:)``.
  struct Entry {
    let bytes: Range<Int>
    /// True if the text counts only where it stands apart.
    let isApart: Bool
  }

  /// The bytes of all texts. They may include parts of other values, so they lie in memory that wipes itself.
  private let bytes: SecretBuffer
  private let entries: [Entry]
  /// The range of the entries that begin with each byte.
  private let firsts: [Range<Int>]
  /// The number of each value's entry.
  let numbers: [Int]

  /// - Parameter places: the places of the values in `text`.
  init(_ text: RawSpan, before places: [Range<Int>]) {
    var bytes = SecretBuffer()
    var all: [Entry] = []
    for place in places {
      let start = bytes.count
      let isApart = Context.forEachByte(before: place.lowerBound, in: text) { bytes.append($0) }
      all.append(Entry(bytes: start..<bytes.count, isApart: isApart))
    }
    var (entries, numbers): ([Entry], [Int]) = ([], Array(repeating: 0, count: all.count))
    var firsts = Array(repeating: 0..<0, count: 256)
    bytes.withBytes { bytes in
      let order = all.indices.sorted { Self.order(all[$0], all[$1], bytes) < 0 }
      for index in order {
        if entries.last.map({ Self.order($0, all[index], bytes) != 0 }) ?? true { entries.append(all[index]) }
        numbers[index] = entries.count - 1
      }
      let span = Span<UInt8>(_bytes: bytes)
      for (number, entry) in entries.enumerated() where !entry.bytes.isEmpty {
        let first = Int(span[entry.bytes.lowerBound])
        firsts[first] = (firsts[first].isEmpty ? number : firsts[first].lowerBound)..<number + 1
      }
    }
    self.bytes = bytes
    (self.entries, self.firsts, self.numbers) = (entries, firsts, numbers)
  }

  /// Compares the bytes of two texts; if these are equal, a text that counts only where it stands apart comes last. The
  /// result is below, at or above zero.
  private static func order(_ one: Entry, _ other: Entry, _ bytes: RawSpan) -> Int {
    let span = Span<UInt8>(_bytes: bytes)
    for offset in 0..<min(one.bytes.count, other.bytes.count) {
      let (left, right) = (span[one.bytes.lowerBound + offset], span[other.bytes.lowerBound + offset])
      if left != right { return left < right ? -1 : 1 }
    }
    if one.bytes.count != other.bytes.count { return one.bytes.count - other.bytes.count }
    return one.isApart == other.isApart ? 0 : one.isApart ? 1 : -1
  }

  /// Calls `body` with the number of each entry whose text stands before a place.
  func forEach(before end: Int, in text: RawSpan, _ body: (Int) -> Void) {
    let text = Span<UInt8>(_bytes: text)
    bytes.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      var (low, high, depth, left) = (0, entries.count, 0, end)
      // All entries from `low` to `high` have the bytes that were compared so far.
      while low < high {
        let isApart = depth < Context.most && Context.isApart(text, &left)
        while low < high, entries[low].bytes.count == depth {
          if isApart || !entries[low].isApart { body(low) }
          low += 1
        }
        guard low < high, left > 0 else { return }
        let byte = text[left - 1]
        if depth == 0 {
          (low, high) = (firsts[Int(byte)].lowerBound, firsts[Int(byte)].upperBound)
        } else {
          low = first(from: low, to: high) { bytes[entries[$0].bytes.lowerBound + depth] >= byte }
          high = first(from: low, to: high) { bytes[entries[$0].bytes.lowerBound + depth] > byte }
        }
        (left, depth) = (left - 1, depth + 1)
      }
    }
  }

  /// Returns the first number from which on `isBehind` is true.
  private func first(from low: Int, to high: Int, _ isBehind: (Int) -> Bool) -> Int {
    var (low, high) = (low, high)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Returns the first place in `text` before which each entry's text stands; nil for an entry without one.
  func firstPlaces(in text: RawSpan) -> [Int?] {
    var steps = 0
    return firstPlaces(in: text, steps: &steps)
  }

  /// - Parameter steps: a counter, increased by the number of comparisons made.
  func firstPlaces(in text: RawSpan, steps: inout Int) -> [Int?] {
    var count = 0
    let places = bytes.withBytes { ContextSearch($0, entries).firstPlaces(in: text, $0, steps: &count) }
    steps += count
    return places
  }
}
