/// A map of the used bytes of one page. It shows when a byte would serve two purposes.
struct PageSpace {
  private var words = [UInt64](repeating: 0, count: Page.size / 64)
  private(set) var taken = 0

  /// Marks `range`, which must lie within the page, as used; false when a byte of it was used before.
  mutating func take(_ range: Range<Int>) -> Bool {
    var from = range.lowerBound
    while from < range.upperBound {
      let (word, bit) = (from >> 6, from & 63)
      let count = min(64 - bit, range.upperBound - from)
      let mask = (UInt64.max >> UInt64(64 - count)) << UInt64(bit)
      guard words[word] & mask == 0 else { return false }
      words[word] |= mask
      from += count
    }
    taken += range.count
    return true
  }

  /// Marks all bytes as unused.
  mutating func clear() {
    for index in words.indices { words[index] = 0 }
    taken = 0
  }
}
