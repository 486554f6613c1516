import Foundation
import Testing
import VaultBytes

@Suite("Base64 for URLs") struct Base64URLTests {
  private static func encoded(_ bytes: [UInt8]) -> String {
    var text = [UInt8](repeating: UInt8(ascii: "."), count: Base64URL.encodedCount(bytes.count) + 2)
    var span = text.mutableSpan
    var target = unsafe span.mutableBytes
    Base64URL.encode(unsafe bytes.span.bytes, into: &target, at: 1)
    return String(decoding: text, as: UTF8.self)
  }

  private static func decoded(_ text: String) -> [UInt8]? {
    let text = Array(text.utf8)
    guard let count = Base64URL.decodedCount(text.count) else { return nil }
    var bytes = [UInt8](repeating: 0, count: count + 1)
    var span = bytes.mutableSpan
    var target = unsafe span.mutableBytes
    return Base64URL.decode(unsafe text.span.bytes, into: &target, at: 1) ? Array(bytes.dropFirst()) : nil
  }

  @Test("every byte in every place agrees with Foundation, both ways, and nothing is written beside its place")
  func everyByte() {
    for length in 0...5 {
      for place in 0..<max(1, length) {
        for byte in UInt8.min...UInt8.max {
          var bytes = [UInt8](repeating: 0x5A, count: length)
          if length > 0 { bytes[place] = byte }
          let text = Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
          #expect(Self.encoded(bytes) == ".\(text).")
          #expect(Self.decoded(text) == bytes)
        }
      }
    }
  }

  @Test("every other byte than the 64 symbols is refused, in every place") func alphabet() {
    let symbols = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    for place in 0..<4 {
      for byte in UInt8(0)...0x7F {
        var text = Array("AAAA".utf8)
        text[place] = byte
        #expect((Self.decoded(String(decoding: text, as: UTF8.self)) != nil) == symbols.contains(byte), "\(byte)")
      }
    }
  }

  @Test(
    "padding, leftover bits, white space and impossible lengths are refused",
    arguments: ["A", "AAAAA", "Zg==", "Zm8=", "Zh", "Zm9", "Zm9v\n", " Zm9v", "Zm+/", "Zm9vé"])
  func refuse(text: String) { #expect(Self.decoded(text) == nil) }
}
