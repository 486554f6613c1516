import Foundation
import Testing
import VaultBytes
import VaultCore
import VaultTesting

@Suite("The search for secrets in memory") struct MemorySearchTests {
  /// Returns a secret of up to 57 characters, some of which JSON escapes.
  private static func secret(_ count: Int) -> [UInt8] {
    Array("k7#\"m2\\p9x4w8v3n6t5r2q4a9b8c7d6e5f4g3h2j2k3m4n5p6q7r8s9t2".utf8.prefix(count))
  }
  private let secret = Self.secret(24)
  private let noise = RandomBytes.array(count: 4096)

  /// The forms in which a program might hold a piece of the secret.
  private static let forms: [(String, @Sendable ([UInt8]) -> [UInt8])] = [
    ("raw", { $0 }),
    ("hex", { bytes in Array(bytes.map { String(format: "%02x", $0) }.joined().utf8) }),
    ("HEX", { bytes in Array(bytes.map { String(format: "%02X", $0) }.joined().utf8) }),
    ("base64", { bytes in Array(Data(bytes).base64EncodedData()) }),
  ]

  @Test("finds every window of 16 bytes of one, in every form", arguments: forms.indices) func windows(index: Int) {
    let (name, form) = Self.forms[index]
    for count in [16, 17, 24, 25, 26, 27, 40, 41, 57] {
      let secret = Self.secret(count)
      #expect(secret.count == count)
      for start in 0...(count - 16) {
        let window = form(Array(secret[start..<(start + 16)]))
        let found = MemorySearch(of: noise[..<start] + window + noise[start...]).find(secret)
        #expect(found.contains { $0.hasPrefix(name) }, "\(name) from \(start) on of \(count): \(found)")
        let atEnd = MemorySearch(of: noise + window).find(secret)
        #expect(!atEnd.isEmpty, "\(name) from \(start) on of \(count), at the end")
      }
    }
  }

  @Test("finds one among others where it stands in zeros, and after them") func zeros() {
    let others = (0..<100).map { ("other \($0)", RandomBytes.array(count: 32)) }
    let secrets = Dictionary(uniqueKeysWithValues: others + [("the secret", secret)])
    for count in [0, 1, 62, 63, 64, 65, 127, 128, 129, 5000] {
      let zeros = [UInt8](repeating: 0, count: count)
      #expect(MemorySearch(of: zeros + secret + zeros).find(secrets) == ["the secret": ["the bytes"]], "\(count)")
    }
    let escaped = Array("k7#\\\"m2\\\\p9x4".utf8)
    #expect(MemorySearch(of: noise + escaped).find(secret) == ["JSON"])
  }

  @Test("finds the beginning of a secret that begins with zeros, behind zeros", arguments: [1, 2, 3, 7])
  func leadingZeros(few: Int) {
    let key = [UInt8](repeating: 0, count: few) + [UInt8](repeating: 7, count: 32 - few)
    for count in 0..<130 {
      let memory = [UInt8](repeating: 0, count: count) + key[..<8] + [1]
      #expect(MemorySearch(of: memory).find(key).contains("raw"), "\(count)")
    }
  }

  @Test("takes no shorter piece for it: four characters in hex are eight digits, which memory is full of")
  func pieces() {
    let word = Array("3456789a3456789a3456789a3456789a".utf8)
    #expect(MemorySearch(of: Array("30313233343536373839".utf8) + noise).find(word) == [])
    for (name, form) in Self.forms {
      let piece = form(Array(secret[8..<15]))
      #expect(MemorySearch(of: noise + piece + noise).find(secret) == [], "\(name)")
    }
  }
}
