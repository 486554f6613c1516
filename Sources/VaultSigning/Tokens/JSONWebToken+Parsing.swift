internal import VaultBytes
internal import VaultCore
internal import VaultModel

extension JSONWebToken {
  /// The header parameters that are refused. They change what is verified, or by which key (RFC 7515 sections 4.1 and
  /// 4.1.11, RFC 7797, RFC 7516), and this program does not support them. Others are ignored, as RFC 7515 section 4
  /// requires.
  private static let refusedParameters: [StaticString] = ["crit", "b64", "jwk", "jku", "x5u", "x5c", "zip", "enc"]

  /// Parses a token: three parts in base64url, of which the first is a JSON object.
  ///
  /// - Throws: ``TokenFault`` for anything that a signer would not write: padding, white space, leftover bits, a header
  ///   with a duplicate name, no `alg`, a `typ` other than that of a token, or one of the refused parameters.
  public init(parsing text: RawSpan) throws(TokenFault) {
    guard text.byteCount <= Self.maximumBytes else {
      throw .malformed("it is longer than \(Self.maximumBytes) bytes")
    }
    var dots: [Int] = []
    for offset in text.byteOffsets where text.byte(offset) == UInt8(ascii: ".") {
      dots.append(offset)
      if dots.count > 2 { break }
    }
    guard dots.count == 2, dots[0] > 0, dots[1] > dots[0] + 1, dots[1] + 1 < text.byteCount else {
      throw .malformed("it does not have three parts with a point between them")
    }
    let header = try Self.readHeader(Self.decode(text.extracting(0..<dots[0]), "header"))
    let payload = try Self.decode(text.extracting(dots[0] + 1..<dots[1]), "payload")
    let signature = text.extracting(dots[1] + 1..<text.byteCount)
    let signed = text.extracting(0..<dots[1])
    guard let signatureCount = Base64URL.decodedCount(signature.byteCount) else { throw .notBase64("signature") }
    var isValid = false
    let memory = SecureBytes(count: signed.byteCount + signatureCount) { bytes in
      bytes.copy(signed)
      isValid = Base64URL.decode(signature, into: &bytes, at: signed.byteCount)
    }
    guard isValid else { throw .notBase64("signature") }
    self.init(
      keyID: header.keyID, algorithmName: header.algorithm, payload: payload, memory: memory,
      signedCount: signed.byteCount)
  }

  private static func decode(_ part: RawSpan, _ name: String) throws(TokenFault) -> [UInt8] {
    guard let count = Base64URL.decodedCount(part.byteCount) else { throw .notBase64(name) }
    var decoded = [UInt8](repeating: 0, count: count)
    var span = decoded.mutableSpan
    var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    guard Base64URL.decode(part, into: &bytes) else { throw .notBase64(name) }
    return decoded
  }

  private static func readHeader(_ text: [UInt8]) throws(TokenFault) -> (algorithm: String, keyID: String?) {
    let header: JSONObject
    // Bytes have no padding: all are initialized.
    do { header = try JSONObject.read(unsafe text.span.bytes) } catch {
      throw .malformed("its header \(error.reason)")
    }
    for name in refusedParameters where header.value(name) != nil {
      throw .malformed("its header has '\(name)', which is not accepted here")
    }
    guard let algorithm = header.string(of: "alg", in: header.root) else {
      throw .malformed("its header does not say the algorithm")
    }
    if let type = header.value("typ") {
      guard let type = header.string(type), isTokenType(type) else {
        throw .malformed("it is of another type than JWT")
      }
    }
    guard let keyID = header.value("kid") else { return (algorithm, nil) }
    guard let keyID = header.string(keyID) else { throw .malformed("its key's name is not a text") }
    return (algorithm, keyID)
  }

  /// True for `JWT` (RFC 7519 section 5.1) and `at+jwt` (RFC 9068 section 2.1). Media types ignore case, and one
  /// without a slash means `application/` (RFC 7515 section 4.1.9).
  private static func isTokenType(_ type: String) -> Bool {
    let letters = type.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    return ["jwt", "at+jwt", "application/jwt", "application/at+jwt"].contains { $0.utf8.elementsEqual(letters) }
  }
}
