internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultSigning

/// A key that signs tokens: a private key, or plain bytes for HS256. The item's value determines which, never a token.
enum TokenKey: ~Copyable {
  case pair(PrivateKey)
  case bytes(SecureBytes)

  /// Creates a key from the current version of an item's value. If its public half was stored with it, the pair was
  /// checked then.
  init(_ item: ItemInfo, _ value: RawSpan) throws(Refusal) {
    if item.publicKey == nil, !KeyCheck.isPEM(value) {
      self = .bytes(SecureBytes(copying: value))
    } else {
      self = .pair(try Items.privateKey(item, value))
    }
  }

  /// Creates a key from a replaced version.
  ///
  /// - Parameter publicKey: the public half, if it was computed before; nil if it is still to be computed.
  init(replaced value: RawSpan, _ item: ItemInfo, _ publicKey: PublicKey?) throws(Refusal) {
    if publicKey == nil, !KeyCheck.isPEM(value) {
      self = .bytes(SecureBytes(copying: value))
    } else {
      self = .pair(try Items.privateKey(replaced: value, publicKey))
    }
  }

  /// The public half of a pair; nil for plain bytes.
  var publicKey: PublicKey? {
    switch self {
    case .bytes: nil
    case .pair(let key): key.publicKey
    }
  }

  borrowing func algorithm() throws(Refusal) -> JSONWebToken.Algorithm {
    switch self {
    case .bytes: return .hs256
    case .pair(let key):
      guard let scheme = key.type.facts.tokenScheme else {
        throw .misconfigured("a key of this type cannot sign tokens")
      }
      return .scheme(scheme)
    }
  }

  /// The key id in tokens. For a pair it is the thumbprint of the public half (RFC 7638); for plain bytes it is the
  /// version number, because guesses could be tested against a hash of the bytes.
  borrowing func id(version: Int) -> String {
    switch self {
    case .bytes: "v\(version)"
    case .pair(let key): key.publicKey.jwkThumbprint
    }
  }

  borrowing func sign(
    _ message: RawSpan, _ order: RSAOrder, of accessible: AccessClass
  ) throws(SigningError) -> [UInt8] {
    switch self {
    case .bytes(let key):
      return try HMAC.withCode(of: message, key: key, .sha256) { $0.array }
    case .pair(let key):
      guard let scheme = key.type.facts.tokenScheme else { throw SigningError("a key of this type cannot sign tokens") }
      return try order.sign(message, by: key, scheme, of: accessible)
    }
  }

  borrowing func verifies(_ signature: RawSpan, _ message: RawSpan) -> Bool {
    switch self {
    case .bytes(let key):
      do throws(SigningError) { return try HMAC.verifies(signature, of: message, key: key, .sha256) } catch {
        return false
      }
    case .pair(let key):
      guard let scheme = key.type.facts.tokenScheme else { return false }
      return key.publicKey.verifies(signature.array, of: message, scheme)
    }
  }
}
