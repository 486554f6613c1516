internal import VaultBytes
internal import VaultModel

/// A reader of SSH's data types (RFC 4251 section 5), front to back, never past the end.
///
/// The reader holds only positions; the bytes are passed to each call, because a span cannot be stored.
package struct SSHReader {
  package private(set) var offset: Int
  private let end: Int

  /// Begins at the start of `range`, which lies within the bytes that are passed to each call.
  package init(_ range: Range<Int>) {
    offset = range.lowerBound
    end = range.upperBound
  }

  /// Begins at the first byte of `input`.
  package init(_ input: RawSpan) { self.init(0..<input.byteCount) }

  /// True if everything was read.
  package var isAtEnd: Bool { offset == end }

  /// The number of bytes left.
  package var remaining: Int { end - offset }

  package mutating func byte(_ input: RawSpan) throws(SSHFormatError) -> UInt8 {
    guard remaining >= 1 else { throw Self.truncated }
    offset += 1
    return input.byte(offset - 1)
  }

  /// Reads a boolean. In RFC 4251 every byte but 0 means true, but programs write 1; any other byte is refused here.
  package mutating func boolean(_ input: RawSpan) throws(SSHFormatError) -> Bool {
    switch try byte(input) {
    case 0: false
    case 1: true
    default: throw SSHFormatError("a boolean is neither 0 nor 1")
    }
  }

  package mutating func uint32(_ input: RawSpan) throws(SSHFormatError) -> UInt32 {
    guard remaining >= 4 else { throw Self.truncated }
    var number: UInt32 = 0
    for place in offset..<offset + 4 { number = number << 8 | UInt32(input.byte(place)) }
    offset += 4
    return number
  }

  /// Skips a string and returns the place of its content.
  package mutating func string(_ input: RawSpan) throws(SSHFormatError) -> Range<Int> {
    let count = Int(try uint32(input))
    guard count <= remaining else { throw Self.truncated }
    offset += count
    return offset - count..<offset
  }

  /// Copies a string's content, which must not be secret.
  package mutating func array(_ input: RawSpan) throws(SSHFormatError) -> [UInt8] {
    let range = try string(input)
    return input.extracting(range).array
  }

  /// Reads a string that is UTF-8 text.
  package mutating func text(_ input: RawSpan) throws(SSHFormatError) -> String {
    guard let text = String(validating: try array(input), as: UTF8.self) else {
      throw SSHFormatError("a text is not UTF-8")
    }
    return text
  }

  /// Skips a non-negative mpint in its shortest form, and returns the place of its digits: big-endian, without leading
  /// zeros, none for 0.
  package mutating func unsignedInteger(_ input: RawSpan) throws(SSHFormatError) -> Range<Int> {
    let range = try string(input)
    guard let first = range.first else { return range }
    let byte = input.byte(first)
    guard byte < 0x80 else { throw SSHFormatError("a number is negative") }
    guard byte == 0 else { return range }
    guard range.count > 1, input.byte(first + 1) >= 0x80 else {
      throw SSHFormatError("a number has zeros before it")
    }
    return range.dropFirst()
  }

  /// Throws unless everything was read.
  package func finish() throws(SSHFormatError) {
    guard isAtEnd else { throw SSHFormatError("something follows its end") }
  }

  private static var truncated: SSHFormatError { SSHFormatError("it is cut off") }
}
