internal import VaultBytes

/// An `otpauth://` URI with the names in it.
///
/// The form is Google Authenticator's "Key URI Format"
/// (https://github.com/google/google-authenticator/wiki/Key-Uri-Format). The limits are those of vault's
/// `OneTimeSecret`.
struct AuthURI {
  /// The issuer and the account that the label and the parameters name; empty if there is none.
  private(set) var issuer = ""
  private(set) var account = ""
  /// True if vault accepts the URI as the secret of one-time codes.
  private(set) var isAccepted = false

  private enum Parameter: String, CaseIterable { case secret, algorithm, digits, period, counter, encoder }

  /// The longest URI in bytes.
  static let longest = 4 << 10
  private static let mostParameters = 32

  /// Reads a URI; nil for any other text.
  init?(_ uri: String) {
    let bytes = Array(uri.utf8)
    guard bytes.count <= Self.longest, Self.hasPrefix(bytes, "otpauth://") else { return nil }
    let path = bytes.prefix { $0 != UInt8(ascii: "?") }
    let label = path.dropFirst("otpauth://".utf8.count).drop { $0 != UInt8(ascii: "/") }.dropFirst()
    let parameters = readParameters(bytes.dropFirst(path.count + 1))
    readNames(Self.text(label))
    let isCounted = Self.hasPrefix(bytes, "otpauth://hotp/")
    guard isCounted || Self.hasPrefix(bytes, "otpauth://totp/"), let parameters, bytes.withSpan({ $0.isText }),
      !bytes.contains(where: { $0 < 0x20 })
    else { return }
    isAccepted = isValid(parameters, isCounted: isCounted)
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

  /// Reads the parameters that concern the codes, and the issuer; nil if vault would refuse one of them.
  private mutating func readParameters(_ query: ArraySlice<UInt8>) -> [Parameter: ArraySlice<UInt8>]? {
    var found: [Parameter: ArraySlice<UInt8>] = [:]
    let all = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    guard all.count <= Self.mostParameters else { return nil }
    for parameter in all {
      guard !["amp;", "#38;", "#x26;"].contains(where: { Self.hasPrefix(parameter, $0) }) else { return nil }
      let equals = parameter.firstIndex(of: UInt8(ascii: "=")) ?? parameter.endIndex
      let name = Self.text(parameter[..<equals])
      if let known = Parameter(rawValue: name.lowercased()) {
        guard known.rawValue == name, equals < parameter.endIndex, found[known] == nil else { return nil }
        found[known] = parameter[(equals + 1)...]
      } else if name.lowercased() == "issuer", equals < parameter.endIndex {
        issuer = Self.trimmed(Self.text(parameter[(equals + 1)...]))
      }
    }
    return found
  }

  private mutating func readNames(_ label: String) {
    let scalars = label.unicodeScalars
    let colon = scalars.firstIndex(of: ":")
    let prefix = colon.map { Self.trimmed(String(scalars[..<$0])) } ?? ""
    account = Self.trimmed(colon.map { String(scalars[scalars.index(after: $0)...]) } ?? label)
    if issuer.isEmpty { issuer = prefix }
  }

  private func isValid(_ parameters: [Parameter: ArraySlice<UInt8>], isCounted: Bool) -> Bool {
    func value(_ parameter: Parameter) -> String? {
      parameters[parameter].map { String(decoding: $0, as: UTF8.self).lowercased() }
    }
    guard let secret = parameters[.secret], Self.isBase32(Array(secret)) else { return false }
    let algorithm = value(.algorithm) ?? "sha1"
    guard ["sha1", "sha256", "sha512"].contains(algorithm) else { return false }
    let encoder = value(.encoder)
    guard encoder == nil || (encoder == "steam" && !isCounted) else { return false }
    let isSteam = !isCounted && (encoder != nil || issuer.lowercased() == "steam")
    let period = value(.period).map { Self.number($0, 1...9999) } ?? 30
    guard let period, !isSteam || (algorithm == "sha1" && period == 30) else { return false }
    let digits = value(.digits).map { Self.number($0, isSteam ? 5...8 : 6...8) } ?? 6
    let counter = value(.counter).map { Self.number($0, 0...Int64.max) } ?? (isCounted ? nil : 0)
    return digits != nil && counter != nil
  }

  private static func number(_ text: String, _ range: ClosedRange<Int64>) -> Int64? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text.utf8.count == 1 || !text.hasPrefix("0"),
      let number = Int64(text), range.contains(number)
    else { return nil }
    return number
  }

  static func isBase32(_ bytes: [UInt8]) -> Bool { bytes.withSpan { Base32.count($0, 0..<$0.byteCount) } != nil }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    Array(bytes).withSpan { PercentEscape.text($0, 0..<$0.byteCount) }
  }

  private static func trimmed(_ text: String) -> String {
    let text = text.drop { $0 == " " }
    return text.lastIndex { $0 != " " }.map { String(text[...$0]) } ?? ""
  }
}
