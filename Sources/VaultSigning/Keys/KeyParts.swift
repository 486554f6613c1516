/// The places of a private key's parts within one of its encodings, as a parser found them.
struct KeyParts {
  /// The private numbers.
  enum Secret {
    /// The 32 bytes of the seed.
    case ed25519(Range<Int>)
    /// The private scalar, big-endian.
    case curve(Curve, Range<Int>)
    case rsa(RSA)
  }

  /// The numbers of an RSA key (RFC 8017 section 3.2), big-endian without zeros before them.
  struct RSA {
    var modulus, publicExponent, exponent, prime1, prime2, coefficient: Range<Int>
    /// The exponent by each prime without one: OpenSSH leaves them out.
    var exponents: (Range<Int>, Range<Int>)?
  }

  var secret: Secret
  /// The public keys that stand beside the private one: an Ed25519 key's bytes or an uncompressed point, nothing for RSA.
  var stated: [Range<Int>] = []
  /// The public key in SSH's form.
  var blob: Range<Int>?
  var comment: Range<Int>?
}
