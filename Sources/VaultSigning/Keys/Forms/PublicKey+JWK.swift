internal import VaultCore
internal import VaultModel

/// JSON Web Keys (RFC 7517): RSA and curves after RFC 7518 section 6, Ed25519 after RFC 8037 section 2.
extension PublicKey {
  /// The key as one line of JSON: only the required members, in the order of their names and without white space, which
  /// is the form that RFC 7638 section 3 hashes.
  public var jwk: String { String(decoding: jwkBytes, as: UTF8.self) }

  private var jwkBytes: [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(128)
    text.append(UInt8(ascii: "{"))
    switch form {
    case .ed25519(let bytes):
      text.member(#""crv":"#, "Ed25519")
      text.member(#""kty":"#, "OKP")
      text.member(#""x":"#, base64url: bytes)
    case .curve(let curve, let point):
      text.member(#""crv":"#, curve.facts.joseName)
      text.member(#""kty":"#, "EC")
      text.member(#""x":"#, base64url: Array(point[1...curve.count]))
      text.member(#""y":"#, base64url: Array(point[(1 + curve.count)...]))
    case .rsa(let modulus, let exponent):
      text.member(#""e":"#, base64url: exponent)
      text.member(#""kty":"#, "RSA")
      text.member(#""n":"#, base64url: modulus)
    }
    text.append(UInt8(ascii: "}"))
    return text
  }

  /// The thumbprint (RFC 7638) with SHA-256, in base64url without padding: 43 characters.
  public var jwkThumbprint: String {
    unsafe SHA256.digest(of: jwkBytes.span.bytes).base64url  // Bytes have no padding.
  }
}
