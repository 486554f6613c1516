/// The times in tokens (RFC 7519 section 2, NumericDate): seconds since 1970 as a JSON number. A fraction, which the
/// RFC allows, is rounded down to the past.
enum NumericDate {
  /// The whole seconds of a number; nil if they have more than 15 digits.
  ///
  /// - Parameter text: A number of well-formed JSON.
  static func read(_ text: [UInt8]) -> Int64? {
    let isNegative = text.first == UInt8(ascii: "-")
    let number = text.dropFirst(isNegative ? 1 : 0)
    let mantissa = number.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    let whole = mantissa.prefix { $0 != UInt8(ascii: ".") }
    let digits = whole + mantissa.dropFirst(whole.count + 1)
    // The value is 0.d₁d₂… × 10^point, and the first digit is not 0.
    let significant = digits.drop { $0 == UInt8(ascii: "0") }
    if significant.isEmpty { return 0 }
    let point = whole.count - (digits.count - significant.count) + exponent(number.dropFirst(mantissa.count + 1))
    guard point <= 15 else { return nil }
    var seconds: Int64 = 0
    for place in 0..<max(0, point) {
      let digit = place < significant.count ? significant[significant.startIndex + place] - UInt8(ascii: "0") : 0
      seconds = seconds * 10 + Int64(digit)
    }
    guard isNegative else { return seconds }
    let fraction = significant.dropFirst(max(0, point))
    return fraction.allSatisfy { $0 == UInt8(ascii: "0") } ? -seconds : -seconds - 1
  }

  /// The number after an `e`, capped. No token has enough digits to offset an exponent beyond the cap.
  private static func exponent(_ text: ArraySlice<UInt8>) -> Int {
    let digits = text.drop { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
    let magnitude = digits.reduce(0) { min($0 * 10 + Int($1 - UInt8(ascii: "0")), 1 << 40) }
    return text.first == UInt8(ascii: "-") ? -magnitude : magnitude
  }
}
