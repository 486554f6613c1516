import Testing
import VaultBytes
import VaultCore

@testable import VaultSigning

/// NIST SP 800-38A appendix F.2.1 and F.2.2, CBC-AES128.
private enum Example {
  static let key = hex("2b7e151628aed2a6abf7158809cf4f3c")
  static let vector = hex("000102030405060708090a0b0c0d0e0f")
  static let plaintext = hex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
      + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
  static let ciphertext = hex(
    "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
      + "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7")
}

@Suite("AES-128 in CBC mode") struct PaddedCBCTests {
  private func cipher() throws(SigningError) -> PaddedCBC {
    try Example.vector.withSpan { (vector: RawSpan) throws(SigningError) in
      try PaddedCBC(key: secret(Example.key), vector: vector)
    }
  }

  private func encrypt(_ plaintext: [UInt8]) throws -> [UInt8] {
    var room = [UInt8](repeating: 0, count: PaddedCBC.paddedCount(plaintext.count))
    var span = room.mutableSpan
    var bytes = unsafe span.mutableBytes
    try plaintext.withSpan { (plaintext: RawSpan) throws(SigningError) in
      try cipher().encrypt(plaintext, into: &bytes)
    }
    return room
  }

  private func decrypt(_ ciphertext: [UInt8]) throws -> [UInt8]? {
    let plaintext = try ciphertext.withSpan { (ciphertext: RawSpan) throws(SigningError) in
      try cipher().decrypt(ciphertext)
    }
    switch plaintext {
    case .some(let plaintext): return plaintext.withBytes { array($0) }
    case nil: return nil
    }
  }

  /// Decrypts whole blocks without a look at their padding.
  private func decryptBlocks(_ ciphertext: [UInt8]) throws -> [UInt8] {
    let cipher = try cipher()
    let plaintext = try ciphertext.withSpan { (blocks: RawSpan) throws(SigningError) in
      try cipher.decryptBlocks(blocks)
    }
    return plaintext.withBytes { array($0) }
  }

  /// Encrypts whole blocks without padding.
  private func encryptBlocks(_ plaintext: [UInt8]) throws -> [UInt8] {
    var room = [UInt8](repeating: 0, count: plaintext.count)
    var span = room.mutableSpan
    var bytes = unsafe span.mutableBytes
    let cipher = try cipher()
    try plaintext.withSpan { (blocks: RawSpan) throws(SigningError) in
      try cipher.encryptBlocks(blocks, into: &bytes, at: 0)
    }
    return room
  }

  @Test("gives the blocks that NIST prints, in both directions") func vectors() throws {
    #expect(try encryptBlocks(Example.plaintext) == Example.ciphertext)
    #expect(try decryptBlocks(Example.ciphertext) == Example.plaintext)
    #expect(try encrypt(Example.plaintext).prefix(64) == Example.ciphertext[...])
    // NIST's last block ends with 0x10, but has no padding.
    #expect(try decrypt(Example.ciphertext) == nil)
  }

  @Test("pads each size up to four blocks with as many bytes as PKCS #7 says") func sizes() throws {
    for count in 0...64 {
      let plaintext = Array(Example.plaintext.prefix(count))
      let ciphertext = try encrypt(plaintext)
      let padding = 16 - count % 16
      #expect(ciphertext.count == count + padding)
      #expect(try decryptBlocks(ciphertext) == plaintext + [UInt8](repeating: UInt8(padding), count: padding))
      #expect(try decrypt(ciphertext) == plaintext)
    }
  }

  @Test("takes no last block but one that ends with 1 to 16 bytes of their number") func padding() throws {
    for last in 0...255 {
      for equal in 1...16 {
        // So many bytes have the value of the last one; those before them differ.
        let block = (0..<16).map { place in UInt8(place >= 16 - equal ? last : last ^ 1) }
        let isPadding = (1...16).contains(last) && equal >= last
        let read = try decrypt(encryptBlocks(Example.vector + block))
        #expect(read == (isPadding ? Example.vector + block.prefix(16 - last) : nil), "\(last) \(equal)")
      }
    }
  }
}
