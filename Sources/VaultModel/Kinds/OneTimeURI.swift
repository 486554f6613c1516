/// The text from which a phone's authenticator learns to make an item's one-time codes: an `otpauth://` URI.
public enum OneTimeURI {
  /// Writes the URI byte by byte into `sink`, so that the secret is never copied into a string.
  ///
  /// A value that is one already is written as it is. One of base32 alone is named by the attributes `issuer` and `account`
  /// or, without these, by the item's name.
  /// - Parameters:
  ///   - name: of an item of kind `totp`.
  ///   - value: the item's.
  ///   - sink: takes each byte, in order.
  /// - Throws: ``ValueError`` when the value is no secret of one-time codes; nothing is written then.
  public static func write(
    name: String, attributes: [String: String], value: RawSpan, to sink: (UInt8) -> Void
  ) throws(ValueError) {
    let secret = try OneTimeSecret(value)
    if secret.isURI {
      for offset in value.byteOffsets { sink(value.byte(offset)) }
      return
    }
    let account = attributes["account"] ?? (attributes["issuer"] == nil ? name : "")
    put("otpauth://totp/", sink)
    if let issuer = attributes["issuer"] {
      escape(issuer, sink)
      if !account.isEmpty { put(":", sink) }
    }
    escape(account, sink)
    put("?secret=", sink)
    for offset in value.byteOffsets {
      let byte = value.byte(offset)
      if let symbol = Base32.symbol(byte) { sink(symbol) }
    }
    if let issuer = attributes["issuer"] {
      put("&issuer=", sink)
      escape(issuer, sink)
    }
  }

  private static func put(_ text: String, _ sink: (UInt8) -> Void) {
    for byte in text.utf8 { sink(byte) }
  }

  /// Writes text with everything escaped that is not unreserved in a URI (RFC 3986 section 2.3).
  private static func escape(_ text: String, _ sink: (UInt8) -> Void) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        sink(byte)
      default: put("%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true), sink)
      }
    }
  }
}
