internal import VaultBytes

/// The secret behind one-time codes, by time (RFC 6238) or by a counter (RFC 4226), and the parameters of the codes.
///
/// The value is an `otpauth://` URI, or base32 alone, possibly in groups. Base32 alone means the most common codes: six
/// digits by SHA-1, a new code every 30 seconds. A pasted value may have a byte order mark, blanks or line ends around
/// it. The secret itself is not copied.
///
/// The URI has the form of Google Authenticator's "Key URI Format"
/// (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
public struct OneTimeSecret: Hashable, Sendable {
  /// The hash function of the codes.
  public enum Algorithm: String, CaseIterable, Sendable {
    case sha1 = "SHA1"
    case sha256 = "SHA256"
    case sha512 = "SHA512"
  }

  /// The characters of the codes.
  public enum Alphabet: Hashable, Sendable {
    case digits
    /// The digits and letters of Steam's codes.
    case steam
  }

  /// The moving factor: the number from which each code is made.
  public enum Factor: Hashable, Sendable {
    /// A time step of `period` seconds.
    case time(period: Int)
    /// A counter, whose value is that of the next code.
    case counter(Int64)
  }

  public internal(set) var algorithm = Algorithm.sha1
  public internal(set) var alphabet = Alphabet.digits
  /// The number of characters of a code: 6 to 8, or 5 for Steam.
  public internal(set) var digits = 6
  public internal(set) var factor = Factor.time(period: 30)
  /// True if the value is an `otpauth://` URI.
  public internal(set) var isURI = false
  /// The size of the decoded secret in bytes.
  public internal(set) var keyCount = 0

  /// The place of the value without a byte order mark and blanks around it.
  var body = 0..<0
  /// The places in the value of the base32 symbols and, below, of the counter's digits.
  var symbols = 0..<0
  var counter = 0..<0
  /// The places of the URI's label, after the type, and of its issuer; empty if there is none.
  var label = 0..<0
  var issuer = 0..<0
  /// The place of a parameter's name that is nearly `issuer`, where its value is Steam; empty if there is none.
  var issuerSlip = 0..<0

  /// The issuer whose codes are not made of digits.
  static let steam = "steam"
  /// The name of the parameter and of the attribute that name the issuer.
  static let issuerName = "issuer"

  /// True if `issuer` is Steam, in any letter case.
  static func isSteam(_ issuer: String?) -> Bool { issuer?.lowercased() == steam }

  /// Reads a value of kind `totp`.
  ///
  /// - Parameter issuer: The issuer from the item's attributes, for a secret that is base32 alone.
  /// - Throws: ``ValueError`` that states the fault without quoting the secret.
  public init(_ value: RawSpan, issuer: String? = nil) throws(ValueError) {
    try ItemKind.totp.check(count: value.byteCount)
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
    if Self.isSteam(issuer) { (alphabet, digits) = (.steam, 5) }
  }

  /// Writes the decoded secret, which has ``keyCount`` bytes, to `sink` byte by byte.
  ///
  /// - Parameter value: The value from which this secret was read.
  public func writeKey(from value: RawSpan, to sink: (UInt8) -> Void) { Base32.decode(value, symbols, to: sink) }

  /// Writes the value to `sink` byte by byte, with another counter. Only for a secret whose ``factor`` is a counter.
  ///
  /// - Parameter value: The value from which this secret was read.
  public func write(_ value: RawSpan, counter next: Int64, to sink: (UInt8) -> Void) {
    for offset in 0..<counter.lowerBound { sink(value.byte(offset)) }
    for digit in String(next).utf8 { sink(digit) }
    for offset in counter.upperBound..<value.byteCount { sink(value.byte(offset)) }
  }

  /// True if the value begins like an `otpauth://` URI, in any letter case, whatever follows.
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

  /// The size of the blank or line end character at one end of a range; nil if there is none.
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

  /// U+00A0, U+2007 and U+202F, as web pages contain them.
  private static let noBreakSpaces: [StaticString] = ["\u{A0}", "\u{2007}", "\u{202F}"]

  /// True if `word`, which is in lower case, stands at `place` in any letter case.
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
  /// True if the bytes begin with U+FEFF in UTF-8, as some editors write it.
  public var hasByteOrderMark: Bool { byteCount >= 3 && byte(0) == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF }
}
