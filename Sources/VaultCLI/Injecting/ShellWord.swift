internal import VaultWire

/// Bytes as one word of sh(1), whatever they are.
enum ShellWord {
  /// Adds them between single quotes, where only another one ends them: it becomes `'\''`.
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

/// The question whether bytes are text.
enum UTF8Text {
  /// True for well-formed UTF-8 (table 3-7 of the Unicode standard), without a copy of it anywhere.
  static func isValid(_ bytes: RawSpan) -> Bool {
    // Lent for the call.
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
