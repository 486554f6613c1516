internal import VaultBytes

/// The digits with which a device is paired.
enum PairingCode {
  /// Checks a code: groups of digits such as `031-45-154` (HomeKit) or `3497-011-2332`, or 8, 11 or 21 digits without
  /// separators (HomeKit; Matter's manual pairing codes, Matter core specification 5.1.4).
  ///
  /// - Parameter pattern: Another form that the code must have instead, with `#` for each digit.
  static func check(_ code: RawSpan, pattern: String?) throws(ValueError) {
    if let pattern {
      guard pattern.utf8.contains(UInt8(ascii: "#")) else {
        throw ValueError(reason: "attribute 'pattern' has a '#' for each digit")
      }
      guard fits(code, pattern) else { throw ValueError(reason: "the pairing code does not fit its 'pattern'") }
    } else if !isGrouped(code) && !isUndivided(code) {
      throw ValueError(
        reason: "a pairing code is digits in groups such as 031-45-154, or 8, 11 or 21 digits; attribute 'pattern' "
          + "allows another form, such as ##-####")
    }
  }

  private static func fits(_ code: RawSpan, _ pattern: String) -> Bool {
    guard code.byteCount == pattern.utf8.count else { return false }
    for (offset, expected) in pattern.utf8.enumerated() {
      let byte = code.byte(offset)
      guard expected == UInt8(ascii: "#") ? isDigit(byte) : byte == expected else { return false }
    }
    return true
  }

  private static func isUndivided(_ code: RawSpan) -> Bool {
    [8, 11, 21].contains(code.byteCount) && code.allBytes(isDigit)
  }

  /// True for at least two groups with single dashes between them, 6 to 21 digits in total.
  private static func isGrouped(_ code: RawSpan) -> Bool {
    var digits = 0
    var dashes = 0
    var afterDigit = false
    for offset in code.byteOffsets {
      let byte = code.byte(offset)
      if isDigit(byte) {
        digits += 1
        afterDigit = true
      } else {
        guard byte == UInt8(ascii: "-"), afterDigit else { return false }
        dashes += 1
        afterDigit = false
      }
    }
    return afterDigit && dashes > 0 && (6...21).contains(digits)
  }
}
