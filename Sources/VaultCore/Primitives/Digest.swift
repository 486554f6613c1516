internal import CSodium

/// An unkeyed 32-byte BLAKE2b hash (RFC 7693) of public bytes, such as a value record as it lies in the store.
public struct Digest: Hashable, Sendable {
  /// The size in bytes.
  public static let count = 32
  // Four words instead of an array: a head record carries up to a dozen of them through every request.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Hashes `bytes`.
  public init(of bytes: RawSpan) {
    Sodium.start()
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { out in
      unsafe bytes.withUnsafeBytes { input in
        // The size of `words` is the hash's, so this cannot fail.
        _ = unsafe crypto_generichash(out.baseAddress!, out.count, input.baseAddress, UInt64(input.count), nil, 0)
      }
    }
    self.words = words
  }

  /// Takes the 32 bytes of a stored digest; nil for another size.
  public init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.count else { return nil }
    // Checked: 32 bytes are there.
    words = unsafe bytes.unsafeLoadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self)
  }

  /// Lends the 32 bytes.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // Both closures finish before the copy of the words is gone.
    try unsafe withUnsafeBytes(of: words) { (bytes: UnsafeRawBufferPointer) throws(E) -> R in
      try body(unsafe RawSpan(_unsafeBytes: bytes))
    }
  }

  public static func == (a: Digest, b: Digest) -> Bool { a.words == b.words }

  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
