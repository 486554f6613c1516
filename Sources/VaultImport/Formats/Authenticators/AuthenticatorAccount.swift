internal import VaultBytes
internal import VaultWire

/// An account of an authenticator.
///
/// An account whose codes vault makes becomes an `otpauth://` URI. Any other one, such as one of mOTP or of Yandex, is
/// kept whole as JSON, so that its secret is not lost, and the account of the import says why.
struct AuthenticatorAccount {
  var issuer = ""
  var name = ""
  /// The way in which the codes are made, in lower case: `totp`, `hotp` or `steam`; vault knows no other.
  var type = "totp"
  /// The parameters; nil for one that the source does not have.
  var secret: JSONValue?
  var algorithm: JSONValue?
  var digits: JSONValue?
  var period: JSONValue?
  var counter: JSONValue?

  /// The reason why vault has no codes for an account.
  private struct Reason: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  /// The title of an entry: the issuer with the name of the account in parentheses, or the one that there is.
  var title: String {
    if issuer.isEmpty || name.isEmpty || issuer == name { return issuer.isEmpty ? name : issuer }
    return "\(issuer) (\(name))"
  }

  /// Makes the entry of the account.
  ///
  /// - Parameter members: The members of the source that say how the codes are made.
  func entry(id: String = "", folder: [String] = [], title: String? = nil, members: [JSONValue.Member]) -> Entry {
    var entry = Entry(.oneTime, id: id, folder: folder, title: title ?? self.title)
    do throws(Reason) {
      entry.add("otpauth", .oneTime, try uri())
    } catch {
      entry.kind = .document
      entry.addUnlessEmpty("issuer", .text, issuer)
      entry.addUnlessEmpty("account", .text, name)
      let whole = JSONValue.object(members)
      if whole.json.count <= ImportedField.longestValue {
        entry.addDocument(type.isEmpty ? "codes" : type, whole)
        entry.refuse("type", .setting, size: type.utf8.count, "\(error.text), so the secret is kept as it is, as JSON")
      } else {
        entry.refuseTooLarge("secret", .oneTime, size: whole.json.count)
      }
    }
    return entry
  }

  /// The URI, as vault accepts it.
  private func uri() throws(Reason) -> String {
    guard let text = secret?.string, !text.isEmpty else { throw Reason("it has no secret") }
    guard let secret = OneTimeText.secret(text.utf8) else { throw Reason("the secret is not base32") }
    let uri = try parameters().uri(secret, account: name.isEmpty && issuer.isEmpty ? "account" : name)
    guard AuthURI(uri)?.isAccepted == true else { throw Reason("vault makes no codes of such a secret") }
    return uri
  }

  private func parameters() throws(Reason) -> OneTimeParameters {
    guard ["totp", "hotp", "steam"].contains(type) else {
      throw Reason("vault makes no codes of the type \(Self.shown(type))")
    }
    var parameters = OneTimeParameters()
    parameters.issuer = issuer
    guard parameters.set(algorithm: Self.text(algorithm)) else {
      throw Reason("vault makes no codes by the algorithm of the account")
    }
    guard parameters.set(period: Self.text(period)) else { throw Reason("a period has 1 to 9999 seconds") }
    if type == "steam" {
      guard ["", "5"].contains(Self.text(digits) ?? ""), parameters.algorithm == "SHA1", parameters.period == 30 else {
        throw Reason("Steam's codes have 5 characters by SHA1, each for 30 seconds")
      }
      parameters.isSteam = true
      return parameters
    }
    if type == "hotp" {
      guard let text = Self.text(counter), parameters.set(counter: text) else {
        throw Reason("the counter is missing, or wrong")
      }
    }
    guard parameters.set(digits: Self.text(digits)) else { throw Reason("vault makes codes of 6 to 8 digits") }
    return parameters
  }

  /// A number or a string as text; nil if there is none.
  private static func text(_ value: JSONValue?) -> String? {
    switch value {
    case .number(let text), .string(let text): text
    case .object, .array, .bool: "?"
    case .null, nil: nil
    }
  }

  /// A short form of a text of the source for an explanation.
  private static func shown(_ text: String) -> String { text.isEmpty ? "that it has" : "'\(text.cut(64))'" }
}
