internal import VaultCore
internal import VaultModel

/// JSON Web Keys (RFC 7517), for RSA and curves by RFC 7518 section 6, for Ed25519 by RFC 8037 section 2.
extension PublicKey {
  /// The key as one line of JSON: the required members alone, in the order of their names and without white space, which is
  /// the form that RFC 7638 section 3 hashes.
  public var jwk: String {
    switch form {
    case .ed25519(let bytes): #"{"crv":"Ed25519","kty":"OKP","x":"\#(bytes.base64url)"}"#
    case .curve(let curve, let point):
      #"{"crv":"\#(curve.joseName)","kty":"EC","x":"\#(Array(point[1...curve.count]).base64url)","#
        + #""y":"\#(Array(point[(1 + curve.count)...]).base64url)"}"#
    case .rsa(let modulus, let exponent):
      #"{"e":"\#(exponent.base64url)","kty":"RSA","n":"\#(modulus.base64url)"}"#
    }
  }

  /// The thumbprint (RFC 7638) with SHA-256, in base64url without padding: 43 characters.
  public var jwkThumbprint: String {
    unsafe SHA256.digest(of: Array(jwk.utf8).span.bytes).base64url  // Bytes have no padding.
  }
}
