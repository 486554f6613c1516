/// The random identity of one item, which its records are bound to: 16 bytes.
///
/// Row numbers belong to one store. Two stores that exchange records never draw the same identity, and a record says whose
/// it is wherever it lies.
public struct ItemID: Hashable, Sendable {
  /// The size in bytes.
  public static let count = 16
  // Two words and no array: an identity comes with each request.
  package let words: (UInt64, UInt64)

  package init(words: (UInt64, UInt64)) { self.words = words }

  /// Takes the bytes that a store holds; nil for another size.
  public init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.count else { return nil }
    // Checked: 16 bytes are there.
    words = unsafe bytes.unsafeLoadUnaligned(as: (UInt64, UInt64).self)
  }

  /// The two little-endian numbers that are the same 16 bytes.
  package var numbers: (Int64, Int64) {
    (Int64(bitPattern: UInt64(littleEndian: words.0)), Int64(bitPattern: UInt64(littleEndian: words.1)))
  }

  /// The identity of two such numbers.
  package init(numbers: (Int64, Int64)) {
    words = (UInt64(bitPattern: numbers.0).littleEndian, UInt64(bitPattern: numbers.1).littleEndian)
  }

  /// Lends the 16 bytes.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // Both closures run before the copy of the words ends its life.
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
