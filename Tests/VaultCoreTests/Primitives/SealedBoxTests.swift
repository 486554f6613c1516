import CSodium
import Testing
import VaultBytes
import VaultCore

@Suite struct SealedBoxTests {
  @Test("X25519 gives the RFC's function vectors") func function() throws {
    for vector in try vectors("x25519.txt") {
      var out = [UInt8](repeating: 0, count: 32)
      #expect(unsafe crypto_scalarmult(&out, vector["scalar"]!, vector["u"]!) == 0)
      #expect(out == vector["out"]!)
    }
  }

  @Test("X25519 gives the RFC's values after 1 and 1,000 iterations") func iterated() throws {
    let vector = try vectors("x25519-iterated.txt")[0]
    var scalar = vector["start"]!
    var point = scalar
    for round in 1...1000 {
      var out = [UInt8](repeating: 0, count: 32)
      guard unsafe crypto_scalarmult(&out, scalar, point) == 0 else {
        Issue.record("round \(round) failed")
        return
      }
      (scalar, point) = (out, scalar)
      if round == 1 { #expect(scalar == vector["after-1"]!) }
    }
    #expect(scalar == vector["after-1000"]!)
  }

  @Test("The public keys of the RFC's secret keys are its public keys") func publicKeys() throws {
    for vector in try vectors("x25519-keys.txt") {
      let secret = SecureBytes(vector["secret"]!)
      #expect(SealedBox.publicKey(of: secret) == vector["public"]!)
    }
  }

  @Test("A sealed box opens with its secret key alone, and no damage to it goes unnoticed") func box() throws {
    let secret = SealedBox.secretKey()
    let other = SealedBox.secretKey()
    let sealed = try [1, 2, 3].lend { (bytes: RawSpan) throws(CryptoError) in
      try SealedBox.seal(bytes, to: SealedBox.publicKey(of: secret))
    }
    #expect(sealed.count == 3 + SealedBox.overhead)
    func opened(_ bytes: [UInt8], _ key: borrowing SecureBytes) -> [UInt8]? {
      (try? bytes.lend { (bytes: RawSpan) throws(CryptoError) in try SealedBox.open(bytes, secretKey: key).array })
    }
    #expect(opened(sealed, secret) == [1, 2, 3])
    #expect(opened(sealed, other) == nil)
    for count in 0..<sealed.count { #expect(opened(Array(sealed[..<count]), secret) == nil) }
    for bit in 0..<sealed.count * 8 {
      // X25519 ignores the top bit of a point, but the box's nonce hashes the encoded point, so that bit counts too.
      #expect(opened(sealed.flipping(bit: bit), secret) == nil)
    }
  }

  @Test("A public key of another size or of low order is refused", arguments: [31, 32, 33]) func badKey(count: Int) {
    let error = failure { () throws(CryptoError) in
      _ = try [1].lend { (bytes: RawSpan) throws(CryptoError) in
        try SealedBox.seal(bytes, to: [UInt8](repeating: 0, count: count))
      }
    }
    #expect(error?.isMalformed == true)
  }
}
