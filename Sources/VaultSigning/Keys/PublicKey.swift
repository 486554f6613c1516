/// The public half of a key, which checks signatures.
///
/// Two are equal when they are the same key; the bytes are held as they were checked.
public struct PublicKey: Hashable, Sendable {
  /// The key's own numbers.
  enum Form: Hashable, Sendable {
    /// 32 bytes (RFC 8032 section 5.1.5).
    case ed25519([UInt8])
    /// An uncompressed point.
    case curve(Curve, [UInt8])
    /// Big-endian, without zeros before them.
    case rsa(modulus: [UInt8], exponent: [UInt8])
  }

  let form: Form

  /// The sizes of an RSA key's modulus in bits. Below, it can be factored by who has much to spend; above, it only costs.
  public static let rsaBits = 2048...8192

  /// Checks the numbers: a point lies on its curve, an RSA key has a size and an exponent that are in use.
  ///
  /// The 32 bytes of an Ed25519 key are any; those that are no key fail at each signature.
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
      guard Self.rsaBits.contains(bits) else { throw .size(bits: bits) }
      guard modulus.last.map({ $0 & 1 }) == 1 else { throw .damaged("an RSA modulus is even") }
      // Larger exponents make a check as slow as a signature; OpenSSL stops there, too.
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

  /// The size in bits: of an RSA key's modulus, and of the field of the others.
  public var bitCount: Int {
    switch form {
    case .ed25519: 256
    case .curve(let curve, _): curve == .p521 ? 521 : 8 * curve.count
    case .rsa(let modulus, _): Self.bitCount(modulus)
    }
  }

  /// The size of the largest RSA key that signs where others are answered at the same time, in bits: a signature by a
  /// larger one takes longer than they may be kept waiting.
  static let mostBitsAtOnce = 2048

  /// True for an RSA key above 2,048 bits, with which another process computes.
  public var isLarge: Bool { type == .rsa && bitCount > Self.mostBitsAtOnce }

  private static func bitCount(_ digits: [UInt8]) -> Int {
    8 * digits.count - (digits.first?.leadingZeroBitCount ?? 0)
  }
}
