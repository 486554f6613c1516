internal import VaultBytes
internal import VaultModel

/// The type of a key in PKCS #8 and X.509: AlgorithmIdentifier (RFC 5280 section 4.1.1.2) for Ed25519 (RFC 8410),
/// curves (RFC 5480) and RSA (RFC 3279 section 2.3.1).
extension KeyType {
  private static let ed25519Identifier: [UInt8] = [0x2B, 0x65, 0x70]
  private static let curveIdentifier: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
  private static let rsaIdentifier: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
  /// Unsupported algorithms of keys that people may well have, with their names.
  private static let others: [(name: String, identifier: [UInt8])] = [
    ("a DSA key", [0x2A, 0x86, 0x48, 0xCE, 0x38, 0x04, 0x01]),
    ("an Ed448 key", [0x2B, 0x65, 0x71]),
    ("an X25519 key", [0x2B, 0x65, 0x6E]),
    (KeyError.onlyPSS, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A]),
  ]

  /// Takes the next element, which must be an AlgorithmIdentifier.
  init(_ fields: inout DERCursor, in der: RawSpan) throws(KeyError) {
    guard let sequence = fields.take(DERTag.sequence, in: der) else { throw Self.damaged }
    var parts = DERCursor(sequence.content)
    guard let identifier = parts.take(DERTag.objectIdentifier, in: der)?.content else { throw Self.damaged }
    if der.isEqual(identifier, Self.ed25519Identifier) {
      self = .ed25519
    } else if der.isEqual(identifier, Self.curveIdentifier) {
      self = try Curve(&parts, in: der).type
    } else if der.isEqual(identifier, Self.rsaIdentifier) {
      // RFC 3279 requires NULL; some programs omit it.
      if !parts.isAtEnd {
        guard parts.take(DERTag.null, in: der)?.content.isEmpty == true else { throw Self.damaged }
      }
      self = .rsa
    } else {
      let other = Self.others.first { der.isEqual(identifier, $0.identifier) }
      throw .unsupported(other?.name ?? "a key of this type")
    }
    guard parts.isAtEnd else { throw Self.damaged }
  }

  /// The whole AlgorithmIdentifier.
  var identifier: [UInt8] {
    let (algorithm, parameters): ([UInt8], [UInt8]) =
      switch facts.family {
      case .ed25519: (Self.ed25519Identifier, [])
      case .curve(let curve): (Self.curveIdentifier, DER.element(DERTag.objectIdentifier, curve.facts.identifier))
      case .rsa: (Self.rsaIdentifier, DER.element(DERTag.null, []))
      }
    return DER.element(DERTag.sequence, DER.element(DERTag.objectIdentifier, algorithm) + parameters)
  }

  private static var damaged: KeyError { .damaged("its algorithm cannot be read") }
}

extension Curve {
  /// Takes the next element, which must be ECParameters: the name of a curve.
  init(_ fields: inout DERCursor, in der: RawSpan) throws(KeyError) {
    guard let parameters = fields.next(in: der) else { throw .damaged("its curve cannot be read") }
    guard parameters.tag == DERTag.objectIdentifier else { throw .unnamedCurve }
    guard let curve = Self.allCases.first(where: { der.isEqual(parameters.content, $0.facts.identifier) }) else {
      throw .unsupported("a curve other than P-256, P-384 and P-521")
    }
    self = curve
  }
}

extension RawSpan {
  /// True if `range` holds exactly these bytes, which must not be secret.
  func isEqual(_ range: Range<Int>, _ bytes: [UInt8]) -> Bool {
    range.count == bytes.count && zip(range, bytes).allSatisfy { byte($0) == $1 }
  }

  /// A copy of the bytes in `range`, which must not be secret.
  func array(_ range: Range<Int>) -> [UInt8] {
    extracting(range).array
  }
}
