internal import VaultBytes
internal import VaultWire

/// The keys of all objects in which a ``JSONReader`` is, by which it finds a key that an object has twice. RFC 8259,
/// section 4, leaves the meaning of such an object open, so the reader refuses it.
struct JSONKeys: Sendable {
  private struct Key: Sendable {
    let hash: Int
    let text: JSONReader.Text
  }

  /// The number of keys up to which each is compared with every other, without sorting.
  private static let pairwiseLimit = 12

  private var keys: [Key] = []

  var count: Int { keys.count }

  mutating func append(_ text: JSONReader.Text, in bytes: [UInt8]) {
    keys.append(Key(hash: Self.hash(of: text, in: bytes), text: text))
  }

  mutating func removeAll(from first: Int) { keys.removeSubrange(first...) }

  /// True if no two keys from `first` on are the same text after their escapes are decoded.
  ///
  /// Equal keys have equal hashes. No file can make different keys collide, because `Hasher` is seeded per process.
  mutating func areDistinct(from first: Int, in bytes: [UInt8]) -> Bool {
    guard keys.count - first > Self.pairwiseLimit else {
      for place in first..<keys.count {
        for other in place + 1..<keys.count where isSame(place, other, in: bytes) { return false }
      }
      return true
    }
    keys[first...].sort { $0.hash < $1.hash }
    for place in first..<keys.count {
      var other = place + 1
      while other < keys.count, keys[other].hash == keys[place].hash {
        if isSame(place, other, in: bytes) { return false }
        other += 1
      }
    }
    return true
  }

  private func isSame(_ place: Int, _ other: Int, in bytes: [UInt8]) -> Bool {
    let (one, two) = (keys[place], keys[other])
    guard one.hash == two.hash, one.text.count == two.text.count else { return false }
    return one.text.decoded(in: bytes) == two.text.decoded(in: bytes)
  }

  private static func hash(of text: JSONReader.Text, in bytes: [UInt8]) -> Int {
    var hasher = Hasher()
    hasher.combine(text.count)
    if text.isEscaped {
      text.decoded(in: bytes).withSpan { hasher.combine(words: $0) }
    } else {
      bytes.withSpan { hasher.combine(words: $0.extracting(text.range)) }
    }
    return hasher.finalize()
  }
}
