internal import VaultBytes
internal import VaultModel

/// An `otpauth://` URI with the names in it.
///
/// The form is Google Authenticator's "Key URI Format"
/// (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
struct AuthURI {
  /// The issuer and the account that the label and the parameters name; empty if there is none.
  private(set) var issuer = ""
  private(set) var account = ""
  /// True if vault accepts the URI as the secret of one-time codes.
  let isAccepted: Bool

  /// The longest URI in bytes.
  static let longest = 4 << 10
  private static let mostParameters = 32

  /// Reads a URI; nil for any other text.
  init?(_ uri: String) {
    let bytes = Array(uri.utf8)
    guard bytes.count <= Self.longest, Self.hasPrefix(bytes, "otpauth://") else { return nil }
    isAccepted = bytes.withSpan { (try? OneTimeSecret($0)) != nil }
    let path = bytes.prefix { $0 != UInt8(ascii: "?") }
    let label = path.dropFirst("otpauth://".utf8.count).drop { $0 != UInt8(ascii: "/") }.dropFirst()
    readIssuer(bytes.dropFirst(path.count + 1))
    readNames(Self.text(label))
  }

  /// The title of an entry with the URI: the issuer with the account in parentheses, or the one that there is.
  var title: String {
    if issuer.isEmpty || account.isEmpty || issuer == account { return issuer.isEmpty ? account : issuer }
    return "\(issuer) (\(account))"
  }

  /// True if the bytes begin with `word`, which is in lower case, in any letter case.
  static func hasPrefix(_ bytes: some Collection<UInt8>, _ word: String) -> Bool {
    bytes.count >= word.utf8.count
      && zip(bytes, word.utf8).allSatisfy { byte, expected in
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(expected)
        return byte == expected || (isLetter && byte | 0x20 == expected)
      }
  }

  private mutating func readIssuer(_ query: ArraySlice<UInt8>) {
    for parameter in query.split(separator: UInt8(ascii: "&"), maxSplits: Self.mostParameters) {
      guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else { continue }
      if Self.text(parameter[..<equals]).lowercased() == "issuer" {
        issuer = Self.trimmed(Self.text(parameter[(equals + 1)...]))
      }
    }
  }

  private mutating func readNames(_ label: String) {
    let scalars = label.unicodeScalars
    let colon = scalars.firstIndex(of: ":")
    let prefix = colon.map { Self.trimmed(String(scalars[..<$0])) } ?? ""
    account = Self.trimmed(colon.map { String(scalars[scalars.index(after: $0)...]) } ?? label)
    if issuer.isEmpty { issuer = prefix }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    Array(bytes).withSpan { PercentEscape.text($0, 0..<$0.byteCount) }
  }

  private static func trimmed(_ text: String) -> String {
    let text = text.drop { $0 == " " }
    return text.lastIndex { $0 != " " }.map { String(text[...$0]) } ?? ""
  }
}
