internal import VaultBytes
internal import VaultWire

/// Secrets of one-time codes in the forms in which programs keep them.
enum OneTimeText {
  /// The `otpauth://` URI of a text that is such a URI, Steam's form of it, `steam://` with base32, or base32 alone.
  /// Nil for any other text and for a URI that vault would refuse.
  ///
  /// - Parameter account: The name of the account in a URI that is made from base32, such as the title of the entry.
  static func uri(_ text: String, account: String) -> String? {
    let bytes = trimmed(text)
    guard bytes.count <= AuthURI.longest else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    if let uri = steamURI(bytes) ?? (AuthURI.hasPrefix(bytes, "otpauth://") ? text : nil) {
      return AuthURI(uri)?.isAccepted == true ? uri : nil
    }
    var parameters = OneTimeParameters()
    parameters.isSteam = AuthURI.hasPrefix(bytes, "steam://")
    guard let secret = secret(bytes.dropFirst(parameters.isSteam ? "steam://".utf8.count : 0)) else { return nil }
    let uri = parameters.uri(secret, account: account.isEmpty && parameters.isSteam ? "Steam" : account)
    return AuthURI(uri)?.isAccepted == true ? uri : nil
  }

  /// A secret in base32, which may be written in groups, in the standard form; nil if the text is none.
  ///
  /// Bitwarden and others ignore a last symbol that adds no whole byte, so it is left out; the codes stay the same.
  static func secret(_ text: some Collection<UInt8>) -> String? {
    let text = Array(text)
    if let whole = standard(text) { return whole }
    guard let last = text.last, standard([last, last]) != nil else { return nil }
    return standard(text.dropLast())
  }

  private static func standard(_ text: [UInt8]) -> String? {
    var secret: [UInt8] = []
    text.withSpan { text in
      guard Base32.count(text, 0..<text.byteCount) ?? 0 > 0 else { return }
      Base32.write(text, 0..<text.byteCount) { secret.append($0) }
    }
    return secret.isEmpty ? nil : String(decoding: secret, as: UTF8.self)
  }

  /// Bytes as base32 without padding (RFC 4648 section 6); empty for no bytes.
  static func base32(_ bytes: [UInt8]) -> String {
    let symbols = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    var (text, held, bits): ([UInt8], UInt32, UInt32) = ([], 0, 0)
    for byte in bytes {
      held = (held << 8 | UInt32(byte)) & 0xFFFF
      bits += 8
      while bits >= 5 {
        bits -= 5
        text.append(symbols[Int(held >> bits & 31)])
      }
    }
    if bits > 0 { text.append(symbols[Int(held << (5 - bits) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// `otpauth://steam/`, which Aegis writes, as the URI that vault knows; nil for any other text.
  private static func steamURI(_ bytes: [UInt8]) -> String? {
    guard AuthURI.hasPrefix(bytes, "otpauth://steam/") else { return nil }
    let rest = String(decoding: bytes.dropFirst("otpauth://steam/".utf8.count), as: UTF8.self)
    return "otpauth://totp/\(rest)" + (rest.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + "encoder=steam"
  }

  /// The text with each character escaped that is not unreserved in a URI (RFC 3986 section 2.3).
  static func escaped(_ text: String) -> String {
    PercentEscape.escaped(text) { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        true
      default: false
      }
    }
  }

  /// The bytes of a text without blanks and line breaks around it.
  private static func trimmed(_ text: String) -> [UInt8] {
    func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
    let rest = Array(text.utf8).drop(while: isBlank)
    return rest.lastIndex { !isBlank($0) }.map { Array(rest[...$0]) } ?? []
  }
}

extension Entry {
  /// Adds the secret of one-time codes; as it is if vault has no codes for it.
  mutating func putOneTime(_ name: String, _ text: String) {
    put(name, .oneTime, OneTimeText.uri(text, account: title) ?? text)
  }
}
