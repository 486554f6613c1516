internal import VaultBytes
internal import VaultModel

/// A form in which programs pass on keys. A value in such a form is not a key of plain bytes: most of its bytes are the
/// same in each key of its type, and others are public.
enum KeyForm: String {
  case pem = "PEM"
  case wideText = "PEM in UTF-16"
  case der = "DER"
  case openSSH = "an OpenSSH public key"
  case jwk = "a JSON Web Key"

  /// Determines the form of a value; nil for plain bytes.
  init?(of value: RawSpan) {
    let bytes = Span<UInt8>(_bytes: value)
    if Self.firstRange(of: Self.begin, in: bytes) != nil {
      self = .pem
    } else if Self.firstRange(of: Self.begin, in: bytes, step: 2) != nil {
      self = .wideText
    } else if Self.isDER(value) {
      self = .der
    } else if Self.isOpenSSH(bytes) {
      self = .openSSH
    } else if Self.isJWK(bytes) {
      self = .jwk
    } else {
      return nil
    }
  }

  private static let begin = Array("-----BEGIN".utf8)

  /// True for a SEQUENCE (ITU-T X.690) that is the whole value and has two or more elements, of which the first is a
  /// SEQUENCE or an INTEGER. All private and public keys and certificates are of this form. Of random values of 32 or
  /// 64 bytes, one in 2^38 is.
  private static func isDER(_ value: RawSpan) -> Bool {
    var outer = DERCursor(value.byteOffsets)
    guard let whole = outer.take(DERTag.sequence, in: value), outer.isAtEnd else { return false }
    var inner = DERCursor(whole.content)
    var count = 0
    while !inner.isAtEnd {
      guard let element = inner.next(in: value) else { return false }
      guard (count == 0 ? firstTags : tags).contains(element.tag) else { return false }
      count += 1
    }
    return count > 1
  }

  private static let firstTags = [DERTag.integer, DERTag.sequence]
  private static let tags = [
    DERTag.integer, DERTag.bitString, DERTag.octetString, DERTag.null, DERTag.objectIdentifier, DERTag.sequence,
    DERTag.context0, DERTag.context1, DERTag.implicit1,
  ]

  /// True for a line such as `ssh-ed25519 AAAA…`: the type of a key, and base64 that begins with the length of the
  /// type's name (RFC 4253 section 6.6).
  private static func isOpenSSH(_ bytes: Span<UInt8>) -> Bool {
    let start = firstOfText(bytes)
    guard ["ssh-", "ecdsa-sha2-", "sk-"].contains(where: { has(Array($0.utf8), in: bytes, at: start) }) else {
      return false
    }
    var end = start
    while end < bytes.count, !isSpace(bytes[end]) { end += 1 }
    return has(Array(" AAAA".utf8), in: bytes, at: end)
  }

  /// True for an object with a member `kty` (RFC 7517 section 4.1), or a set of such objects.
  private static func isJWK(_ bytes: Span<UInt8>) -> Bool {
    let start = firstOfText(bytes)
    guard start < bytes.count, bytes[start] == UInt8(ascii: "{") else { return false }
    var at = start
    while let name = firstRange(of: Array(#""kty""#.utf8), in: bytes, from: at) {
      at = name.upperBound
      while at < bytes.count, isSpace(bytes[at]) { at += 1 }
      if at < bytes.count, bytes[at] == UInt8(ascii: ":") { return true }
    }
    return false
  }

  /// The offset of the first byte that is not white space.
  private static func firstOfText(_ bytes: Span<UInt8>) -> Int {
    var at = 0
    while at < bytes.count, isSpace(bytes[at]) { at += 1 }
    return at
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  /// The range at which a text occurs first. The text must not be empty.
  ///
  /// - Parameter step: 2 for a text with a zero byte between each two bytes, as ASCII has in UTF-16 of either byte
  ///   order.
  private static func firstRange(
    of text: [UInt8], in bytes: Span<UInt8>, from start: Int = 0, step: Int = 1
  ) -> Range<Int>? {
    let count = (text.count - 1) * step + 1
    var at = start
    while at <= bytes.count - count {
      if has(text, in: bytes, at: at, step: step) { return at..<at + count }
      at += 1
    }
    return nil
  }

  /// True if a text is at that offset.
  private static func has(_ text: [UInt8], in bytes: Span<UInt8>, at start: Int, step: Int = 1) -> Bool {
    guard start + (text.count - 1) * step < bytes.count else { return false }
    for (index, byte) in text.enumerated() {
      let place = start + index * step
      guard bytes[place] == byte else { return false }
      if step == 2, index > 0, bytes[place - 1] != 0 { return false }
    }
    return true
  }
}
