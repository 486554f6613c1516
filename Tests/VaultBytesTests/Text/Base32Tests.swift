import Testing
import VaultBytes

@Suite("Base32") struct Base32Tests {
  /// Returns the bytes that the symbols in a range encode, by default the whole text; nil if they are not base32.
  private static func decoded(_ text: [UInt8], _ range: Range<Int>? = nil) -> [UInt8]? {
    let span = unsafe text.span.bytes
    let range = range ?? text.indices
    guard let count = Base32.count(span, range) else { return nil }
    var bytes: [UInt8] = []
    Base32.decode(span, range) { bytes.append($0) }
    #expect(bytes.count == count)
    return bytes
  }

  private static func decoded(_ text: String) -> String? {
    decoded(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(
    "RFC 4648's test vectors hold, with and without their padding, in either case",
    arguments: [
      ("f", "MY======"), ("fo", "MZXQ===="), ("foo", "MZXW6==="), ("foob", "MZXW6YQ="), ("fooba", "MZXW6YTB"),
      ("foobar", "MZXW6YTBOI======"),
    ])
  func vectors(text: String, base32: String) {
    let short = base32.replacing("=", with: "")
    for form in [base32, short, base32.lowercased(), short.lowercased(), base32.replacing("=", with: "%3D")] {
      #expect(Self.decoded(form) == text)
    }
  }

  @Test(
    "blanks and dashes between groups do not matter, in a URI's escapes either",
    arguments: [
      "MZXW 6YTB", " MZXW-6YTB ", "MZXW+6YTB", "MZXW\u{A0}6YTB", "MZXW\u{2007}6YTB", "\u{202F}MZXW6YTB",
      "MZXW%206YTB", "MZXW%2d6YTB", "MZXW%C2%A06YTB", "MZXW%E2%80%AF6YTB", "%4dZXW6YT%42", "%6DZXW6YTB",
    ])
  func groups(base32: String) throws {
    #expect(Self.decoded(base32) == "fooba")
    let text = Array(base32.utf8)
    var written: [UInt8] = []
    Base32.write(unsafe text.span.bytes, text.indices) { written.append($0) }
    #expect(written == Array("MZXW6YTB".utf8))
  }

  @Test(
    "lengths that no bytes have, and padding that is short, long, misplaced or alone, are refused",
    arguments: [
      "", " ", "=", "========", "M", "MZX", "MZXW6Y", "MZXW6YTBO", "MY=", "MY=====", "MY=======", "MZXW6YTB=",
      "MZXW6YTB========", "=MY=====", "M=Y=====", "MY======MY", "MY======MY======",
    ])
  func refused(base32: String) { #expect(Self.decoded(base32) == nil) }

  @Test("every other byte than the symbols is refused among them") func alphabet() {
    let symbols = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz234567".utf8)
    for byte in UInt8.min...UInt8.max {
      var text = Array("MYMY".utf8)
      text[1] = byte
      #expect((Self.decoded(text) != nil) == symbols.contains(byte), "\(byte)")
    }
  }

  @Test(
    "a no-break space that is cut off, or another character like it, is refused",
    arguments: [[0xC2], [0xC2, 0xA1], [0xE2], [0xE2, 0x80], [0xE2, 0x80, 0x88], [0xE2, 0x81, 0xAF]] as [[UInt8]])
  func spaces(bytes: [UInt8]) {
    #expect(Self.decoded(Array("MY".utf8) + bytes) == nil)
    #expect(Self.decoded(Array("MY".utf8) + bytes + Array("MY".utf8)) == nil)
  }

  @Test("nothing outside of the range is read") func range() {
    #expect(Self.decoded(Array("1MY1".utf8), 1..<3) == [0x66])
    // An escape and a no-break space end with it.
    let escape = Array("MZXW6YT%42".utf8)
    for end in 8..<escape.count { #expect(Self.decoded(escape, 0..<end) == nil, "\(end)") }
    let space = Array("MY\u{2007}".utf8)
    for end in 3..<space.count { #expect(Self.decoded(space, 0..<end) == nil, "\(end)") }
  }

  @Test("of every length that it is cut to, it is the beginning of its bytes or refused") func cut() {
    let text = Array("MZXW6YTBOI======".utf8)
    let counts = [2: 1, 4: 2, 5: 3, 7: 4, 8: 5, 10: 6, 16: 6]
    for end in 0...text.count {
      let bytes = counts[end].map { Array("foobar".utf8.prefix($0)) }
      #expect(Self.decoded(Array(text[..<end])) == bytes, "\(end)")
      #expect(Self.decoded(text, 0..<end) == bytes, "\(end)")
    }
  }

  @Test("with any bit flipped, it stands for other bytes or is refused, except for the case of a letter")
  func flipped() {
    let text = Array("MZXW6YTB".utf8)
    for bit in 0..<8 * text.count {
      var flipped = text
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      let isOtherCase = bit % 8 == 5 && text[bit / 8] != UInt8(ascii: "6")
      #expect((Self.decoded(flipped) == Array("fooba".utf8)) == isOtherCase, "\(bit)")
    }
  }
}
