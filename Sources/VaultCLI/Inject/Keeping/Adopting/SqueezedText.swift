internal import VaultBytes
internal import VaultWire

/// A text without the characters that writers of JSON, YAML and shells put between others: blanks, line breaks, quotes
/// and backslashes. All spellings of a value have the same squeezed form, however they are quoted, folded or indented.
struct SqueezedText: ~Copyable {
  let bytes: SecretBuffer
  /// The offset of each byte in the original text.
  private let origins: [UInt32]

  /// - Parameter undoingEscapes: true if an escape of JSON or YAML counts as the character that it stands for; false if
  ///   it counts as the letters after its backslash.
  init(_ text: RawSpan, undoingEscapes: Bool) {
    if undoingEscapes { self.init(UnescapedText(text)) } else { self.init(text) { $0 } }
  }

  /// Squeezes a text whose escapes are already undone.
  init(_ unescaped: borrowing UnescapedText) {
    self = unescaped.bytes.withBytes { bytes in Self(bytes) { unescaped.origin(of: $0) } }
  }

  private init(_ text: RawSpan, origin: (Int) -> Int) {
    let text = Span<UInt8>(_bytes: text)
    var bytes = SecretBuffer(capacity: text.count)
    var origins: [UInt32] = []
    origins.reserveCapacity(text.count)
    var at = 0
    while at < text.count {
      let dropped = Self.dropped(text, at)
      if dropped == 0 {
        bytes.append(text[at])
        origins.append(UInt32(origin(at)))
      }
      at += max(dropped, 1)
    }
    self.bytes = bytes
    self.origins = origins
  }

  /// Returns the place of some squeezed bytes in the original text. If the last of them is spelled there with several
  /// bytes, only the first of these belongs to the place.
  func origin(of place: Range<Int>) -> Range<Int> {
    Int(origins[place.lowerBound])..<Int(origins[place.upperBound - 1]) + 1
  }

  /// Returns the number of bytes at `at` that are left out; 0 for a byte that counts.
  private static func dropped(_ text: Span<UInt8>, _ at: Int) -> Int {
    switch text[at] {
    case 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20, UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\\"): return 1
    // A line break (U+0085) and a blank (U+00A0).
    case 0xC2: return at + 1 < text.count && (text[at + 1] == 0x85 || text[at + 1] == 0xA0) ? 2 : 0
    // Line breaks (U+2028, U+2029).
    case 0xE2:
      return at + 2 < text.count && text[at + 1] == 0x80 && (text[at + 2] == 0xA8 || text[at + 2] == 0xA9) ? 3 : 0
    // The byte order mark (U+FEFF).
    case 0xEF: return at + 2 < text.count && text[at + 1] == 0xBB && text[at + 2] == 0xBF ? 3 : 0
    default: return 0
    }
  }
}
