internal import VaultBytes

/// The one-time secrets of Bitwarden: an `otpauth:` URI, base32 alone, or `steam://` and base32
/// (https://bitwarden.com/help/authenticator-keys).
enum BitwardenOneTime {
  /// The most characters of a label; a longer one is cut.
  private static let mostOfLabel = 256

  /// The secret as an `otpauth:` URI; nil for a text that is no such secret. A URI stays as it is.
  ///
  /// - Parameter label: The label of base32 alone, such as the title of the entry.
  static func uri(_ text: String, label: String) -> String? {
    let text = Array(text.utf8)
    let lower = text.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    if lower.starts(with: "otpauth://".utf8) {
      let parts = lower.split { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "&") }
      return parts.dropFirst().contains { $0.starts(with: "secret=".utf8) }
        ? String(decoding: text, as: UTF8.self) : nil
    }
    let isSteam = lower.starts(with: "steam://".utf8)
    guard let secret = base32(isSteam ? Array(text.dropFirst("steam://".utf8.count)) : text) else { return nil }
    // The part of a label before a colon is the issuer, and that of Steam makes codes of another form.
    let scalars = label.unicodeScalars.prefix(mostOfLabel).filter { $0 != ":" }
    let escaped = PercentEscape.escaped(String(String.UnicodeScalarView(scalars))) { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (0x30...0x39).contains(byte)
        || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~")].contains(byte)
    }
    return isSteam
      ? "otpauth://totp/Steam:\(escaped)?secret=\(secret)&issuer=Steam" : "otpauth://totp/\(escaped)?secret=\(secret)"
  }

  /// Base32 in its standard form; nil for another text.
  ///
  /// Bitwarden ignores a last symbol that adds no whole byte, and so it is left out here; the codes stay the same.
  private static func base32(_ text: [UInt8]) -> String? {
    if let whole = standard(text) { return whole }
    guard let last = text.last, standard([last, last]) != nil else { return nil }
    return standard(text.dropLast())
  }

  private static func standard(_ text: [UInt8]) -> String? {
    text.withSpan { text in
      guard Base32.count(text, 0..<text.byteCount) != nil else { return nil }
      var symbols: [UInt8] = []
      Base32.write(text, 0..<text.byteCount) { symbols.append($0) }
      return String(decoding: symbols, as: UTF8.self)
    }
  }
}
