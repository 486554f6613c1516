internal import VaultBytes

/// The parameters of one-time codes, and the `otpauth:` URI of a secret with them.
///
/// Each method `set` takes the text of a parameter, keeps the default for a missing or empty text, and returns false
/// for one that `otpauth:` URIs cannot have.
struct OneTimeParameters {
  /// The most characters of a name in a URI; a longer one is cut.
  private static let mostOfName = 128
  /// The issuer whose codes are not made of digits.
  private static let steam = "steam"

  var issuer = ""
  var period = 30
  var digits = 6
  var algorithm = "SHA1"
  /// The counter of codes that are not based on time.
  var counter: UInt64?
  /// True if the source itself says that the codes are Steam's; the name of an entry or an issuer does not say it.
  var isSteam = false

  mutating func set(period text: String?) -> Bool {
    guard let text, !text.isEmpty else { return true }
    guard let number = Int(text), (1...9999).contains(number) else { return false }
    period = number
    return true
  }

  mutating func set(digits text: String?) -> Bool {
    guard let text, !text.isEmpty else { return true }
    guard let number = Int(text), (6...8).contains(number) else { return false }
    digits = number
    return true
  }

  mutating func set(algorithm text: String?) -> Bool {
    guard let text, !text.isEmpty else { return true }
    let name = text.uppercased().filter { $0 != "-" }
    let known = ["SHA1", "SHA256", "SHA512"].first { $0 == name || "HMAC" + $0 == name }
    guard let known else { return false }
    algorithm = known
    return true
  }

  mutating func set(counter text: String) -> Bool {
    guard let number = Int64(text), number >= 0 else { return false }
    counter = UInt64(number)
    return true
  }

  /// The URI (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
  ///
  /// - Parameters:
  ///   - secret: The secret in base32.
  ///   - account: The name of the account, such as the title of the entry.
  func uri(_ secret: String, account: String) -> String {
    let path = "\(counter == nil ? "totp" : "hotp")/\(label(account))"
    var uri = "otpauth://\(path)?secret=\(secret)"
    if hasIssuer { uri += "&issuer=\(OneTimeText.escaped(issuer.cut(Self.mostOfName)))" }
    if isSteam { return uri + "&digits=5&encoder=steam" }
    if algorithm != "SHA1" { uri += "&algorithm=\(algorithm)" }
    if digits != 6 { uri += "&digits=\(digits)" }
    if let counter { return uri + "&counter=\(counter)" }
    return period == 30 ? uri : uri + "&period=\(period)"
  }

  /// True if the URI names the issuer. Steam as the issuer makes its codes, so only a source of them may name it.
  private var hasIssuer: Bool { !issuer.isEmpty && (isSteam || issuer.lowercased() != Self.steam) }

  private func label(_ account: String) -> String {
    var names = [issuer, account].filter { !$0.isEmpty }
    if !hasIssuer { names = [names.joined(separator: " ")] }
    // A colon separates the two, so only the parameter can tell an issuer that contains one.
    if issuer.contains(":") { names.removeFirst() }
    return names.map { name in
      let name = String(String.UnicodeScalarView(name.unicodeScalars.map { $0 == ":" ? " " : $0 }))
      return OneTimeText.escaped(name.cut(Self.mostOfName))
    }.joined(separator: ":")
  }
}
