internal import VaultBytes
internal import VaultModel

/// Private keys in DER: PrivateKeyInfo (RFC 5208), OneAsymmetricKey (RFC 5958, and RFC 8410 for Ed25519), and OpenSSL's
/// older forms, which the first two also contain.
enum PKCS8 {
  /// Reads `PRIVATE KEY`.
  static func parts(_ der: RawSpan) throws(KeyError) -> KeyParts {
    var fields = try sequence(der, der.byteOffsets)
    guard let version = fields.take(DERTag.integer, in: der)?.content, version.count == 1,
      case let number = der.byte(version.lowerBound), number <= 1
    else { throw damaged }
    let type = try KeyType(&fields, in: der)
    guard let key = fields.take(DERTag.octetString, in: der)?.content else { throw damaged }
    _ = fields.take(DERTag.context0, in: der)  // attributes
    var parts = try self.parts(der, key, type)
    if number == 1, let bits = fields.take(DERTag.implicit1, in: der)?.content {
      // For RSA the field is a structure of its own, which no program writes.
      guard type != .rsa else { throw .unsupported("an RSA key with a second public key") }
      parts.stated.append(try octets(bits, der))
    }
    guard fields.isAtEnd else { throw damaged }
    return parts
  }

  private static func parts(_ der: RawSpan, _ key: Range<Int>, _ type: KeyType) throws(KeyError) -> KeyParts {
    switch type.facts.family {
    case .ed25519:
      // The content is a CurvePrivateKey (RFC 8410 section 7): another octet string.
      var whole = DERCursor(key)
      guard let seed = whole.take(DERTag.octetString, in: der)?.content, whole.isAtEnd, seed.count == 32 else {
        throw damaged
      }
      return KeyParts(secret: .ed25519(seed))
    case .curve(let curve): return try sec1(der, key, curve)
    case .rsa: return try rsa(der, key)
    }
  }

  /// Reads `EC PRIVATE KEY` (RFC 5915 section 3), or the same structure within PKCS #8, which names the curve `outer`.
  static func sec1(_ der: RawSpan, _ range: Range<Int>, _ outer: Curve? = nil) throws(KeyError) -> KeyParts {
    var fields = try sequence(der, range)
    guard let version = fields.take(DERTag.integer, in: der)?.content, der.isEqual(version, [1]),
      let scalar = fields.take(DERTag.octetString, in: der)?.content
    else { throw damaged }
    var curve = outer
    if let parameters = fields.take(DERTag.context0, in: der)?.content {
      var inner = DERCursor(parameters)
      let named = try Curve(&inner, in: der)
      guard inner.isAtEnd, outer == nil || named == outer else { throw .damaged("it names two curves") }
      curve = named
    }
    guard let curve else { throw .unsupported("a key that does not name its curve") }
    var parts = KeyParts(secret: .curve(curve, scalar))
    if let point = fields.take(DERTag.context1, in: der)?.content {
      var inner = DERCursor(point)
      guard let bits = inner.take(DERTag.bitString, in: der)?.content, inner.isAtEnd else { throw damaged }
      parts.stated.append(try octets(bits, der))
    }
    guard fields.isAtEnd else { throw damaged }
    return parts
  }

  /// Reads `RSA PRIVATE KEY` (RFC 8017 appendix A.1.2).
  static func rsa(_ der: RawSpan, _ range: Range<Int>) throws(KeyError) -> KeyParts {
    var fields = try sequence(der, range)
    guard let version = fields.takeUnsigned(in: der) else { throw damaged }
    guard version.isEmpty || der.isEqual(version, [0]) else { throw .unsupported("an RSA key of more than two primes") }
    var numbers: [Range<Int>] = []
    while numbers.count < 8 {
      guard let number = fields.takeUnsigned(in: der) else { throw damaged }
      numbers.append(number)
    }
    guard fields.isAtEnd else { throw damaged }
    return KeyParts(
      secret: .rsa(
        KeyParts.RSA(
          modulus: numbers[0], publicExponent: numbers[1], exponent: numbers[2], prime1: numbers[3],
          prime2: numbers[4], coefficient: numbers[7], exponents: (numbers[5], numbers[6]))))
  }

  private static func sequence(_ der: RawSpan, _ range: Range<Int>) throws(KeyError) -> DERCursor {
    var whole = DERCursor(range)
    guard let sequence = whole.take(DERTag.sequence, in: der), whole.isAtEnd else { throw damaged }
    return DERCursor(sequence.content)
  }

  /// The octets of a bit string without unused bits.
  private static func octets(_ bits: Range<Int>, _ der: RawSpan) throws(KeyError) -> Range<Int> {
    guard let unused = bits.first, der.byte(unused) == 0 else { throw damaged }
    return bits.dropFirst()
  }

  private static var damaged: KeyError { .damaged("it is not a private key in DER, or it is cut off") }
}
