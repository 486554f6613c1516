import Testing
import VaultBytes

@Suite("Hexadecimal digits") struct HexTests {
  @Test(
    "RFC 4648's test vectors hold both ways, in either case",
    arguments: [
      ("", ""), ("f", "66"), ("fo", "666f"), ("foo", "666f6f"), ("foob", "666f6f62"), ("fooba", "666f6f6261"),
      ("foobar", "666f6f626172"),
    ])
  func vectors(text: String, hex: String) {
    #expect(Array(text.utf8).hex == hex)
    #expect([UInt8](hex: hex) == Array(text.utf8))
    #expect([UInt8](hex: hex.uppercased()) == Array(text.utf8))
  }

  @Test("every byte comes back") func everyByte() {
    for byte in UInt8.min...UInt8.max {
      let hex = String(byte, radix: 16)
      #expect([byte].hex == (byte < 16 ? "0" : "") + hex)
      #expect([UInt8](hex: [byte].hex) == [byte])
    }
  }

  @Test("every byte has the value of the digit that it is") func digits() {
    for byte in UInt8.min...UInt8.max {
      let value = Character(Unicode.Scalar(byte)).hexDigitValue
      #expect(hexDigit(byte).map { Int($0) } == value, "\(byte)")
    }
  }

  @Test(
    "half a byte, other characters and white space are refused",
    arguments: [
      "0", "000", "0g", "g0", " 00", "00 ", "0 ", " 0", "00\n", "0x00", "+1", "-1", "0:", "/0", "é", "\u{FF11}1",
    ])
  func refused(text: String) { #expect([UInt8](hex: text) == nil) }
}
