import Testing
import VaultBytes

@Suite("Escapes with a percent sign") struct PercentEscapeTests {
  private static func isPlain(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "%") }

  @Test("every byte comes back, as an escape of either case") func everyByte() {
    for byte in UInt8.min...UInt8.max {
      let digits = [byte].hex
      for text in ["%\(digits)", "%\(digits.uppercased())"] {
        #expect(PercentEscape.strictBytes(Substring("a\(text)b")) == [0x61, byte, 0x62])
      }
    }
  }

  @Test(
    "a percent sign without two digits behind it is refused",
    arguments: ["%", "a%", "%4", "%+5", "%-1", "% 5", "%5 ", "%g0", "%0g", "%%41", "%4%31", "%\u{FF11}1", "%1\u{301}1"])
  func refused(text: String) { #expect(PercentEscape.strictBytes(Substring(text)) == nil) }

  @Test("text without escapes stays as it is", arguments: ["", "a/b", "+5", "é", "\0\n"])
  func plain(text: String) { #expect(PercentEscape.strictBytes(Substring(text)) == Array(text.utf8)) }

  @Test("what is written is read", arguments: ["", "/run/user/1000/bus", "a b", "100%", "%41", "é\r\n\u{1F511}", "\0"])
  func both(text: String) {
    let escaped = PercentEscape.escaped(text, except: Self.isPlain)
    #expect(escaped.utf8.allSatisfy { $0 == UInt8(ascii: "%") || Self.isPlain($0) })
    #expect(PercentEscape.strictBytes(Substring(escaped)) == Array(text.utf8))
  }

  @Test("only what is not plain is escaped") func escaped() {
    #expect(PercentEscape.escaped("a b%/é", except: Self.isPlain) == "a%20b%25/%c3%a9")
  }
}
