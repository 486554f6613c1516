extension JSONParser {
  /// The number of members up to which every key is compared with every other. The keys of larger objects, and of
  /// objects with escaped keys, are hashed first, so that the cost of a text stays linear in its size.
  private static let pairwiseLimit = 12

  /// True if two keys of `object` are the same text after their escapes are decoded.
  func hasDuplicateKey(_ object: Int, members: Int, in text: Span<UInt8>) -> Bool {
    members <= JSONParser.pairwiseLimit && !hasEscapedKey(object)
      ? hasDuplicateAmongFew(object, in: text) : hasDuplicateAmongMany(object, members: members, in: text)
  }

  private func hasEscapedKey(_ object: Int) -> Bool {
    let end = Int(records[object].next)
    var key = object + 1
    while key < end {
      if records[key].escaped { return true }
      key = nextKey(key)
    }
    return false
  }

  private func hasDuplicateAmongFew(_ object: Int, in text: Span<UInt8>) -> Bool {
    let end = Int(records[object].next)
    var key = object + 1
    while key < end {
      var other = nextKey(key)
      while other < end {
        if areEqualKeys(key, other, in: text) { return true }
        other = nextKey(other)
      }
      key = nextKey(key)
    }
    return false
  }

  private func hasDuplicateAmongMany(_ object: Int, members: Int, in text: Span<UInt8>) -> Bool {
    var keys: [(hash: Int, index: Int)] = []
    keys.reserveCapacity(members)
    var key = object + 1
    while key < Int(records[object].next) {
      keys.append((hash(of: key, in: text), key))
      key = nextKey(key)
    }
    keys.sort { $0.hash < $1.hash }
    // Equal keys have equal hashes. No sender can make different keys collide, because `Hasher` is seeded per process.
    for first in keys.indices {
      var second = first + 1
      while second < keys.count, keys[second].hash == keys[first].hash {
        if areEqualKeys(keys[first].index, keys[second].index, in: text) { return true }
        second += 1
      }
    }
    return false
  }

  /// The index of the next key, whose record follows those of this key's value and all its content.
  private func nextKey(_ key: Int) -> Int { Int(records[key + 1].next) }

  private func hash(of key: Int, in text: Span<UInt8>) -> Int {
    var hasher = Hasher()
    let record = records[key]
    if record.escaped {
      var meant: [UInt8] = []
      var bytes = JSONUnescaping(record)
      while let byte = bytes.next(text) { meant.append(byte) }
      // The bytes are lent for the call.
      unsafe meant.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    } else {
      unsafe text.extracting(Int(record.start)..<Int(record.end)).withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
    return hasher.finalize()
  }

  private func areEqualKeys(_ left: Int, _ right: Int, in text: Span<UInt8>) -> Bool {
    let (one, other) = (records[left], records[right])
    // Without escapes, keys of different lengths differ, and most keys have different lengths.
    if !one.escaped, !other.escaped {
      return one.end - one.start == other.end - other.start
        && text.holds(Int(one.start)..<Int(one.end), at: Int(other.start))
    }
    var ours = JSONUnescaping(one)
    var theirs = JSONUnescaping(other)
    while true {
      let byte = ours.next(text)
      guard byte == theirs.next(text) else { return false }
      if byte == nil { return true }
    }
  }
}
