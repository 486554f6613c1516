/// The secret behind time-based one-time codes (RFC 6238).
enum OneTimeSecret {
  /// Checks an `otpauth://totp/…` URI or a base32 secret, which may be written in groups.
  ///
  /// The URI's form is Google Authenticator's "Key URI Format"
  /// (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
  static func check(_ value: RawSpan) throws(ValueError) {
    if value.isEmpty { throw ValueError(reason: "a one-time-code secret cannot be empty") }
    guard value.hasBytes("otpauth://", at: 0) else {
      guard isBase32(value, value.byteOffsets, groups: true) else {
        throw ValueError(reason: "a one-time-code secret is an otpauth:// URI or base32 (A-Z, 2-7) in one line")
      }
      return
    }
    if value.hasBytes("otpauth://hotp/", at: 0) {
      throw ValueError(reason: "counter-based codes (otpauth://hotp) are not supported, only otpauth://totp")
    }
    guard value.hasBytes("otpauth://totp/", at: 0) else {
      throw ValueError(reason: "an otpauth URI starts with otpauth://totp/")
    }
    // RFC 3986 leaves a URI no spaces, controls or raw non-ASCII.
    guard value.allBytes({ (0x21...0x7E).contains($0) }) else {
      throw ValueError(reason: "an otpauth URI is printable ASCII without spaces or line breaks")
    }
    try checkParameters(value)
  }

  private enum Parameter: CaseIterable {
    case secret
    case algorithm
    case digits
    case period

    var prefix: StaticString {
      switch self {
      case .secret: "secret="
      case .algorithm: "algorithm="
      case .digits: "digits="
      case .period: "period="
      }
    }
  }

  private static func checkParameters(_ uri: RawSpan) throws(ValueError) {
    var seen: Set<Parameter> = []
    var position = first(UInt8(ascii: "?"), in: uri, 0..<uri.byteCount) + 1
    while position < uri.byteCount {
      let end = first(UInt8(ascii: "&"), in: uri, position..<uri.byteCount)
      if let parameter = Parameter.allCases.first(where: { uri.hasBytes($0.prefix, at: position) }) {
        guard seen.insert(parameter).inserted else {
          throw ValueError(reason: "the otpauth URI has '\(parameter)' twice")
        }
        try check(parameter, uri, min(end, position + parameter.prefix.utf8CodeUnitCount)..<end)
      }
      position = end + 1
    }
    if !seen.contains(.secret) { throw ValueError(reason: "the otpauth URI has no 'secret'") }
  }

  private static func check(_ parameter: Parameter, _ uri: RawSpan, _ range: Range<Int>) throws(ValueError) {
    switch parameter {
    case .secret:
      if !isBase32(uri, range, groups: false) { throw ValueError(reason: "the otpauth URI's secret is not base32") }
    case .algorithm:
      let known: [StaticString] = ["SHA1", "SHA256", "SHA512"]
      guard known.contains(where: { range.count == $0.utf8CodeUnitCount && uri.hasBytes($0, at: range.lowerBound) })
      else { throw ValueError(reason: "the otpauth URI's algorithm is SHA1, SHA256 or SHA512") }
    case .digits:
      guard range.count == 1, (UInt8(ascii: "6")...UInt8(ascii: "8")).contains(uri.byte(range.lowerBound)) else {
        throw ValueError(reason: "the otpauth URI asks for 6, 7 or 8 digits")
      }
    case .period:
      guard (1...4).contains(range.count), range.allSatisfy({ isDigit(uri.byte($0)) }),
        uri.byte(range.lowerBound) != UInt8(ascii: "0")
      else { throw ValueError(reason: "the otpauth URI's period is 1 to 9999 seconds") }
    }
  }

  /// True when the bytes in `range` are base32 (RFC 4648 section 6) in either case, with or without padding, also as
  /// `%3D`; with `groups`, single spaces or dashes may stand between symbols.
  private static func isBase32(_ bytes: RawSpan, _ range: Range<Int>, groups: Bool) -> Bool {
    var symbols = 0
    var padding = 0
    var position = range.lowerBound
    var afterSymbol = false
    while position < range.upperBound {
      let byte = bytes.byte(position)
      let isEscapedPad = position + 3 <= range.upperBound && bytes.hasBytes("%3D", at: position)
      if byte == UInt8(ascii: "=") || isEscapedPad {
        padding += 1
        position += isEscapedPad ? 3 : 1
        continue
      }
      if padding > 0 { return false }
      let isSymbol =
        (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(byte)
        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      let isBreak = groups && afterSymbol && (byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-"))
      guard isSymbol || isBreak else { return false }
      if isSymbol { symbols += 1 }
      afterSymbol = isSymbol
      position += 1
    }
    let isWhole = symbols > 0 && ![1, 3, 6].contains(symbols % 8)
    return isWhole && (padding == 0 || (padding < 8 && (symbols + padding) % 8 == 0)) && (afterSymbol || padding > 0)
  }

  /// The place where `byte` first stands in `range`, or the range's end.
  private static func first(_ byte: UInt8, in bytes: RawSpan, _ range: Range<Int>) -> Int {
    range.first { bytes.byte($0) == byte } ?? range.upperBound
  }
}
