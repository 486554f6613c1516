public import VaultModel

/// The public half of a key, which verifies signatures.
///
/// Two values are equal if their numbers have the same bytes.
public struct PublicKey: Hashable, Sendable {
  /// The numbers of the key.
  enum Form: Hashable, Sendable {
    /// The 32 bytes of the key (RFC 8032 section 5.1.5).
    case ed25519([UInt8])
    /// An uncompressed point.
    case curve(Curve, [UInt8])
    /// The numbers, big-endian without leading zeros.
    case rsa(modulus: [UInt8], exponent: [UInt8])
  }

  let form: Form

  /// Checks the numbers: a point must lie on its curve, and an RSA key must have a usual size and exponent.
  ///
  /// Any 32 bytes are accepted as an Ed25519 key; with bytes that are not a key, every verification fails.
  init(checking form: Form) throws(KeyError) {
    switch form {
    case .ed25519(let bytes):
      guard bytes.count == 32 else { throw .damaged("an Ed25519 key has 32 bytes") }
    case .curve(let curve, let point):
      guard point.first != 2 && point.first != 3 else { throw .compressedPoint }
      guard try KeyError.passing({ () throws(SigningError) in try curve.contains(point) }) else {
        throw .damaged("its point is not on the curve")
      }
    case .rsa(let modulus, let exponent):
      let bits = Self.bitCount(modulus)
      guard KeyType.rsa.facts.sizes.contains(bits) else { throw .size(bits: bits) }
      guard modulus.last.map({ $0 & 1 }) == 1 else { throw .damaged("an RSA modulus is even") }
      // Larger exponents would make a verification as slow as a signature; OpenSSL has the same limit.
      guard exponent.count <= 8, exponent.last.map({ $0 & 1 }) == 1, exponent != [1] else {
        throw .damaged("an RSA exponent is not an odd number from 3 to 2^64")
      }
    }
    self.form = form
  }

  /// The key's type.
  public var type: KeyType {
    switch form {
    case .ed25519: .ed25519
    case .curve(let curve, _): curve.type
    case .rsa: .rsa
    }
  }

  /// The size in bits: of the modulus of an RSA key, and of the field for other keys.
  public var bitCount: Int {
    switch form {
    case .ed25519: 256
    case .curve(let curve, _): curve.facts.bits
    case .rsa(let modulus, _): Self.bitCount(modulus)
    }
  }

  /// True for a key whose signatures another process computes: an RSA key above 2,048 bits.
  public var isLarge: Bool { bitCount > type.facts.mostBitsAtOnce }

  private static func bitCount(_ digits: [UInt8]) -> Int {
    8 * digits.count - (digits.first?.leadingZeroBitCount ?? 0)
  }
}
