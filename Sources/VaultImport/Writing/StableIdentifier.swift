internal import VaultBytes
internal import VaultWire

/// Bytes that nobody can foresee, from the kernel.
enum RandomBytes {
  static func make(_ count: Int) -> [UInt8] {
    // getrandom(2), which the sandbox allows.
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in generator.next() }
  }
}

/// Identifications that stay the same in each export of the same vault, so that an import of a later export knows the
/// entries of an earlier one.
enum StableIdentifier {
  /// The first 16 bytes of the SHA-256 hash of the parts, each of which ends with a zero byte.
  static func bytes(_ parts: [String]) throws(ImportFailure) -> [UInt8] {
    let text: [UInt8] = parts.flatMap { Array($0.utf8) + [UInt8(0)] }
    return Array(try KDBXDigest.sha256(text[...]).prefix(16))
  }

  /// The form of RFC 9562, such as `0b1c…-…`, of version 8.
  static func uuid(_ bytes: [UInt8]) -> String {
    var bytes = bytes
    if bytes.count == 16 { (bytes[6], bytes[8]) = (bytes[6] & 0x0F | 0x80, bytes[8] & 0x3F | 0x80) }
    let digits = Array(bytes.hex.utf8)
    let groups = [digits[..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20...]]
    return groups.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
  }
}
