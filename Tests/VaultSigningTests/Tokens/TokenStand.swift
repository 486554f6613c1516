import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultSigning

/// Tokens of an item whose key is for HMAC, so that a test needs no key file; also tokens that no vault would make.
enum TokenStand {
  static let key: [UInt8] = Array("a key of 32 bytes, as HS256 wants".utf8.prefix(32))
  static let now: Int64 = 1_800_000_000
  static let identifier = "0123456789abcdefABCDE_"

  /// The algorithms of all types of keys that sign tokens.
  static let algorithms: [JSONWebToken.Algorithm] =
    KeyType.allCases.compactMap(\.facts.tokenScheme).map { .scheme($0) } + [.hs256]

  static func signature(_ message: RawSpan, _ key: [UInt8] = key) throws(SigningError) -> [UInt8] {
    try HMAC.withCode(of: message, key: secret(key), .sha256) { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } }
  }

  static func verifies(_ key: [UInt8] = key) -> (RawSpan, RawSpan) -> Bool {
    { signature, message in
      guard let code = try? Self.signature(message, key) else { return false }
      return unsafe signature.withUnsafeBytes { unsafe $0.elementsEqual(code) }
    }
  }

  static func text(_ token: borrowing SecureBytes) -> String {
    token.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
  }

  static func base64URL(_ bytes: [UInt8]) -> String {
    var text = [UInt8](repeating: 0, count: Base64URL.encodedCount(bytes.count))
    var span = text.mutableSpan
    var target = unsafe span.mutableBytes
    Base64URL.encode(unsafe bytes.span.bytes, into: &target)
    return String(decoding: text, as: UTF8.self)
  }

  /// Makes a token of any header and any payload, with a right signature.
  static func token(header: String = #"{"alg":"HS256"}"#, _ payload: String) throws -> String {
    let message = "\(base64URL(Array(header.utf8))).\(base64URL(Array(payload.utf8)))"
    let bytes = Array(message.utf8)
    return "\(message).\(base64URL(try signature(unsafe bytes.span.bytes)))"
  }

  /// Makes a token that the terms allow.
  static func token(_ attributes: [String: String], _ request: TokenRequest = TokenRequest()) throws -> String {
    let claims = try TokenClaims(TokenTerms(attributes: attributes), request, now: now, identifier: identifier)
    return text(
      try JSONWebToken.make(algorithm: .hs256, keyID: "lamp/key", payload: claims.payload) {
        message throws(SigningError) in
        try signature(message)
      })
  }

  static func verify(
    _ token: String, _ attributes: [String: String] = [:], algorithm: JSONWebToken.Algorithm = .hs256,
    at time: Int64 = now,
    leeway: Int64 = 0, revoked: RevocationList = RevocationList()
  ) throws(TokenFault) -> VerifiedToken {
    let bytes = Array(token.utf8)
    guard let terms = try? TokenTerms(attributes: attributes) else { preconditionFailure("bad attributes") }
    return try JSONWebToken(parsing: unsafe bytes.span.bytes).verify(
      algorithm: algorithm, terms: terms, now: time, leeway: leeway,
      isRevoked: { revoked.isRevoked(identifier: $0, subject: $1, issuedAt: $2) }, verifies: verifies())
  }

  /// Returns the fault of a token that must have one.
  static func fault(
    _ token: String, _ attributes: [String: String] = [:], algorithm: JSONWebToken.Algorithm = .hs256,
    at time: Int64 = now,
    leeway: Int64 = 0, revoked: RevocationList = RevocationList()
  ) -> TokenFault? {
    do throws(TokenFault) {
      _ = try verify(token, attributes, algorithm: algorithm, at: time, leeway: leeway, revoked: revoked)
      return nil
    } catch { return error }
  }

  /// Returns the problem of a request that must have one.
  static func problem(_ attributes: [String: String], _ request: TokenRequest = TokenRequest()) -> TokenProblem? {
    do throws(TokenProblem) {
      _ = try TokenClaims(TokenTerms(attributes: attributes), request, now: now, identifier: identifier)
      return nil
    } catch { return error }
  }

  /// Returns the signed payload of an allowed request.
  static func payload(_ attributes: [String: String], _ request: TokenRequest = TokenRequest()) throws -> String {
    let claims = try TokenClaims(TokenTerms(attributes: attributes), request, now: now, identifier: identifier)
    return String(decoding: claims.payload, as: UTF8.self)
  }
}
