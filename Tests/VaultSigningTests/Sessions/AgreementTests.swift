import Testing
import VaultBytes
import VaultCore

@testable import VaultSigning

@Suite("The agreement on a session's key") struct AgreementTests {
  private typealias Stand = SessionStand
  /// The prime plus a small number.
  private static func prime(plus addend: Int) -> [UInt8] {
    var digits = SecondOakleyGroup.prime
    var carry = addend
    for place in digits.indices.reversed() where carry != 0 {
      let sum = Int(digits[place]) + carry
      digits[place] = UInt8(truncatingIfNeeded: sum)
      carry = sum >> 8
    }
    return carry > 0 ? [UInt8(carry)] + digits : digits
  }

  @Test("refuses each public key with which everybody knows the shared secret, or that lies outside the group")
  func refused() {
    let long = [1] + [UInt8](repeating: 0, count: 128)
    let keys =
      [[], [0], [1], [0, 1], [UInt8](repeating: 0, count: 128), [UInt8](repeating: 0, count: 500)]
      + [-1, 0, 1, 2].map { Self.prime(plus: $0) } + [[UInt8](repeating: 0xFF, count: 128), long, long + long]
    for key in keys {
      #expect(Stand.refusal(key) == .publicKey, "\(key.count) bytes, \(key.prefix(3))…")
      #expect(Stand.refusal([0] + key) == .publicKey)
    }
  }

  @Test("takes the least and the highest key of the group, with or without zeros before it") func taken() throws {
    let exponent = [UInt8](1...32)
    for key in [[2], Self.prime(plus: -2)] {
      let padded = [UInt8](repeating: 0, count: 128 - key.count) + key
      let secrets = try [key, padded, [0] + padded, [UInt8](repeating: 0, count: 300) + key].map { key in
        let session = try Stand.agree(key, exponent: exponent)
        return try session.encode([], parameters: [UInt8](repeating: 3, count: 16))
      }
      #expect(Set(secrets).count == 1)
    }
  }

  @Test("makes a new key pair for each session, and answers with 128 bytes") func fresh() throws {
    let answers = try (0..<20).map { _ in try Stand.agree(Stand.generator).publicKey }
    #expect(Set(answers).count == 20 && answers.allSatisfy { $0.count == 128 && Stand.refusal($0) == nil })
    // The exponents have 256 bits, drawn anew each time.
    let exponents = try (0..<20).map { _ in try SecondOakleyGroup.newExponent().bitCount }
    #expect(exponents.allSatisfy { (200...256).contains($0) })
  }
}

extension SecretSession {
  /// Encodes a secret with given parameters.
  fileprivate borrowing func encode(_ secret: [UInt8], parameters: [UInt8]) throws(SecretSessionError) -> [UInt8] {
    var value = [UInt8](repeating: 0, count: encodedCount(secret.count))
    var span = value.mutableSpan
    var room = unsafe span.mutableBytes
    try secret.withSpan { (secret: RawSpan) throws(SecretSessionError) in
      try encode(secret, parameters: parameters, into: &room)
    }
    return value
  }
}
