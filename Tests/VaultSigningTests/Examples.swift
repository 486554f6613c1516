import VaultSigning

/// The curves, with what a test needs to write their keys by itself.
enum ExampleCurve: String, CaseIterable {
  case p256 = "P-256"
  case p384 = "P-384"
  case p521 = "P-521"

  var scheme: SignatureScheme {
    switch self {
    case .p256: .ecdsaSHA256
    case .p384: .ecdsaSHA384
    case .p521: .ecdsaSHA512
    }
  }

  var type: KeyType { scheme.keyType }

  /// The size of a coordinate in bytes.
  var count: Int {
    switch self {
    case .p256: 32
    case .p384: 48
    case .p521: 66
    }
  }

  /// The name as an element of DER.
  private var identifier: [UInt8] {
    switch self {
    case .p256: hex("06082a8648ce3d030107")
    case .p384: hex("06052b81040022")
    case .p521: hex("06052b81040023")
    }
  }

  /// The order of the group (FIPS 186-4 appendix D.1.2).
  var order: [UInt8] {
    switch self {
    case .p256: hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    case .p384:
      hex("ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973")
    case .p521:
      hex(
        "01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa"
          + "51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409")
    }
  }

  /// The text of a private key: RFC 5915, without the public one.
  func pem(_ scalar: [UInt8]) -> String {
    VaultSigningTests.pem(
      "EC PRIVATE KEY", der(0x30, [2, 1, 1] + der(4, scalar) + der(0xA0, identifier)))
  }

  /// The public key of a point (RFC 5480).
  func spki(_ point: [UInt8]) -> [UInt8] {
    der(0x30, der(0x30, hex("06072a8648ce3d0201") + identifier) + der(3, [0] + point))
  }
}

/// An element of DER.
func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
  switch content.count {
  case ..<0x80: [tag, UInt8(content.count)] + content
  case ..<0x100: [tag, 0x81, UInt8(content.count)] + content
  default: [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
  }
}

/// A positive INTEGER of DER.
func integer(_ digits: [UInt8]) -> [UInt8] {
  let digits = Array(digits.drop { $0 == 0 })
  return der(2, digits.first.map { $0 < 0x80 } == true ? digits : [0] + digits)
}

/// The public key of these numbers (RFC 3279).
func rsaKey(modulus: [UInt8], exponent: [UInt8]) throws(KeyError) -> PublicKey {
  let key = der(0x30, integer(modulus) + integer(exponent))
  let spki = der(0x30, hex("300d06092a864886f70d0101010500") + der(3, [0] + key))
  return try PublicKey(spki: unsafe spki.span.bytes)
}
