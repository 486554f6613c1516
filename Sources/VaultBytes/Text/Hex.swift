extension [UInt8] {
  /// The bytes as hexadecimal digits, two lower-case digits for each byte.
  package var hex: String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * underestimatedCount)
    for byte in self {
      for digit in [byte >> 4, byte & 15] { text.append(digit < 10 ? 0x30 + digit : 0x57 + digit) }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension [UInt8] {
  /// Reads pairs of hexadecimal digits; nil for any other text.
  package init?(hex text: String) {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    self = []
    reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = hexDigit(digits[index]), let low = hexDigit(digits[index + 1]) else { return nil }
      append(high << 4 | low)
    }
  }
}

/// The value of a hexadecimal digit of either case; nil for another byte.
package func hexDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
