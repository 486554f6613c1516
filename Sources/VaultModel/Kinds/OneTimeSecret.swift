/// The secret behind one-time codes, by time (RFC 6238) or by a counter (RFC 4226), and how the codes are made of it.
///
/// It is an `otpauth://` URI, or base32 alone, which may be written in groups: then the codes are what nearly everybody
/// means, six digits by SHA-1, a new one every 30 seconds. It is taken as people paste it: with a byte order mark, blanks or
/// line ends around it. The secret itself stays where it is.
///
/// The URI's form is Google Authenticator's "Key URI Format"
/// (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
public struct OneTimeSecret: Hashable, Sendable {
  /// The hash below the codes.
  public enum Algorithm: String, CaseIterable, Sendable {
    case sha1 = "SHA1"
    case sha256 = "SHA256"
    case sha512 = "SHA512"
  }

  /// The characters that codes are made of.
  public enum Alphabet: Hashable, Sendable {
    case digits
    /// The digits and letters of Steam's codes.
    case steam
  }

  /// The number that each code is made of.
  public enum Factor: Hashable, Sendable {
    /// A step of the time, of so many seconds.
    case time(period: Int)
    /// A counter: of the next code that is to be made.
    case counter(Int64)
  }

  public internal(set) var algorithm = Algorithm.sha1
  public internal(set) var alphabet = Alphabet.digits
  /// The number of characters of a code: 6 to 8, and 5 of Steam's.
  public internal(set) var digits = 6
  public internal(set) var factor = Factor.time(period: 30)
  /// True when the value is an `otpauth://` URI.
  public internal(set) var isURI = false
  /// The size of the decoded secret in bytes.
  public internal(set) var keyCount = 0

  /// The place of the value without a byte order mark and blanks around it.
  var body = 0..<0
  /// The places of the base32 symbols and of the counter's digits in the value.
  var symbols = 0..<0
  var counter = 0..<0
  /// The places of the URI's label, behind the type, and of its issuer; empty where there is none.
  var label = 0..<0
  var issuer = 0..<0

  /// The issuer whose codes are not digits.
  static let steam = "steam"

  /// Reads a value of kind `totp`.
  ///
  /// - Parameter issuer: the one that the item's attributes name, for a secret that is base32 alone.
  /// - Throws: ``ValueError`` that says what is wrong without quoting the secret.
  public init(_ value: RawSpan, issuer: String? = nil) throws(ValueError) {
    body = Self.body(of: value)
    if body.isEmpty { throw ValueError(reason: "a one-time-code secret cannot be empty") }
    isURI = Self.isURI(value, body)
    if isURI {
      try readURI(value)
      return
    }
    if let other = OtherOneTimeForm(of: value) { throw ValueError(reason: other.reason) }
    guard let count = Base32.count(value, body) else {
      if OtherOneTimeForm.isSharedSecret(value) { throw ValueError(reason: OtherOneTimeForm.sharedSecret) }
      throw ValueError(reason: "a one-time-code secret is an otpauth:// URI or base32 (A-Z, 2-7) in one line")
    }
    (symbols, keyCount) = (body, count)
    if issuer?.lowercased() == Self.steam { (alphabet, digits) = (.steam, 5) }
  }

  /// Writes the decoded secret byte by byte, ``keyCount`` of them, into `sink`.
  ///
  /// - Parameter value: the one that this was read from.
  public func writeKey(from value: RawSpan, to sink: (UInt8) -> Void) { Base32.decode(value, symbols, to: sink) }

  /// Writes the value byte by byte into `sink`, with another counter. Only for a secret whose ``factor`` is one.
  ///
  /// - Parameter value: the one that this was read from.
  public func write(_ value: RawSpan, counter next: Int64, to sink: (UInt8) -> Void) {
    for offset in 0..<counter.lowerBound { sink(value.byte(offset)) }
    for digit in String(next).utf8 { sink(digit) }
    for offset in counter.upperBound..<value.byteCount { sink(value.byte(offset)) }
  }

  /// True for what begins as an `otpauth://` URI does, in any case of the letters, whatever follows.
  public static func isURI(_ value: RawSpan) -> Bool { isURI(value, body(of: value)) }

  private static func isURI(_ value: RawSpan, _ body: Range<Int>) -> Bool {
    hasWord("otpauth://", value, at: body.lowerBound, before: body.upperBound)
  }

  private static func body(of value: RawSpan) -> Range<Int> {
    var (start, end) = (value.hasByteOrderMark ? 3 : 0, value.byteCount)
    while let count = blank(in: value, start..<end, atEnd: false) { start += count }
    while let count = blank(in: value, start..<end, atEnd: true) { end -= count }
    return start..<end
  }

  /// The size of the blank, or of the character of a line end, at one end of a range; nil for anything else.
  private static func blank(in value: RawSpan, _ range: Range<Int>, atEnd: Bool) -> Int? {
    guard let first = range.first, let last = range.last else { return nil }
    switch value.byte(atEnd ? last : first) {
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): return 1
    default:
      return noBreakSpaces.first { word in
        let count = word.utf8CodeUnitCount
        return range.count >= count && hasWord(word, value, at: atEnd ? last + 1 - count : first, before: last + 1)
      }?.utf8CodeUnitCount
    }
  }

  /// U+00A0, U+2007 and U+202F, as pages have them.
  private static let noBreakSpaces: [StaticString] = ["\u{A0}", "\u{2007}", "\u{202F}"]

  /// True when `word`, which is in lower case, stands there in any case of its letters.
  static func hasWord(_ word: StaticString, _ bytes: RawSpan, at place: Int, before end: Int) -> Bool {
    let count = word.utf8CodeUnitCount
    guard place + count <= end else { return false }
    return (0..<count).allSatisfy { index in
      let (byte, expected) = (bytes.byte(place + index), word.byte(index))
      let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(expected)
      return byte == expected || (isLetter && byte | 0x20 == expected)
    }
  }
}

extension RawSpan {
  /// True for text in UTF-8 that begins with U+FEFF, as some editors write it.
  public var hasByteOrderMark: Bool { byteCount >= 3 && byte(0) == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF }
}
