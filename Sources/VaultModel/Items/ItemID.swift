/// The random identity of one item, to which its records are bound: 16 bytes.
///
/// Row numbers are local to one store. Two stores that exchange records never draw the same identity, and a record
/// always tells which item it belongs to.
public struct ItemID: Hashable, Sendable {
  /// The size in bytes.
  public static let count = 16
  // Two words instead of an array, because every request carries an identity.
  package let words: (UInt64, UInt64)

  package init(words: (UInt64, UInt64)) { self.words = words }

  /// Takes the bytes that a store holds; nil for another size.
  public init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.count else { return nil }
    // The size was checked: there are 16 bytes.
    words = unsafe bytes.unsafeLoadUnaligned(as: (UInt64, UInt64).self)
  }

  /// The same 16 bytes as two little-endian numbers.
  package var numbers: (Int64, Int64) {
    (Int64(bitPattern: UInt64(littleEndian: words.0)), Int64(bitPattern: UInt64(littleEndian: words.1)))
  }

  /// Makes the identity from two such numbers.
  package init(numbers: (Int64, Int64)) {
    words = (UInt64(bitPattern: numbers.0).littleEndian, UInt64(bitPattern: numbers.1).littleEndian)
  }

  /// Lends the 16 bytes.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // Both closures finish before the copy of the words is gone.
    try unsafe withUnsafeBytes(of: words) { (bytes: UnsafeRawBufferPointer) throws(E) -> R in
      try body(unsafe RawSpan(_unsafeBytes: bytes))
    }
  }

  public static func == (a: ItemID, b: ItemID) -> Bool { a.words == b.words }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}
