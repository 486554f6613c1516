public import VaultCore

/// One-time codes: HOTP (RFC 4226), and TOTP (RFC 6238), which is HOTP with the time as its counter.
public enum OneTimeCode {
  /// The allowed numbers of digits of a code; RFC 4226 section 5.3 requires at least six.
  public static let digits = 6...8

  /// The code of a counter, as `digits` ASCII digits.
  ///
  /// - Precondition: `digits` is within ``digits``.
  public static func code(
    _ counter: UInt64, digits: Int, key: borrowing SecureBytes, _ hash: HMAC.Hash = .sha1
  ) throws(SigningError) -> SecureBytes {
    precondition(Self.digits.contains(digits), "a code has 6 to 8 digits")
    var code = SecureBytes(count: digits)
    let number = try number(counter, key, hash)
    code.withMutableBytes { code in
      var rest = number
      for place in (0..<digits).reversed() {
        code.storeBytes(of: UInt8(ascii: "0") + UInt8(rest % 10), toByteOffset: place, as: UInt8.self)
        rest /= 10
      }
    }
    return code
  }

  /// The number of characters of a Steam code.
  public static let steamCount = 5
  /// The characters of Steam codes: digits and letters that are not easily confused.
  private static let steamAlphabet: StaticString = "23456789BCDFGHJKMNPQRTVWXY"

  /// The code of a counter in Steam's form: five characters instead of digits, the least significant first. Steam has
  /// published no specification; this is the form that Steam's own program and KeePassXC use.
  public static func steamCode(
    _ counter: UInt64, key: borrowing SecureBytes, _ hash: HMAC.Hash = .sha1
  ) throws(SigningError) -> SecureBytes {
    var code = SecureBytes(count: steamCount)
    let number = try number(counter, key, hash)
    code.withMutableBytes { code in
      var rest = number
      let count = UInt32(steamAlphabet.utf8CodeUnitCount)
      for place in 0..<steamCount {
        // The literal lives as long as the program, and the remainder is below its length.
        code.storeBytes(of: unsafe steamAlphabet.utf8Start[Int(rest % count)], toByteOffset: place, as: UInt8.self)
        rest /= count
      }
    }
    return code
  }

  private static func number(
    _ counter: UInt64, _ key: borrowing SecureBytes, _ hash: HMAC.Hash
  ) throws(SigningError) -> UInt32 {
    var message = counter.bigEndian
    return try unsafe withUnsafeBytes(of: &message) { (bytes: UnsafeRawBufferPointer) throws(SigningError) in
      // The bytes are lent for the call.
      try HMAC.withCode(of: unsafe RawSpan(_unsafeBytes: bytes), key: key, hash, truncate)
    }
  }

  /// The counter of the time step that contains `time`, Unix seconds. A step takes `period` seconds, and the first
  /// begins with 1970.
  ///
  /// - Precondition: `period` is above 0. A time before 1970 counts as the beginning of 1970.
  public static func counter(at time: Int64, period: Int) -> UInt64 { UInt64(max(0, time) / Int64(period)) }

  /// Dynamic truncation (RFC 4226 section 5.3): 31 bits from the place that the last four bits give.
  private static func truncate(_ code: RawSpan) -> UInt32 {
    func byte(_ index: Int) -> UInt32 {
      // Every bit pattern is a UInt8.
      UInt32(unsafe code.unsafeLoad(fromByteOffset: index, as: UInt8.self))
    }
    let start = Int(byte(code.byteCount - 1) & 0x0F)
    return (byte(start) & 0x7F) << 24 | byte(start + 1) << 16 | byte(start + 2) << 8 | byte(start + 3)
  }
}
