internal import VaultBytes
internal import VaultWire

/// Any bytes as one word of sh(1).
enum ShellWord {
  /// Appends the bytes between single quotes. Only a single quote ends the quoted text, so each one becomes `'\''`.
  static func append(_ bytes: RawSpan, to text: inout SecretBuffer) {
    let span = Span<UInt8>(_bytes: bytes)
    text.reserve(span.count + 2)
    text.append(UInt8(ascii: "'"))
    for index in span.indices {
      if span[index] == UInt8(ascii: "'") {
        text.append("'\\''" as StaticString)
      } else {
        text.append(span[index])
      }
    }
    text.append(UInt8(ascii: "'"))
  }
}

/// The check whether bytes are text.
enum UTF8Text {
  /// Returns true for well-formed UTF-8 (table 3-7 of the Unicode standard). Makes no copy of the bytes.
  static func isValid(_ bytes: RawSpan) -> Bool {
    // The bytes are lent for the call.
    unsafe bytes.withUnsafeBytes { bytes in
      var decoder = UTF8()
      var iterator = unsafe bytes.makeIterator()
      while true {
        switch unsafe decoder.decode(&iterator) {
        case .scalarValue: continue
        case .emptyInput: return true
        case .error: return false
        }
      }
    }
  }
}
