internal import VaultBytes
internal import VaultWire

/// A set of eight-byte strings, in memory that wipes itself.
struct GramSet: ~Copyable {
  /// The length of each string in bytes.
  static let length = 8
  private static let least = 64

  /// The places, of eight bytes each; their number is a power of two. At least half of them are zero, which means
  /// empty.
  private var table = SecretBuffer()
  private var places = 0
  private var count = 0
  private var hasZero = false

  /// Adds a string.
  mutating func insert(_ gram: UInt64) {
    if gram == 0 {
      hasZero = true
      return
    }
    if 2 * (count + 1) > places { grow() }
    if Self.put(gram, into: &table, places) { count += 1 }
  }

  func contains(_ gram: UInt64) -> Bool {
    if gram == 0 { return hasZero }
    guard places > 0 else { return false }
    let places = places
    return table.withBytes { table in
      var at = Self.first(gram, places)
      while true {
        let found = Self.gram(table, at)
        if found == gram || found == 0 { return found == gram }
        at = (at + 1) & (places - 1)
      }
    }
  }

  private mutating func grow() {
    let larger = max(Self.least, 2 * places)
    var next = SecretBuffer(capacity: Self.length * larger)
    next.append(count: Self.length * larger) { _ in }
    table.withBytes { old in
      for place in 0..<places {
        let gram = Self.gram(old, place)
        if gram != 0 { _ = Self.put(gram, into: &next, larger) }
      }
    }
    table = next
    places = larger
  }

  /// Puts a string in its place; returns false if it was already there.
  private static func put(_ gram: UInt64, into table: inout SecretBuffer, _ places: Int) -> Bool {
    table.withMutableBytes { table in
      var at = first(gram, places)
      while true {
        let found = Self.gram(table.bytes, at)
        if found == gram { return false }
        if found == 0 {
          table.storeBytes(of: gram, toByteOffset: length * at, as: UInt64.self)
          return true
        }
        at = (at + 1) & (places - 1)
      }
    }
  }

  private static func gram(_ table: RawSpan, _ place: Int) -> UInt64 {
    // Any bit pattern is a string, and the places lie within the table.
    unsafe table.unsafeLoadUnaligned(fromByteOffset: length * place, as: UInt64.self)
  }

  /// Returns the place at which the search for a string begins: Fibonacci hashing (Knuth, The Art of Computer
  /// Programming 3, 6.4).
  private static func first(_ gram: UInt64, _ places: Int) -> Int {
    Int(truncatingIfNeeded: (gram ^ gram >> 29) &* 0x9E37_79B9_7F4A_7C15 >> 32) & (places - 1)
  }
}

extension RawSpan {
  /// Calls `body` with each eight-byte string of the bytes and its offset.
  func forEachGram(_ body: (UInt64, Int) -> Void) {
    guard byteCount >= GramSet.length else { return }
    for place in 0...byteCount - GramSet.length {
      // The offset is within the span.
      body(unsafe unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self), place)
    }
  }
}
