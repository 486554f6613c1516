package import VaultBytes
internal import VaultWire

/// The marks around a pasted text in a terminal's bracketed-paste mode (xterm, "Bracketed Paste Mode"). A terminal
/// sends them if another program has left that mode on. They are no part of the text.
package enum PasteMark {
  package static let start = "\u{1B}[200~"
  package static let end = "\u{1B}[201~"

  /// The length of either mark in bytes.
  package static let count = 6

  /// Returns true if the bytes end with one of the marks.
  package static func ends(_ text: borrowing SecretBuffer) -> Bool {
    text.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      guard bytes.count >= count else { return false }
      return [start, end].contains { mark in
        let mark = mark.utf8.span
        return mark.indices.allSatisfy { bytes[bytes.count - count + $0] == mark[$0] }
      }
    }
  }
}

extension SecretBuffer {
  /// True if typed text contains the bytes of a control key, such as an arrow key. Tabs and line breaks are text.
  package var hasControlKeys: Bool {
    withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      return bytes.indices.contains { bytes[$0] < 0x20 && bytes[$0] != 0x09 && bytes[$0] != 0x0A }
    }
  }
}
