/// The keys that a person types while picking an item.
struct PickKeys {
  enum Key: Equatable {
    case text(String)
    case up, down, pageUp, pageDown, first, last
    case backspace, word, line
    case enter
    /// Escape alone, or control-D.
    case leave
    case redraw

    /// True for a key that only changes the typed text.
    var types: Bool {
      switch self {
      case .text, .backspace, .word, .line: true
      default: false
      }
    }
  }

  private var rest: [UInt8] = []

  /// True if the next byte decides which key was pressed: escape alone, or the beginning of another key.
  var isOpen: Bool { !rest.isEmpty }

  /// Takes bytes from the terminal.
  ///
  /// - Returns: the keys that are complete by now.
  mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
    rest += bytes
    var keys: [Key] = []
    while let (key, count) = next() {
      rest.removeFirst(count)
      if let key { keys.append(key) }
    }
    return keys
  }

  /// Returns the keys that arrived together, without the line breaks before the last text: these were pasted, and
  /// choose nothing.
  static func withoutPastedBreaks(_ keys: [Key]) -> [Key] {
    let lastText = keys.lastIndex { if case .text = $0 { true } else { false } } ?? -1
    return keys.enumerated().compactMap { $1 == .enter && $0 < lastText ? nil : $1 }
  }

  /// Ends an incomplete key after which no byte arrived, and returns the key that it stands for.
  mutating func close() -> Key? {
    defer { rest = [] }
    return rest == [0x1B] ? .leave : nil
  }

  /// Returns the next key and the number of its bytes. The key is nil if it has no meaning; the result is nil if the
  /// key is incomplete.
  private func next() -> (Key?, Int)? {
    guard let byte = rest.first else { return nil }
    switch byte {
    case 0x1B: return escape()
    case 0x0A, 0x0D: return (.enter, 1)
    case 0x04: return (.leave, 1)
    case 0x08, 0x7F: return (.backspace, 1)
    case 0x0C: return (.redraw, 1)
    case 0x0E: return (.down, 1)
    case 0x10: return (.up, 1)
    case 0x15: return (.line, 1)
    case 0x17: return (.word, 1)
    case 0..<0x20: return (nil, 1)
    default: return character(byte)
    }
  }

  private func character(_ byte: UInt8) -> (Key?, Int)? {
    let count = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
    // A byte that can neither begin nor continue a character is skipped.
    if byte >= 0x80, !(0xC2...0xF4).contains(byte) { return (nil, 1) }
    let bytes = rest.prefix(count)
    if let stray = bytes.dropFirst().firstIndex(where: { $0 & 0xC0 != 0x80 }) { return (nil, stray) }
    guard bytes.count == count else { return nil }
    return (String(validating: bytes, as: UTF8.self).map { .text($0) }, count)
  }

  /// Returns a key of several bytes, in the forms of ECMA-48, 5.4: ESC O and one byte, or ESC [ and bytes up to the
  /// first one at or above `@`.
  private func escape() -> (Key?, Int)? {
    guard rest.count > 1 else { return nil }
    guard rest[1] == UInt8(ascii: "[") || rest[1] == UInt8(ascii: "O") else {
      // Escape, soon followed by another key.
      return rest[1] == 0x1B ? (.leave, 1) : (nil, 2)
    }
    guard let end = rest.dropFirst(2).firstIndex(where: { !(0x20...0x3F).contains($0) }) else { return nil }
    let key: Key? =
      switch String(decoding: rest[2...end], as: UTF8.self) {
      case "A": .up
      case "B": .down
      case "5~": .pageUp
      case "6~": .pageDown
      case "H", "1~": .first
      case "F", "4~": .last
      default: nil
      }
    return (key, end + 1)
  }
}
