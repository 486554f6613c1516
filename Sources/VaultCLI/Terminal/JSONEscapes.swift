internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// JSON for a terminal: the same value, with every character that a terminal would not show written as `\\uXXXX`.
enum JSONEscapes {
  /// - Parameter json: valid JSON, which has no control characters below U+0020.
  static func apply(to json: RawSpan) -> SecretBuffer {
    let bytes = Span<UInt8>(_bytes: json)
    var result = SecretBuffer(capacity: bytes.count + 64)
    var index = 0
    while index < bytes.count {
      let count = bytes.scalarLength(at: index) ?? 1
      if let scalar = scalar(bytes.extracting(index..<(index + count))), !scalar.isShown {
        for unit in UTF16.encode(scalar).map({ Array($0) }) ?? [] { append(unit, to: &result) }
        index += count
        continue
      }
      result.append(bytes[index])
      index += 1
    }
    return result
  }

  private static func scalar(_ bytes: Span<UInt8>) -> Unicode.Scalar? {
    if bytes.count == 1 { return bytes[0] == 0x7F ? "\u{7F}" : nil }
    var value = UInt32(bytes[0]) & (0xFF >> (UInt32(bytes.count) + 1))
    for index in 1..<bytes.count { value = value << 6 | UInt32(bytes[index] & 0x3F) }
    return Unicode.Scalar(value)
  }

  private static func append(_ unit: UInt16, to result: inout SecretBuffer) {
    result.append("\\u" as StaticString)
    for shift in [12, 8, 4, 0] { result.append(Array("0123456789abcdef".utf8)[Int(unit >> UInt16(shift) & 15)]) }
  }
}
