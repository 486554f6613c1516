internal import VaultBytes

/// The reason that a value has no readable PEM block although it is a key or a certificate in another form. People copy
/// keys from editors, web pages and settings, and each of these leaves its own marks.
package enum PEMSlip: CaseIterable {
  case wideText, byteOrderMark, puttyKey, publicKey, escapedBreaks, quotes, lostBreaks, indentation, marks, prefix, der

  /// Finds the reason; nil if the value shows none of these forms.
  package init?(of value: RawSpan) {
    guard let found = Self.allCases.first(where: { $0.isIn(value) }) else { return nil }
    self = found
  }

  /// Runs `body`. If it throws and the value is in one of these forms, the error is replaced by one
  /// that explains the form.
  static func explaining<R>(_ value: RawSpan, _ body: () throws(ValueError) -> R) throws(ValueError) -> R {
    do { return try body() } catch { throw PEMSlip(of: value).map { ValueError(reason: $0.reason) } ?? error }
  }

  /// One sentence for a person: the form of the value, and the remedy.
  package var reason: String {
    switch self {
    case .wideText:
      "it is text in UTF-16; convert it with `iconv -f UTF-16 -t UTF-8 FILE`, or with UTF-16LE if that complains"
    case .byteOrderMark:
      #"it begins with a byte order mark (BOM); remove that with `sed '1s/^\xEF\xBB\xBF//' FILE`"#
    case .puttyKey: "it is a PuTTY key (.ppk); convert it with `puttygen KEY -O private-openssh`"
    case .publicKey:
      "it is a public key (.pub); the private one is in the file of the same name without .pub"
    case .escapedBreaks:
      #"its line breaks are spelled \n, as in JSON; turn them into line breaks with `sed 's/\\n/\n/g' FILE`"#
    case .quotes: "it is in quotation marks; leave them out"
    case .lostBreaks:
      "it is all in one line; its first and last line, with BEGIN and END, must be lines of their own"
    case .indentation: "its lines are indented; remove that with `sed 's/^[[:blank:]]*//' FILE`"
    case .marks:
      "its lines begin with marks, as in a quoted mail or a comment; remove them with "
        + "`sed 's|^[^A-Za-z0-9+/=-]*||' FILE`"
    case .prefix: "other text stands before -----BEGIN in its line; leave that out, and in the lines below it as well"
    case .der:
      "it is not text but DER; convert a key with `openssl pkey -inform DER -in FILE`, a certificate with `openssl "
        + "x509 -inform DER -in FILE`, and a .p12 or .pfx file with `openssl pkcs12 -nodes -in FILE`"
    }
  }

  private static let begin: StaticString = "-----BEGIN "

  private func isIn(_ value: RawSpan) -> Bool {
    switch self {
    case .wideText: Self.isWide(value)
    case .byteOrderMark: value.hasByteOrderMark && Self.find(Self.begin, in: value) == 3
    case .puttyKey: value.hasBytes("PuTTY-User-Key-File-", at: value.hasByteOrderMark ? 3 : 0)
    case .publicKey: Self.isPublic(value)
    case .escapedBreaks:
      Self.isArmored(value)
        && [#"-----\n"#, #"-----\r\n"#].contains { (text: StaticString) in Self.find(text, in: value) != nil }
    case .quotes:
      Self.find(Self.begin, in: value).map { [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(Self.before($0, value)) }
        ?? false
    case .lostBreaks: Self.isArmored(value) && value.first(0x0A, from: 0) >= value.byteCount - 1
    case .indentation: Self.margin(in: value)?.allSatisfy { Self.isBlank(value.byte($0)) } ?? false
    case .marks: Self.margin(in: value)?.allSatisfy { Self.isMark(value.byte($0)) } ?? false
    case .prefix: Self.margin(in: value) != nil
    case .der: Self.isDER(value)
    }
  }

  private static func isArmored(_ value: RawSpan) -> Bool { find(begin, in: value) != nil }

  /// The byte before `place`; a line break at the start.
  private static func before(_ place: Int, _ value: RawSpan) -> UInt8 { place > 0 ? value.byte(place - 1) : 0x0A }

  /// The place of the bytes before the first `-----BEGIN ` in its line; nil if any line begins with that.
  private static func margin(in value: RawSpan) -> Range<Int>? {
    var first: Range<Int>?
    var start = 0
    while start < value.byteCount {
      let end = value.first(0x0A, from: start)
      if let count = find(begin, in: value.extracting(start..<end)) {
        if count == 0 { return nil }
        first = first ?? start..<start + count
      }
      start = end + 1
    }
    return first
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == 0x09 }

  /// True for a byte with which no line of PEM begins: neither a base64 character nor a dash.
  private static func isMark(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
      UInt8(ascii: "-"):
      false
    default: true
    }
  }

  /// The first place of `text`, which must begin with a dash.
  private static func find(_ text: StaticString, in value: RawSpan) -> Int? {
    var place = value.first(UInt8(ascii: "-"), from: 0)
    while place < value.byteCount {
      if value.hasBytes(text, at: place) { return place }
      place = value.first(UInt8(ascii: "-"), from: place + 1)
    }
    return nil
  }

  /// True if the value begins like the first line of a key in UTF-16 of either byte order, possibly after
  /// a byte order mark.
  private static func isWide(_ value: RawSpan) -> Bool {
    let isMarked = value.byteCount > 1 && [[0xFF, 0xFE], [0xFE, 0xFF]].contains([value.byte(0), value.byte(1)])
    let start = isMarked ? 2 : 0
    guard value.byteCount >= start + 10 else { return false }
    return [0, 1].contains { order in
      ["-----", "PuTTY", "ssh-r", "ssh-e", "ecdsa"].contains { (text: StaticString) in
        (0..<5).allSatisfy { index in
          value.byte(start + 2 * index + order) == text.byte(index) && value.byte(start + 2 * index + 1 - order) == 0
        }
      }
    }
  }

  /// True for a public key line of OpenSSH, such as `ssh-ed25519 AAAA…`, or the form of RFC 4716.
  private static func isPublic(_ value: RawSpan) -> Bool {
    let start = value.hasByteOrderMark ? 3 : 0
    if value.hasBytes("---- BEGIN SSH2 PUBLIC KEY", at: start) { return true }
    guard ["ssh-", "ecdsa-sha2-", "sk-"].contains(where: { (text: StaticString) in value.hasBytes(text, at: start) })
    else { return false }
    let blank = value.first(UInt8(ascii: " "), from: start)
    return blank < start + 64 && value.hasBytes(" AAAA", at: blank)
  }

  /// True if the whole value is one SEQUENCE that begins with a SEQUENCE or an INTEGER.
  private static func isDER(_ value: RawSpan) -> Bool {
    var whole = DERCursor(value.byteOffsets)
    guard let outer = whole.take(DERTag.sequence, in: value), whole.isAtEnd else { return false }
    var parts = DERCursor(outer.content)
    guard let first = parts.next(in: value) else { return false }
    return (first.tag == DERTag.sequence || first.tag == DERTag.integer) && !parts.isAtEnd
  }
}
