internal import VaultBytes

/// The secrets of one-time codes, which KeePass, KeePassXC and plugins keep in fields of several forms. Each becomes
/// one `otpauth:` URI.
struct KDBXOneTime {
  /// The texts by their keys.
  private let texts: [String: String]
  /// The name of the account in the URIs.
  private let label: String
  /// The URIs by the name of the field that contains the secret.
  private(set) var found: [String: String] = [:]
  /// The other fields that became part of a URI.
  private(set) var joined: Set<String> = []

  /// Looks at the fields of an entry.
  init(_ texts: [KDBXText], label: String) {
    var values: [String: String] = [:]
    for text in texts where !text.value.isEmpty && text.value.count <= 4096 {
      values[text.key] = values[text.key] ?? String(decoding: text.value, as: UTF8.self)
    }
    (self.texts, self.label) = (values, label)
    // A URI that vault would refuse is a secret all the same.
    for (key, text) in values where Self.isURI(text) { found[key] = OneTimeText.uri(text, account: label) ?? text }
    readKeeOTP()
    readTray()
    readBuiltIn(.time)
    readBuiltIn(.counter)
  }

  private static func isURI(_ text: String) -> Bool { text.lowercased().hasPrefix("otpauth://") }

  /// The field of KeeOtp, such as `key=JBSWY3DPEHPK3PXP&step=30&size=6`, or a secret alone.
  private mutating func readKeeOTP() {
    guard let text = texts["otp"], found["otp"] == nil else { return }
    guard text.contains("=") && text.lowercased().contains("key=") else {
      found["otp"] = OneTimeText.uri(text, account: label)
      return
    }
    var values: [String: String] = [:]
    for part in text.split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1)
      guard let name = pair.first?.lowercased(), pair.count == 2, values[name] == nil else { return }
      values[name] = Array(pair[1].utf8).withSpan { PercentEscape.text($0, 0..<$0.byteCount) }
    }
    var parameters = OneTimeParameters()
    guard let secret = values["key"].flatMap(Self.base32), values["encoding"]?.lowercased() ?? "base32" == "base32",
      parameters.set(period: values["step"]), parameters.set(digits: values["size"]),
      parameters.set(algorithm: values["otphashmode"])
    else { return }
    switch values["type"]?.lowercased() ?? "totp" {
    case "totp": break
    case "hotp": guard parameters.set(counter: values["counter"] ?? "0") else { return }
    case "steam": parameters.isSteam = true
    default: return
    }
    found["otp"] = parameters.uri(secret, account: label)
  }

  /// The two fields of KeeTrayTOTP, which older versions of KeePassXC wrote too: the secret, and settings such as
  /// `30;6`, or `30;S` for Steam. A third setting names a server for the time.
  private mutating func readTray() {
    let (key, settings) = ("TOTP Seed", "TOTP Settings")
    guard let secret = texts[key].flatMap(Self.base32) else { return }
    var parameters = OneTimeParameters()
    if let text = texts[settings] {
      let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
      guard (2...3).contains(parts.count), parameters.set(period: parts[0]) else { return }
      parameters.isSteam = parts[1].uppercased() == "S"
      guard parameters.isSteam || parameters.set(digits: parts[1]) else { return }
      if parts.count == 2 { joined.insert(settings) }
    }
    found[key] = parameters.uri(secret, account: label)
  }

  private enum BuiltIn: String {
    case time = "TimeOtp"
    case counter = "HmacOtp"
  }

  /// The fields of KeePass itself (https://keepass.info/help/base/placeholders.html#otp), whose names begin with
  /// `TimeOtp-` or `HmacOtp-`.
  private mutating func readBuiltIn(_ kind: BuiltIn) {
    func name(_ end: String) -> String { "\(kind.rawValue)-\(end)" }
    let ends = ["Secret", "Secret-Base32", "Secret-Hex", "Secret-Base64"].filter { texts[name($0)] != nil }
    // KeePass does not say which one of two counts.
    guard let end = ends.first, ends.count == 1, let secret = Self.secret(texts[name(end)] ?? "", end) else { return }
    var parameters = OneTimeParameters()
    let (length, algorithm) = (texts[name("Length")], texts[name("Algorithm")])
    guard parameters.set(digits: length), parameters.set(algorithm: algorithm) else { return }
    switch kind {
    case .time: guard parameters.set(period: texts[name("Period")]) else { return }
    case .counter: guard parameters.set(counter: texts[name("Counter")] ?? "0") else { return }
    }
    found[name(end)] = parameters.uri(secret, account: label)
    for other in ["Length", "Algorithm", kind == .time ? "Period" : "Counter"] where texts[name(other)] != nil {
      joined.insert(name(other))
    }
  }

  /// The secret in a field of KeePass, in the standard form of base32.
  private static func secret(_ text: String, _ end: String) -> String? {
    let digits = text.filter { !$0.isWhitespace }
    let bytes: [UInt8]?
    switch end {
    case "Secret": bytes = Array(text.utf8)
    case "Secret-Hex": bytes = [UInt8](hex: digits)
    case "Secret-Base64": bytes = [UInt8](base64: digits)
    default: return base32(text)
    }
    return bytes.map(OneTimeText.base32)
  }

  private static func base32(_ text: String) -> String? { OneTimeText.secret(text.utf8) }
}
