import Testing
import VaultCore
import VaultSigning

@Suite("HKDF") struct HKDFTests {
  @Test(
    "gives what RFC 5869 prints: its first case, one of long inputs, and one without salt and info",
    arguments: [
      (
        [UInt8](repeating: 0x0B, count: 22), Array(0...0x0C), Array(0xF0...0xF9),
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
      ),
      (
        Array(0...0x4F), Array(0x60...0xAF), Array(0xB0...0xFF),
        "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
          + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
      ),
      (
        [UInt8](repeating: 0x0B, count: 22), [], [],
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
      ),
    ] as [([UInt8], [UInt8], [UInt8], String)])
  func vectors(secret input: [UInt8], salt: [UInt8], info: [UInt8], expected: String) throws {
    let derived = try HKDF.derive(count: expected.count / 2, from: secret(input), salt: salt, info: info)
    #expect(derived.withBytes { hex($0) } == expected)
  }

  @Test("derives the beginning of one and the same output for each size, up to 255 digests") func sizes() throws {
    let input = secret([UInt8](0..<128))
    let longest = try HKDF.derive(count: 8160, from: input, info: [7]).withBytes { array($0) }
    for count in [1, 16, 31, 32, 33, 64, 65, 8159] {
      let derived = try HKDF.derive(count: count, from: input, info: [7]).withBytes { array($0) }
      #expect(derived == Array(longest.prefix(count)))
    }
    #expect(Set(stride(from: 0, to: 8160, by: 32).map { Array(longest[$0..<$0 + 32]) }).count == 255)
  }
}
