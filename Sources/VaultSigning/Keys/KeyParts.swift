internal import VaultModel

/// The places of the parts of a private key within one of its encodings, as a parser found them.
struct KeyParts {
  /// The places of the private numbers.
  enum Secret {
    /// The 32 bytes of the seed.
    case ed25519(Range<Int>)
    /// The private scalar, big-endian.
    case curve(Curve, Range<Int>)
    case rsa(RSA)
  }

  /// The numbers of an RSA key (RFC 8017 section 3.2), big-endian without leading zeros.
  struct RSA {
    var modulus, publicExponent, exponent, prime1, prime2, coefficient: Range<Int>
    /// The private exponent modulo each prime minus one; nil in OpenSSH's form, which omits these.
    var exponents: (Range<Int>, Range<Int>)?
  }

  var secret: Secret
  /// The public keys beside the private one: the bytes of an Ed25519 key or an uncompressed point; empty for RSA.
  var stated: [Range<Int>] = []
  /// The public key in SSH's form.
  var blob: Range<Int>?
  var comment: Range<Int>?
}
