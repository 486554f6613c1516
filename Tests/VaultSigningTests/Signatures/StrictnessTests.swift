import Testing
import VaultCore
import VaultModel
import VaultSigning

@Suite("What a signature may not be") struct StrictnessTests {
  private static let message = Array("a message".utf8)

  @Test("A signature with a flipped bit, a byte less or more, or nothing in it is wrong", arguments: KeyType.allCases)
  func changed(type: KeyType) throws {
    let key = try Examples.key(type)
    for scheme in type.schemes {
      let right = try key.sign(Self.message, scheme)
      #expect(key.publicKey.verifies(right, of: Self.message, scheme))
      for bit in stride(from: 0, to: 8 * right.count, by: type == .rsa ? 37 : 5) {
        #expect(!key.publicKey.verifies(right.flipping(bit: bit), of: Self.message, scheme))
      }
      for wrong in [[], Array(right.dropLast()), Array(right.dropFirst()), right + [0], [0] + right] {
        #expect(!key.publicKey.verifies(wrong, of: Self.message, scheme))
      }
      #expect(!key.publicKey.verifies([UInt8](repeating: 0, count: right.count), of: Self.message, scheme))
      #expect(!key.publicKey.verifies([UInt8](repeating: 0xFF, count: right.count), of: Self.message, scheme))
    }
  }

  @Test("Signing again gives the same bytes, but for PSS", arguments: SignatureScheme.allCases)
  func repeated(scheme: SignatureScheme) throws {
    let key = try Examples.key(scheme.keyType)
    let all = try Set((0..<8).map { _ in try key.sign(Self.message, scheme) })
    let isRandom = [.rsaPSSSHA256, .rsaPSSSHA384, .rsaPSSSHA512].contains(scheme)
    #expect(all.count == (isRandom ? 8 : 1))
    #expect(all.allSatisfy { key.publicKey.verifies($0, of: Self.message, scheme) })
  }

  @Test("A key signs by the schemes of its type alone") func schemes() throws {
    for type in KeyType.allCases {
      let key = try Examples.key(type)
      for scheme in SignatureScheme.allCases where scheme.keyType != type {
        #expect(throws: SigningError.self) { try key.sign(Self.message, scheme) }
      }
    }
  }

  @Test("The halves of an ECDSA signature lie between 0 and the order", arguments: ExampleCurve.allCases)
  func range(curve: ExampleCurve) throws {
    let key = try Examples.key(curve.type)
    let right = try key.sign(Self.message, curve.scheme)
    let (r, s) = (Array(right.prefix(curve.count)), Array(right.suffix(curve.count)))
    let zero = [UInt8](repeating: 0, count: curve.count)
    for (r, s) in [
      (zero, s), (r, zero), (zero, zero), (curve.order, s), (r, curve.order), (curve.order, curve.order),
      (adding(r, curve.order), s), (r, adding(s, curve.order)),
    ] {
      #expect(!key.publicKey.verifies(r + s, of: Self.message, curve.scheme))
    }
  }

  @Test("An RSA signature lies below the modulus: with that added it is wrong") func modulus() throws {
    let key = try Examples.key(.rsa)
    // The modulus is the last number of the blob.
    let modulus = Array(key.publicKey.sshBlob.suffix(256))
    // The modulus is small enough for the sum to fit for about every second message.
    var sums = 0
    for byte in UInt8(0)..<24 {
      let right = try key.sign([byte], .rsaPKCS1SHA256)
      let sum = adding(right, modulus)
      #expect(!key.publicKey.verifies(sum, of: [byte], .rsaPKCS1SHA256))
      if !sum.lexicographicallyPrecedes(modulus) { sums += 1 }
    }
    #expect(sums > 0)
  }

  @Test("Ed25519's S lies below the order, and no key and no R is of small order") func ed25519() throws {
    let key = try Examples.key(.ed25519)
    let right = try key.sign(Self.message, .ed25519)
    // RFC 8032 section 5.1; the order is little-endian.
    let order = hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
    let sum = Array(adding(right.suffix(32).reversed(), order.reversed()).reversed())
    #expect(!key.publicKey.verifies(right.prefix(32) + sum, of: Self.message, .ed25519))
    let zero = [UInt8](repeating: 0, count: 32)
    for point in [
      "0100000000000000000000000000000000000000000000000000000000000000",
      "0000000000000000000000000000000000000000000000000000000000000000",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ].map({ hex($0) }) {
      let weak = try PublicKey(spki: unsafe (hex("302a300506032b6570032100") + point).span.bytes)
      for r in [point, hex("01") + zero.dropLast()] {
        #expect(!weak.verifies(r + zero, of: Self.message, .ed25519))
        #expect(!key.publicKey.verifies(r + zero, of: Self.message, .ed25519))
      }
    }
  }

  @Test("An ECDSA signature has one DER form, which is read back", arguments: ExampleCurve.allCases)
  func encoding(curve: ExampleCurve) throws {
    let key = try Examples.key(curve.type)
    for byte in UInt8(0)..<32 {
      let bytes = try key.sign([byte], curve.scheme)
      let signature = try #require(ECDSASignature(bytes, curve.type))
      #expect(signature.r + signature.s == bytes)
      #expect(signature.der == der(0x30, integer(signature.r) + integer(signature.s)))
      #expect(ECDSASignature(der: signature.der, curve.type) == signature)
      for count in signature.der.indices {
        #expect(ECDSASignature(der: Array(signature.der.prefix(count)), curve.type) == nil)
      }
      #expect(ECDSASignature(der: signature.der + [0], curve.type) == nil)
    }
    let one = integer([1])
    #expect(ECDSASignature(der: der(0x30, one + one), curve.type) != nil)
    let long = [1] + [UInt8](repeating: 0, count: curve.count)
    for wrong in [
      der(0x30, one), der(0x30, one + one + one), der(0x31, one + one), der(0x30, one + integer([0])),
      der(0x30, integer(long) + one), der(0x30, one + [2, 1, 0x80]), der(0x30, one + [2, 2, 0, 1]),
      der(0x30, one + [2, 0x81, 1, 1]), der(0x30, one + [2, 0]), [0x30, 0x81, 6] + one + one,
      [0x30, 0x80] + one + one + [0, 0], der(0x30, one + [0x22, 1, 1]), [],
    ] {
      #expect(ECDSASignature(der: wrong, curve.type) == nil, "\(wrong)")
    }
    #expect(ECDSASignature(der: der(0x30, one + one), .rsa) == nil)
    #expect(ECDSASignature([UInt8](repeating: 1, count: 2 * curve.count + 1), curve.type) == nil)
  }
}

/// Adds two big-endian numbers of equal length, and drops the final carry.
private func adding(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> [UInt8] {
  var sum: [UInt8] = []
  var carry = 0
  for (left, right) in zip(left.reversed(), right.reversed()) {
    carry += Int(left) + Int(right)
    sum.append(UInt8(carry & 0xFF))
    carry >>= 8
  }
  return sum.reversed()
}
