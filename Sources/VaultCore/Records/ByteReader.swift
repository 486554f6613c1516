/// A reader of little-endian numbers and runs of bytes, front to back, never past the end.
///
/// The reader holds only the position; the bytes are passed to each call, because a span cannot be stored.
struct ByteReader {
  private(set) var offset = 0

  /// The number of bytes left in `input`.
  func remaining(_ input: RawSpan) -> Int { input.byteCount - offset }

  mutating func uint8(_ input: RawSpan) throws(CryptoError) -> UInt8 { try number(input) }

  mutating func uint16(_ input: RawSpan) throws(CryptoError) -> Int { Int(try number(input) as UInt16) }

  mutating func uint32(_ input: RawSpan) throws(CryptoError) -> UInt32 { try number(input) }

  mutating func int64(_ input: RawSpan) throws(CryptoError) -> Int64 { try number(input) }

  /// Reads a number that must be `least` or more.
  mutating func count(_ input: RawSpan, least: Int, _ field: StaticString) throws(CryptoError) -> Int {
    let value = Int(try number(input) as Int64)
    guard value >= least else { throw .malformed("\(field) is out of range") }
    return value
  }

  /// Skips the next `count` bytes and returns their place, because a span itself cannot be returned.
  mutating func range(_ count: Int, _ input: RawSpan) throws(CryptoError) -> Range<Int> {
    guard count <= remaining(input) else { throw Self.truncated }
    let start = offset
    offset += count
    return start..<offset
  }

  /// Copies the next `count` bytes, which must not be secret.
  mutating func array(_ count: Int, _ input: RawSpan) throws(CryptoError) -> [UInt8] {
    let range = try range(count, input)
    return unsafe input.extracting(range).withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Reads the next `count` bytes as text.
  mutating func text(_ count: Int, _ input: RawSpan) throws(CryptoError) -> String {
    let units = Span<UInt8>(_bytes: input.extracting(try range(count, input)))
    guard let text = try? UTF8Span(validating: units) else { throw .malformed("text is not UTF-8") }
    return String(copying: text)
  }

  /// Throws unless the whole input was read.
  func finish(_ input: RawSpan) throws(CryptoError) {
    guard offset == input.byteCount else { throw .malformed("record is too long") }
  }

  private mutating func number<N: FixedWidthInteger & BitwiseCopyable>(_ input: RawSpan) throws(CryptoError) -> N {
    guard MemoryLayout<N>.size <= remaining(input) else { throw Self.truncated }
    // The size was checked above, and every bit pattern is an integer.
    let value = unsafe input.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: N.self)
    offset += MemoryLayout<N>.size
    return N(littleEndian: value)
  }

  private static var truncated: CryptoError { .malformed("record is too short") }
}
