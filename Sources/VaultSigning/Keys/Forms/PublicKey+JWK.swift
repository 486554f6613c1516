internal import VaultBytes
internal import VaultCore
internal import VaultModel

/// JSON Web Keys (RFC 7517): RSA and curves by RFC 7518 section 6, Ed25519 by RFC 8037 section 2.
extension PublicKey {
  /// The key as one line of JSON: only the required members, in the order of their names and without white space, which
  /// is the form that RFC 7638 section 3 hashes.
  public var jwk: String { String(decoding: jwkBytes, as: UTF8.self) }

  private var jwkBytes: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    switch form {
    case .ed25519(let bytes):
      writer.field("crv", "Ed25519")
      writer.field("kty", "OKP")
      writer.field("x", bytes.base64url)
    case .curve(let curve, let point):
      writer.field("crv", curve.facts.joseName)
      writer.field("kty", "EC")
      writer.field("x", Array(point[1...curve.count]).base64url)
      writer.field("y", Array(point[(1 + curve.count)...]).base64url)
    case .rsa(let modulus, let exponent):
      writer.field("e", exponent.base64url)
      writer.field("kty", "RSA")
      writer.field("n", modulus.base64url)
    }
    writer.endObject()
    return writer.take().withBytes { $0.array }
  }

  /// The thumbprint (RFC 7638) with SHA-256, in base64url without padding: 43 characters.
  public var jwkThumbprint: String {
    unsafe SHA256.digest(of: jwkBytes.span.bytes).base64url  // Bytes have no padding.
  }
}
