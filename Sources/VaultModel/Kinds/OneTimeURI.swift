internal import VaultBytes

/// The text with which a phone's authenticator sets up an item's one-time codes: an `otpauth://` URI.
public enum OneTimeURI {
  /// Writes the URI to `sink` byte by byte, so that the secret is never copied into a string.
  ///
  /// A value that is a URI already is written unchanged, except for additions from pasting that no URI has: a byte
  /// order mark, blanks and other characters that must be escaped, groups in the secret. A value that is base32 alone
  /// is labeled with the attributes `issuer` and `account` or, without these, with the item's name.
  /// - Parameters:
  ///   - name: The name of an item of kind `totp`.
  ///   - value: The value of the item.
  ///   - sink: Takes each byte, in order.
  /// - Throws: ``ValueError`` if the value is not a secret of one-time codes; nothing is written then.
  public static func write(
    name: String, attributes: [String: String], value: RawSpan, to sink: (UInt8) -> Void
  ) throws(ValueError) {
    let secret = try OneTimeSecret(value)
    if secret.isURI { return write(secret, value, sink) }
    let account = attributes["account"] ?? (attributes["issuer"] == nil ? name : "")
    put("otpauth://totp/", sink)
    if let issuer = attributes["issuer"] {
      escape(issuer, sink)
      if !account.isEmpty { put(":", sink) }
    }
    escape(account, sink)
    put("?secret=", sink)
    Base32.write(value, secret.symbols, to: sink)
    if let issuer = attributes["issuer"] {
      put("&issuer=", sink)
      escape(issuer, sink)
    }
  }

  private static func write(_ secret: OneTimeSecret, _ value: RawSpan, _ sink: (UInt8) -> Void) {
    // Scheme and type are written in lower case, because some readers recognize only that.
    let start = secret.label.lowerBound
    for offset in secret.body.lowerBound..<start {
      let byte = value.byte(offset)
      sink((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
    }
    for offset in start..<secret.symbols.lowerBound { escape(value.byte(offset), in: 0x21...0x7E, sink) }
    if hasGaps(value, secret.symbols) {
      Base32.write(value, secret.symbols, to: sink)
    } else {
      for offset in secret.symbols { sink(value.byte(offset)) }
    }
    for offset in secret.symbols.upperBound..<secret.body.upperBound {
      escape(value.byte(offset), in: 0x21...0x7E, sink)
    }
  }

  /// True if the range contains anything but base32 symbols and padding.
  private static func hasGaps(_ value: RawSpan, _ range: Range<Int>) -> Bool {
    range.contains { offset in
      let byte = value.byte(offset)
      let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      return !(isLetter || isDigit(byte) || byte == UInt8(ascii: "=") || byte == UInt8(ascii: "%"))
        || value.hasBytes("%2", at: offset) || value.hasBytes("%C2", at: offset)
        || value.hasBytes("%E2", at: offset)
    }
  }

  private static func put(_ text: String, _ sink: (UInt8) -> Void) {
    for byte in text.utf8 { sink(byte) }
  }

  /// Writes text, and escapes every character that is not unreserved in a URI (RFC 3986 section 2.3).
  private static func escape(_ text: String, _ sink: (UInt8) -> Void) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        sink(byte)
      default: escape(byte, sink)
      }
    }
  }

  private static func escape(_ byte: UInt8, in plain: ClosedRange<UInt8>, _ sink: (UInt8) -> Void) {
    if plain.contains(byte) { sink(byte) } else { escape(byte, sink) }
  }

  private static func escape(_ byte: UInt8, _ sink: (UInt8) -> Void) {
    put("%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true), sink)
  }
}
