package import VaultBytes
internal import VaultWire

/// A line while it is typed on a terminal, byte by byte.
package struct TypedLine: ~Copyable {
  package enum Step { case more, done, end }

  package private(set) var bytes = SecretBuffer(capacity: 256)
  /// True if this type handles the editing keys; otherwise the kernel has already done so.
  private let edits: Bool

  package init(edits: Bool) { self.edits = edits }

  /// Takes the byte of a key: backspace removes a character, control-W a word, control-U the line, and control-D ends
  /// the line. The marks around a paste are left out.
  package mutating func take(_ byte: UInt8) -> Step {
    switch byte {
    case 0x0A, 0x0D: return .done
    case 0x04 where edits: return bytes.count == 0 ? .end : .done
    case 0x15 where edits: bytes.removeAll()
    case 0x17 where edits: bytes.truncate(to: bytes.countWithoutLastWord(from: 0))
    case 0x08 where edits, 0x7F where edits: removeCharacter()
    default:
      bytes.append(byte)
      if byte == UInt8(ascii: "~"), PasteMark.ends(bytes) { bytes.truncate(to: bytes.count - PasteMark.count) }
    }
    return .more
  }

  package consuming func finish() -> SecretBuffer { bytes }

  private mutating func removeCharacter() {
    let kept = bytes.withBytes { bytes in
      let line = Span<UInt8>(_bytes: bytes)
      var end = max(0, line.count - 1)
      // The continuation bytes of UTF-8 belong to the byte before them.
      while end > 0, line[end] & 0xC0 == 0x80 { end -= 1 }
      return end
    }
    bytes.truncate(to: kept)
  }
}

extension SecretBuffer {
  /// The number of bytes that stay when the last word of a line is removed. As on a terminal (termios(3), VWERASE),
  /// this removes the blanks at the end, and everything before them back to the next blank.
  ///
  /// - Parameter start: the place at which the line begins.
  package func countWithoutLastWord(from start: Int) -> Int {
    withBytes { bytes in
      let line = Span<UInt8>(_bytes: bytes)
      func isBlank(_ place: Int) -> Bool { line[place] == 0x20 || line[place] == 0x09 }
      var end = line.count
      while end > start, isBlank(end - 1) { end -= 1 }
      while end > start, !isBlank(end - 1) { end -= 1 }
      return end
    }
  }
}
