internal import VaultBytes
internal import VaultWire

/// Secrets of one-time codes in the forms in which programs keep them.
enum OneTimeText {
  /// The `otpauth://` URI of a text that is such a URI, Steam's form of it, `steam://` with base32, or base32 alone.
  /// Nil for any other text and for a URI that vault would refuse.
  ///
  /// - Parameter label: The label of a URI that is made from base32.
  static func uri(_ text: String, label: String) -> String? {
    let bytes = trimmed(text)
    guard bytes.count <= AuthURI.longest else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    if let uri = steamURI(bytes) ?? (AuthURI.hasPrefix(bytes, "otpauth://") ? text : nil) {
      return AuthURI(uri)?.isAccepted == true ? uri : nil
    }
    let isSteam = AuthURI.hasPrefix(bytes, "steam://")
    let symbols = isSteam ? Array(bytes.dropFirst("steam://".utf8.count)) : bytes
    guard AuthURI.isBase32(symbols) else { return nil }
    return uri(symbols, label: label, isSteam: isSteam)
  }

  /// The URI of a secret in base32, which may be written in groups.
  private static func uri(_ symbols: [UInt8], label: String, isSteam: Bool) -> String {
    var secret: [UInt8] = []
    symbols.withSpan { span in Base32.write(span, 0..<span.byteCount) { secret.append($0) } }
    let label = label.utf8.count <= 512 ? escaped(label) : ""
    let issuer = !isSteam ? "" : label.isEmpty ? "Steam" : "Steam:"
    return "otpauth://totp/\(issuer)\(label)?secret=\(String(decoding: secret, as: UTF8.self))"
      + (isSteam ? "&issuer=Steam" : "")
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
  /// Adds the secret of one-time codes; as a secret text if vault has no codes for it.
  mutating func putOneTime(_ name: String, _ text: String) {
    if let uri = OneTimeText.uri(text, label: title) { put(name, .oneTime, uri) } else { put(name, .secret, text) }
  }
}
