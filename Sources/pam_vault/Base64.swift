extension WipedBytes {
  /// Appends other bytes in base64 (RFC 4648, with padding), which carries a password of any bytes with nothing to
  /// escape.
  mutating func append(base64 other: borrowing WipedBytes) {
    var index = 0
    while index < other.count {
      let left = other.count - index
      let group =
        UInt32(other[index]) << 16 | UInt32(left > 1 ? other[index + 1] : 0) << 8
        | UInt32(left > 2 ? other[index + 2] : 0)
      for place in 0..<4 {
        append(place <= left ? Self.digit(UInt8(group >> (18 - 6 * UInt32(place)) & 63)) : UInt8(ascii: "="))
      }
      index += 3
    }
  }

  /// Returns a base64 digit without a table and without a branch: a table's cache lines would reveal the secret just as
  /// a branch on it would.
  private static func digit(_ value: UInt8) -> UInt8 {
    var digit = Int16(value) + Int16(UInt8(ascii: "A"))
    // Each adjustment applies if `value` is above the bound: the difference is then negative, and its sign is a mask.
    let value = Int16(value)
    digit += ((25 - value) >> 8) & 6
    digit -= ((51 - value) >> 8) & 75
    digit -= ((61 - value) >> 8) & 15
    digit += ((62 - value) >> 8) & 3
    return UInt8(truncatingIfNeeded: digit)
  }
}
