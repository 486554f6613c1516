import VaultModel
import VaultSigning

/// The curves, with the facts that a test needs to encode their keys itself.
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

  /// The curve's object identifier, as a DER element.
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

  /// Encodes a private key in RFC 5915, without the public key.
  func pem(_ scalar: [UInt8]) -> String {
    VaultSigningTests.pem(
      "EC PRIVATE KEY", der(0x30, [2, 1, 1] + der(4, scalar) + der(0xA0, identifier)))
  }

  /// Encodes the public key of a point (RFC 5480).
  func spki(_ point: [UInt8]) -> [UInt8] {
    der(0x30, der(0x30, hex("06072a8648ce3d0201") + identifier) + der(3, [0] + point))
  }
}

/// Encodes a DER element.
func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
  switch content.count {
  case ..<0x80: [tag, UInt8(content.count)] + content
  case ..<0x100: [tag, 0x81, UInt8(content.count)] + content
  default: [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
  }
}

/// Encodes a positive DER INTEGER.
func integer(_ digits: [UInt8]) -> [UInt8] {
  let digits = Array(digits.drop { $0 == 0 })
  return der(2, digits.first.map { $0 < 0x80 } == true ? digits : [0] + digits)
}

/// Makes the public key of these numbers (RFC 3279).
func rsaKey(modulus: [UInt8], exponent: [UInt8]) throws(KeyError) -> PublicKey {
  let key = der(0x30, integer(modulus) + integer(exponent))
  let spki = der(0x30, hex("300d06092a864886f70d0101010500") + der(3, [0] + key))
  return try PublicKey(spki: unsafe spki.span.bytes)
}

/// Example keys of each type, which give access to nothing.
enum Examples {
  static func key(_ type: KeyType) throws -> PrivateKey {
    switch type {
    case .ed25519: try NewKey.key(.ed25519)
    case .p256: try NewKey.key(.p256)
    case .p384: try NewKey.key(.p384)
    case .p521: try NewKey.key(.p521)
    case .rsa: try privateKey(rsa)
    }
  }

  /// A fixed key of 2048 bits for the tests only, because making a key takes seconds.
  static let rsa = """
    -----BEGIN PRIVATE KEY-----
    MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQChmXiZUZvHxyhi
    nc/JiiJAB4awk++LcILdt10LkRvOcUNaLNeEq38gK8YnxgMwgB7ZTp+4rcw1Skg9
    Jd8MEdGtefxSvnsKCCZoLMxz9xwPMQlo2XUtmKRJhE2p/zvgoitZQuJq2uDzjLDx
    yY0WABlxSxhYX1H7GewRNkkeWi2jhXQ4UoaPo9D/OHmHDQ+hA3gBHr1eJHu3VVlS
    7Q/BJYn+H4EeXTBIYjTHrHnsxYnYCG9Rv85I1qq+6iEc1+VMYF++aWk7C5NPNjIV
    7SORQ2U4vEXo4/cw8aXubzt22He1T67Z9gbWf0burvI75Zlox/MBgQMjVIXY8quB
    j23mvl3jAgMBAAECggEAG5pl9bZxaBoWRWYUeKYOPKasdJwIZmaVC/9GtvOV7tj8
    +rm/JIvQvrOLeP7DS7UOz+q0sKyLPa0PEtbVty+SA9Ja7d1Ykfmbad8BG2vh0Jx9
    MXo3oE66/U3KoFeXKEM7KVeZ6kux8hgdn2dgoJnqvqXnpiy+Cai/YJ9HtRYNRql+
    tHXnDoM6inbE8KyJ9zNzl8kor6M3hVQJ5sPrHXjzpqM0easRD3yi5hUNF/zMEVwS
    ngKMsVjY0KUXksWRYJOK61VGrvWbl52h+mW4HkVLQXd1Qo7QrNBT0msfEeG55GcN
    1dPw5XAr/wZIvv9BOjiCyX8n0DJlSQYSI3b+hChglQKBgQDiLcN9v5XzG5mmk0Im
    zWfcdhzGFliBMi1h/lgvD5b1NsLPrclMD9h+d0Lgj01WZLgq2hmY9J6lY6kyzk4X
    qOH5sZLC3k+6VIqgR2LX1Rrmzrj04RI7NfSSvfvLtsgbH/3b556Jv9xRFZA4Wqbg
    U/yiYhfeam6ynBpt0ThCl3w53wKBgQC25/TYEhpaBpQ8+KztBHfP1mkOpSi9kyxO
    TaUmuwAEVCGzmo04WjUFkiYWbm3OWIUg0zu3lAJeNjKTdDAWVXrpS2nOtUYBc3qJ
    oXNhobaBe+QhXG43nYaFr4JHQwBe0km2NCxpMhmUgSCm+/Gd+5Z6NWrIat23/eoK
    UHBe3OVkfQKBgBkmC4GU5uBkJj5+SzGzTyQVQffIjki3QpKNzFJXQmq7jwe2hBZg
    AKt3KUl8xZWgl1W0cHowYN906GBMziQVVCMGWpIuU+Ec+1j89wGWoWoefDRGPle1
    FR+n3jJ1fWR+tyRXaapZWe7uHd4WPk3dKM8JZywE25AiiVHCnKXS4C4zAoGAC8fC
    yEvaMKQt1gN6N8XK5bL8jznp9tPMzbpIgccXiC/W/9dbcx60PYidNWKlZd3jrSqN
    tRQuVt0Mwtx/4GBfCzmVNgAM4zkJ0mV4pfghZhORrOhkHObjbCbSsD5Lfs/yeW7A
    0YGtjhgG/1pIxJEYrwRTvVbMsvYCpelqY2G80I0CgYEAj9XeePMAL5AT1CT9Ud1w
    i0alfCUp4O55TLcO5RPqx4UYg/q1pR5eJANaAAZk8xWFkgm9p6G1OzHFBhg47Lyl
    Q346NhPvZGerKAxMhA2L8QG/As2kCrqHGoSr4NmI5QK4YJqGvNTMjOE46/HUop6M
    //dEtvp6oqF4w7aCH79bt4E=
    -----END PRIVATE KEY-----

    """
}
