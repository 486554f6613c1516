extension Hasher {
  /// Combines bytes, eight at a time, which takes a third of the time of `combine(bytes:)`. Some of the last bytes may
  /// be combined twice, so the caller must combine the count as well.
  ///
  /// A text must be hashed by its bytes, because Swift considers different texts equal if they look the same.
  public mutating func combine(words bytes: RawSpan) {
    let count = bytes.byteCount
    for offset in stride(from: 0, to: count - 7, by: 8) { combine(Self.word(at: offset, in: bytes)) }
    guard count % 8 > 0 else { return }
    if count > 8 { return combine(Self.word(at: count - 8, in: bytes)) }
    var rest: UInt64 = 0
    for index in 0..<count { rest = rest << 8 | UInt64(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
    combine(rest)
  }

  /// The eight bytes at `offset` as an integer. Every bit pattern is an integer, and the offset is checked.
  private static func word(at offset: Int, in bytes: RawSpan) -> UInt64 {
    unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }
}
