/// The secret behind one-time codes, by time (RFC 6238) or by a counter (RFC 4226), and how the codes are made of it.
///
/// It is an `otpauth://` URI, or base32 alone, which may be written in groups: then the codes are what nearly everybody
/// means, six digits by SHA-1, a new one every 30 seconds. The secret itself stays where it is.
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

  /// The number that each code is made of.
  public enum Factor: Hashable, Sendable {
    /// A step of the time, of so many seconds.
    case time(period: Int)
    /// A counter: of the next code that is to be made.
    case counter(Int64)
  }

  public private(set) var algorithm = Algorithm.sha1
  /// The digits of a code, 6 to 8.
  public private(set) var digits = 6
  public private(set) var factor = Factor.time(period: 30)
  /// True when the value is an `otpauth://` URI.
  public private(set) var isURI = false
  /// The size of the decoded secret in bytes.
  public private(set) var keyCount = 0

  /// The places of the base32 symbols and of the counter's digits in the value.
  private var symbols = 0..<0
  private var counter = 0..<0

  /// Reads a value of kind `totp`.
  ///
  /// - Throws: ``ValueError`` that says what is wrong without quoting the value.
  public init(_ value: RawSpan) throws(ValueError) {
    if value.isEmpty { throw ValueError(reason: "a one-time-code secret cannot be empty") }
    isURI = value.hasBytes("otpauth://", at: 0)
    if isURI {
      try readURI(value)
      return
    }
    guard let count = Base32.count(value, value.byteOffsets, groups: true) else {
      throw ValueError(reason: "a one-time-code secret is an otpauth:// URI or base32 (A-Z, 2-7) in one line")
    }
    (symbols, keyCount) = (value.byteOffsets, count)
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

  // MARK: The URI

  private enum Parameter: CaseIterable {
    case secret, algorithm, digits, period, counter

    var prefix: StaticString {
      switch self {
      case .secret: "secret="
      case .algorithm: "algorithm="
      case .digits: "digits="
      case .period: "period="
      case .counter: "counter="
      }
    }
  }

  private mutating func readURI(_ uri: RawSpan) throws(ValueError) {
    let isCounted = uri.hasBytes("otpauth://hotp/", at: 0)
    guard isCounted || uri.hasBytes("otpauth://totp/", at: 0) else {
      throw ValueError(reason: "an otpauth URI starts with otpauth://totp/ or otpauth://hotp/")
    }
    // RFC 3986 leaves a URI no spaces, controls or raw non-ASCII.
    guard uri.allBytes({ (0x21...0x7E).contains($0) }) else {
      throw ValueError(reason: "an otpauth URI is printable ASCII without spaces or line breaks")
    }
    if isCounted { factor = .counter(0) }
    let seen = try readParameters(uri)
    if !seen.contains(.secret) { throw ValueError(reason: "the otpauth URI has no 'secret'") }
    if isCounted && !seen.contains(.counter) {
      throw ValueError(reason: "the otpauth URI has no 'counter', which codes by a counter need")
    }
  }

  private mutating func readParameters(_ uri: RawSpan) throws(ValueError) -> Set<Parameter> {
    var seen: Set<Parameter> = []
    var position = Self.first(UInt8(ascii: "?"), in: uri, 0..<uri.byteCount) + 1
    while position < uri.byteCount {
      let end = Self.first(UInt8(ascii: "&"), in: uri, position..<uri.byteCount)
      if let parameter = Parameter.allCases.first(where: { uri.hasBytes($0.prefix, at: position) }) {
        guard seen.insert(parameter).inserted else {
          throw ValueError(reason: "the otpauth URI has '\(parameter)' twice")
        }
        try read(parameter, uri, min(end, position + parameter.prefix.utf8CodeUnitCount)..<end)
      }
      position = end + 1
    }
    return seen
  }

  private mutating func read(_ parameter: Parameter, _ uri: RawSpan, _ range: Range<Int>) throws(ValueError) {
    switch parameter {
    case .secret:
      guard let count = Base32.count(uri, range, groups: false) else {
        throw ValueError(reason: "the otpauth URI's secret is not base32")
      }
      (symbols, keyCount) = (range, count)
    case .algorithm:
      guard let known = Algorithm.allCases.first(where: { Self.isWord($0.rawValue, uri, range) }) else {
        throw ValueError(reason: "the otpauth URI's algorithm is SHA1, SHA256 or SHA512")
      }
      algorithm = known
    case .digits:
      guard range.count == 1, let number = Self.number(uri, range), (6...8).contains(number) else {
        throw ValueError(reason: "the otpauth URI asks for 6, 7 or 8 digits")
      }
      digits = Int(number)
    case .period:
      guard let number = Self.number(uri, range), (1...9999).contains(number) else {
        throw ValueError(reason: "the otpauth URI's period is 1 to 9999 seconds")
      }
      if case .time = factor { factor = .time(period: Int(number)) }
    case .counter:
      guard let number = Self.number(uri, range) else {
        throw ValueError(reason: "the otpauth URI's counter is a number from 0 to \(Int64.max)")
      }
      if case .counter = factor { (factor, counter) = (.counter(number), range) }
    }
  }

  /// True when `word` stands there, in either case.
  private static func isWord(_ word: String, _ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    range.count == word.utf8.count
      && zip(range, word.utf8).allSatisfy { bytes.byte($0) == $1 || (bytes.byte($0) & 0xDF) == $1 }
  }

  /// The decimal number that stands there, without a sign or zeros before it.
  private static func number(_ bytes: RawSpan, _ range: Range<Int>) -> Int64? {
    guard (1...19).contains(range.count), range.count == 1 || bytes.byte(range.lowerBound) != UInt8(ascii: "0") else {
      return nil
    }
    var number: Int64 = 0
    for offset in range {
      guard isDigit(bytes.byte(offset)) else { return nil }
      let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isTooMuch) = tens.addingReportingOverflow(Int64(bytes.byte(offset) - UInt8(ascii: "0")))
      if isTooLarge || isTooMuch { return nil }
      number = sum
    }
    return number
  }

  /// The place where `byte` first stands in `range`, or the range's end.
  private static func first(_ byte: UInt8, in bytes: RawSpan, _ range: Range<Int>) -> Int {
    range.first { bytes.byte($0) == byte } ?? range.upperBound
  }
}
