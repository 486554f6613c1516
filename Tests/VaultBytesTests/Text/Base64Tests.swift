import Foundation
import Testing
import VaultBytes

@Suite("Base64")
struct Base64Tests {
  private static func encoded(_ bytes: [UInt8]) -> String {
    var text = [UInt8](repeating: 0, count: Base64.encodedCount(bytes.count))
    let source = unsafe bytes.span.bytes
    var span = text.mutableSpan
    var target = unsafe span.mutableBytes
    Base64.encode(source, into: &target)
    return String(decoding: text, as: UTF8.self)
  }

  private static func decoded(_ text: String) -> [UInt8]? {
    let text = Array(text.utf8)
    let source = unsafe text.span.bytes
    guard let count = Base64.decodedCount(source) else { return nil }
    return decoded(text, count: count)
  }

  private static func decoded(_ text: [UInt8], count: Int) -> [UInt8]? {
    let source = unsafe text.span.bytes
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var target = unsafe span.mutableBytes
    return Base64.decode(source, into: &target) ? bytes : nil
  }

  @Test(
    "RFC 4648's test vectors hold both ways",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func vectors(text: String, base64: String) {
    #expect(Self.encoded(Array(text.utf8)) == base64)
    #expect(Self.decoded(base64) == Array(text.utf8))
  }

  @Test("Every byte in every place agrees with Foundation, both ways")
  func everyByte() {
    for length in 1...4 {
      for place in 0..<length {
        for byte in UInt8.min...UInt8.max {
          var bytes = [UInt8](repeating: 0xA5, count: length)
          bytes[place] = byte
          let text = Data(bytes).base64EncodedString()
          #expect(Self.encoded(bytes) == text)
          #expect(Self.decoded(text) == bytes)
        }
      }
    }
  }

  @Test("Every other byte than the 64 symbols is refused, in every place")
  func alphabet() {
    let symbols = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    for place in 0..<4 {
      for byte in UInt8.min...UInt8.max {
        var text = Array("AAAA".utf8)
        text[place] = byte
        let isPadding = byte == UInt8(ascii: "=") && place == 3
        let isAccepted = Self.decoded(text, count: isPadding ? 2 : 3) != nil
        #expect(isAccepted == (symbols.contains(byte) || isPadding), "\(byte) at \(place)")
      }
    }
  }

  @Test(
    "Missing, misplaced and surplus padding, leftover bits and white space are refused",
    arguments: [
      "A", "AA", "AAA", "AAAAA", "====", "A===", "=AAA", "AA=A", "AA==AA==", "AAAA====", "Zh==", "Zm9=", "Zg= =",
      "Zm9v\n",
      " Zm9v", "Zm 9", "Zm-_", "Zm9v=", "Zm9vé",
    ])
  func refuse(text: String) { #expect(Self.decoded(text) == nil) }

  @Test("Nothing is decoded into a buffer of another size")
  func size() {
    let text = Array("Zm9v".utf8)
    #expect(Self.decoded(text, count: 3) != nil)
    for count in [0, 2, 4] { #expect(Self.decoded(text, count: count) == nil) }
  }

  @Test("Text goes to the start of a larger buffer")
  func room() {
    var text = [UInt8](repeating: 7, count: 6)
    let source: [UInt8] = [0x66]
    do {
      let bytes = unsafe source.span.bytes
      var span = text.mutableSpan
      var target = unsafe span.mutableBytes
      Base64.encode(bytes, into: &target)
    }
    #expect(text == Array("Zg==".utf8) + [7, 7])
  }
}
