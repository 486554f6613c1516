internal import VaultBytes
internal import VaultModel

/// SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7), the form of OpenSSL's `PUBLIC KEY` (RFC 7468 section 13).
extension PublicKey {
  /// Reads the DER encoding.
  public init(spki der: RawSpan) throws(KeyError) {
    var whole = DERCursor(der.byteOffsets)
    guard let info = whole.take(DERTag.sequence, in: der), whole.isAtEnd else { throw Self.damaged }
    var fields = DERCursor(info.content)
    let type = try KeyType(&fields, in: der)
    guard let bits = fields.take(DERTag.bitString, in: der)?.content, fields.isAtEnd, let first = bits.first,
      der.byte(first) == 0
    else { throw Self.damaged }
    try self.init(type, der, bits.dropFirst())
  }

  /// Reads the contents of the bit string.
  private init(_ type: KeyType, _ der: RawSpan, _ range: Range<Int>) throws(KeyError) {
    switch type.facts.family {
    case .ed25519: try self.init(checking: .ed25519(der.array(range)))
    case .curve(let curve): try self.init(checking: .curve(curve, der.array(range)))
    case .rsa:
      // The content is an RSAPublicKey (RFC 8017 appendix A.1.1).
      var whole = DERCursor(range)
      guard let key = whole.take(DERTag.sequence, in: der), whole.isAtEnd else { throw Self.damaged }
      var numbers = DERCursor(key.content)
      guard let modulus = numbers.takeUnsigned(in: der), let exponent = numbers.takeUnsigned(in: der), numbers.isAtEnd
      else { throw Self.damaged }
      try self.init(checking: .rsa(modulus: der.array(modulus), exponent: der.array(exponent)))
    }
  }

  private static var damaged: KeyError { .damaged("it is not a public key in DER") }

  /// Reads the only `PUBLIC KEY` block of a PEM text.
  public init(pem text: RawSpan) throws(KeyError) {
    let der: SecretBuffer
    do throws(PEMFault) {
      guard let block = try PEM.block(in: text, from: 0), block.isLabelled("PUBLIC KEY", in: text) else {
        throw PEMFault("there is no public key ('-----BEGIN PUBLIC KEY-----')")
      }
      guard try PEM.block(in: text, from: block.end) == nil else {
        throw PEMFault("there is more than one PEM block")
      }
      der = try PEM.decode(block, in: text)
    } catch { throw .damaged(error.reason) }
    self = try der.withBytes { (der: RawSpan) throws(KeyError) in try PublicKey(spki: der) }
  }

  /// The DER encoding.
  public var spki: [UInt8] {
    let bits =
      switch form {
      case .ed25519(let bytes): bytes
      case .curve(_, let point): point
      case .rsa(let modulus, let exponent):
        DER.element(DERTag.sequence, DER.unsigned(modulus) + DER.unsigned(exponent))
      }
    return DER.element(DERTag.sequence, type.identifier + DER.bits(bits))
  }

  /// The PEM text as OpenSSL writes it.
  public var pem: String {
    let text = spki.base64
    var lines = ["-----BEGIN PUBLIC KEY-----"]
    var rest = text[...]
    while !rest.isEmpty {
      lines.append(String(rest.prefix(64)))
      rest = rest.dropFirst(64)
    }
    return (lines + ["-----END PUBLIC KEY-----", ""]).joined(separator: "\n")
  }
}
