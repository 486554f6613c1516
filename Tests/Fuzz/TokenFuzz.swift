import VaultBytes
import VaultCore
import VaultModel

@testable import VaultSigning

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzToken(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = exerciseToken(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes as a token, as claims, and as a list of revoked tokens. Each must be refused with a printable
/// reason, or have one spelling that reads the same again. Returns the most specific thing that was read.
func exerciseToken(_ bytes: RawSpan) -> String? {
  var read: String?
  if checkObject(bytes) { read = "object" }
  if checkList(bytes) { read = "list" }
  if checkToken(bytes) { read = "token" }
  // The bytes are also tried as a correctly signed payload.
  let copy = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
  if copy.count < 8000,
    let token = try? JSONWebToken.make(
      algorithm: .hs256, keyID: "k", payload: copy, sign: { _ in [UInt8](repeating: 7, count: 32) })
  {
    let isToken = token.withBytes { checkToken($0) }
    precondition(isToken || copy.isEmpty)
  }
  return read
}

private func checkObject(_ bytes: RawSpan) -> Bool {
  guard let object = try? JSONObject.read(bytes) else { return false }
  let text = object.spelled
  guard let again = try? JSONObject.read(unsafe text.span.bytes), again.spelled == text else {
    fatalError("an object has two spellings")
  }
  for (one, other) in zip(object.members(of: object.root), again.members(of: again.root)) {
    precondition(one.key.utf8.elementsEqual(other.key.utf8))
    precondition(object.string(one.value)?.utf8.elementsEqual(again.string(other.value)!.utf8) != false)
    precondition(object.elements(of: one.value).count == again.elements(of: other.value).count)
    precondition(object.number(one.value) == again.number(other.value))
    if let number = object.number(one.value) { _ = NumericDate.read(number) }
  }
  checkClaims(object)
  return true
}

/// Checks that allowed claims are signed unchanged.
private func checkClaims(_ object: borrowing JSONObject) {
  guard let terms = try? TokenTerms(attributes: ["claims": "a b c", "sub": "**", "iss": "v"]) else {
    fatalError("good terms")
  }
  let request = TokenRequest(subject: "s", claims: object.spelled)
  do throws(TokenProblem) {
    let claims = try TokenClaims(terms, request, now: 1_800_000_000, identifier: "j")
    guard let payload = try? JSONObject.read(unsafe claims.payload.span.bytes) else {
      fatalError("claims that are no JSON")
    }
    precondition(payload.spelled == claims.payload)
    precondition(payload.memberCount(of: payload.root) == object.memberCount(of: object.root) + 6)
  } catch { precondition(error.part == .claims && Printable.isPlain(error.reason)) }
}

private func checkList(_ bytes: RawSpan) -> Bool {
  do throws(RevocationProblem) {
    let list = try RevocationList(parsing: bytes)
    let text = try list.encoded()
    let again = try RevocationList(parsing: unsafe text.span.bytes)
    precondition(again.tokens == list.tokens && again.subjects == list.subjects)
    for token in list.tokens { precondition(list.isRevoked(identifier: token.identifier, subject: nil, issuedAt: 0)) }
    for subject in list.subjects {
      precondition(list.isRevoked(identifier: "", subject: subject.name, issuedAt: subject.issuedUpTo))
      precondition(!list.isRevoked(identifier: "", subject: subject.name, issuedAt: subject.issuedUpTo + 1))
    }
    return true
  } catch {
    precondition(Printable.isPlain(error.reason))
    return false
  }
}

private func checkToken(_ bytes: RawSpan) -> Bool {
  do throws(TokenFault) {
    let token = try JSONWebToken(parsing: bytes)
    let schemes = KeyType.allCases.compactMap(\.facts.tokenScheme)
    for algorithm in schemes.map(JSONWebToken.Algorithm.scheme) + [.hs256] { check(token, algorithm) }
    return true
  } catch {
    precondition(error.code == .malformed && Printable.isPlain(error.reason))
    return false
  }
}

private func check(_ token: borrowing JSONWebToken, _ algorithm: JSONWebToken.Algorithm) {
  for attributes in [[:], ["iss": "v", "aud": "a", "sub": "s*", "max-ttl": "1y"]] as [[String: String]] {
    guard let terms = try? TokenTerms(attributes: attributes) else { fatalError("good terms") }
    do throws(TokenFault) {
      let verified = try token.verify(
        algorithm: algorithm, terms: terms, now: 1_800_000_000, leeway: 60, isRevoked: { _, _, _ in false },
        verifies: { _, _ in true })
      precondition(verified.expiresAt > 1_799_999_940 && verified.issuedAt <= 1_800_000_060)
      precondition(verified.expiresAt - verified.issuedAt <= terms.longestLife && !verified.identifier.isEmpty)
      let claims = Array(verified.claims.utf8)
      guard let object = try? JSONObject.read(unsafe claims.span.bytes) else {
        fatalError("claims that are no JSON")
      }
      precondition(object.spelled == claims)
    } catch { precondition(error.code != .revoked && Printable.isPlain(error.reason)) }
    // A token that the key does not confirm must never be accepted.
    let forged = try? token.verify(
      algorithm: algorithm, terms: terms, now: 1_800_000_000, isRevoked: { _, _, _ in false },
      verifies: { _, _ in false })
    precondition(forged == nil)
  }
}
