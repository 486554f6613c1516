internal import CSodium

/// A blind index entry: 16 bytes of keyed BLAKE2b that represent a name or an attribute in the store.
///
/// Equal inputs under one key give equal tags, and the store learns nothing else. The input is a domain byte and then
/// each part after its length (4 bytes, little-endian), so no two different lists of parts have the same encoding. The
/// first bit is 0 for the domain of names and 1 for all others, so that the tags of names lie together in one part of
/// their table. Every request for a value looks only into that part.
public struct Tag: Hashable, Sendable {
  /// The size in bytes.
  public static let count = 16
  /// The domain of item names.
  public static let names: UInt8 = 1
  private let words: (UInt64, UInt64)

  /// Makes the tag of one part.
  public init(domain: UInt8, _ part: RawSpan, key: borrowing SecureBytes) {
    words = Self.hash(domain, part, nil, key)
  }

  /// Makes the tag of two parts.
  public init(domain: UInt8, _ first: RawSpan, _ second: RawSpan, key: borrowing SecureBytes) {
    words = Self.hash(domain, first, second, key)
  }

  /// Makes the tag of one text, in UTF-8.
  public init(domain: UInt8, _ part: String, key: borrowing SecureBytes) {
    unsafe self.init(domain: domain, part.utf8Span.span.bytes, key: key)
  }

  /// Makes the tag of two texts, in UTF-8.
  public init(domain: UInt8, _ first: String, _ second: String, key: borrowing SecureBytes) {
    unsafe self.init(domain: domain, first.utf8Span.span.bytes, second.utf8Span.span.bytes, key: key)
  }

  /// Takes the 16 bytes of a stored tag; nil for another size.
  public init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.count else { return nil }
    // The size was checked: there are 16 bytes.
    words = unsafe bytes.unsafeLoadUnaligned(as: (UInt64, UInt64).self)
  }

  /// Lends the 16 bytes.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // Both closures finish before the copy of the words is gone.
    try unsafe withUnsafeBytes(of: words) { (bytes: UnsafeRawBufferPointer) throws(E) -> R in
      try body(unsafe RawSpan(_unsafeBytes: bytes))
    }
  }

  /// The first bytes as a number, which ascends in the order of the tags in their table.
  public var order: UInt64 { words.0.bigEndian }

  public static func == (a: Tag, b: Tag) -> Bool { a.words == b.words }

  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

  private static func hash(
    _ domain: UInt8, _ first: RawSpan, _ second: RawSpan?, _ key: borrowing SecureBytes
  ) -> (UInt64, UInt64) {
    precondition((16...64).contains(key.count), "a hash key has 16 to 64 bytes")
    var words: (UInt64, UInt64) = (0, 0)
    unsafe KeyedHash.withState(key: key, count: count) { state in
      unsafe withUnsafeBytes(of: domain) { byte in
        unsafe KeyedHash.update(state, RawSpan(_unsafeBytes: byte))
      }
      unsafe updatePrefixed(state, first)
      if let second { unsafe updatePrefixed(state, second) }
      unsafe withUnsafeMutableBytes(of: &words) { out in
        // The size is the one for which the state was made.
        _ = unsafe crypto_generichash_final(state, out.baseAddress!, out.count)
        if domain == names { unsafe out[0] &= 0x7F } else { unsafe out[0] |= 0x80 }
      }
    }
    return words
  }

  @unsafe private static func updatePrefixed(_ state: OpaquePointer, _ part: RawSpan) {
    unsafe withUnsafeBytes(of: UInt32(part.byteCount).littleEndian) { length in
      unsafe KeyedHash.update(state, RawSpan(_unsafeBytes: length))
    }
    unsafe KeyedHash.update(state, part)
  }
}
