internal import VaultBytes
public import VaultCore
public import VaultModel

/// A signed JSON Web Token (RFC 7519) in the compact form of a JSON Web Signature (RFC 7515 section 7.1), parsed but
/// not yet verified: only ``verify(algorithm:terms:now:newest:leeway:isRevoked:verifies:)`` reveals its claims.
///
/// Anyone who has a token can use it, so the whole token lies in ``SecureBytes``, and its signature nowhere else.
public struct JSONWebToken: ~Copyable, Sendable {
  /// The algorithm of the signature, which an item's key determines.
  public enum Algorithm: Hashable, Sendable {
    /// The scheme of a private key's type; see ``KeyType/Facts/tokenScheme``.
    case scheme(SignatureScheme)
    /// HMAC with SHA-256.
    case hs256

    /// The name in the header's `alg` (RFC 7518 section 3.1, RFC 8037 section 3.1).
    public var name: String {
      switch self {
      case .scheme(let scheme): scheme.facts.joseName
      case .hs256: "HS256"
      }
    }

    /// The allowed sizes of a signature in bytes.
    var signatureCounts: ClosedRange<Int> {
      switch self {
      case .scheme(let scheme): scheme.facts.signatureCounts
      case .hs256: 32...32
      }
    }
  }

  /// The longest token in bytes.
  public static let maximumBytes = 16 << 10

  /// The name of the key in the header's `kid`: only a hint, which nothing has confirmed.
  public let keyID: String?
  /// The header's `alg`, only for comparison.
  let algorithmName: String
  /// The decoded payload, which must not be read before the signature is verified.
  let payload: [UInt8]
  /// The first two parts of the token, which are signed, followed by the decoded signature.
  let memory: SecureBytes
  let signedCount: Int

  init(keyID: String?, algorithmName: String, payload: [UInt8], memory: consuming SecureBytes, signedCount: Int) {
    self.keyID = keyID
    self.algorithmName = algorithmName
    self.payload = payload
    self.memory = memory
    self.signedCount = signedCount
  }

  /// Makes a token in its compact form, in ASCII.
  ///
  /// - Parameters:
  ///   - keyID: The key's name for verifiers, as in the key set where they find the key; nil for none.
  ///   - payload: The claims, as in ``TokenClaims/payload``.
  ///   - sign: Returns the signature of a message. The returned array is wiped after use, unless something else still
  ///     refers to it.
  /// - Throws: The errors of `sign`.
  public static func make(
    algorithm: Algorithm, keyID: String?, payload: [UInt8], sign: (RawSpan) throws(SigningError) -> [UInt8]
  ) throws(SigningError) -> SecureBytes {
    let header = header(algorithm, keyID)
    let headerCount = Base64URL.encodedCount(header.count)
    var message = [UInt8](repeating: UInt8(ascii: "."), count: headerCount + 1 + Base64URL.encodedCount(payload.count))
    var span = message.mutableSpan
    var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized, here and below.
    Base64URL.encode(unsafe header.span.bytes, into: &bytes)
    Base64URL.encode(unsafe payload.span.bytes, into: &bytes, at: headerCount + 1)

    let signed = unsafe message.span.bytes
    var signature = try sign(signed)
    let count = signed.byteCount + 1 + Base64URL.encodedCount(signature.count)
    let token = SecureBytes(count: count) { token in
      token.copy(signed)
      token.storeBytes(of: UInt8(ascii: "."), toByteOffset: signed.byteCount, as: UInt8.self)
      Base64URL.encode(unsafe signature.span.bytes, into: &token, at: signed.byteCount + 1)
    }
    signature.wipe()
    Stack.wipeRegisters()
    return token
  }

  private static func header(_ algorithm: Algorithm, _ keyID: String?) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("alg", algorithm.name)
    writer.field("typ", "JWT")
    writer.field("kid", keyID)
    writer.endObject()
    return writer.take().withBytes { $0.array }
  }
}
