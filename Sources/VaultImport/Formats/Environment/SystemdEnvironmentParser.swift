internal import VaultWire

/// The parser of files of variables as systemd reads them (basic/env-file.c, `parse_env_file_internal`).
struct SystemdEnvironmentParser {
  private var rest: ArraySlice<UInt8>
  private var line = 1
  private var text = EnvironmentText()

  init(_ bytes: [UInt8]) { rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...] }

  mutating func readAll() throws(ImportFailure) -> EnvironmentText {
    while let first = rest.first {
      if first.isBlank {
        _ = take()
      } else if first == UInt8(ascii: "#") || first == UInt8(ascii: ";") {
        while let byte = rest.first, byte != 0x0A {
          // A backslash lets a comment go on in the next line, too.
          if byte == UInt8(ascii: "\\") { _ = take() }
          if take() != nil { text.comments += 1 }
        }
      } else {
        try readVariable()
      }
    }
    return text
  }

  private mutating func take() -> UInt8? {
    let byte = rest.popFirst()
    if byte == 0x0A { line += 1 }
    return byte
  }

  private mutating func readVariable() throws(ImportFailure) {
    let start = line
    let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != 0x0A }
    rest = rest.dropFirst(name.count)
    guard rest.first == UInt8(ascii: "=") else {
      // systemd passes over a line without a value.
      return text.variables.append(EnvironmentText.Variable(name: name.trimmed.text, value: nil, line: start))
    }
    _ = take()
    let value = try readValue(start)
    text.variables.append(EnvironmentText.Variable(name: name.trimmed.text, value: value, line: start))
  }

  private mutating func readValue(_ start: Int) throws(ImportFailure) -> [UInt8] {
    // The number of bytes without the blanks at the end, which count only between quotes or after a backslash.
    var (value, kept): ([UInt8], Int) = ([], 0)
    // Quotes have a meaning, and blanks have none, at the beginning and after other quotes.
    var isBetween = true
    while let byte = take(), byte != 0x0A, byte != 0x0D {
      switch byte {
      case UInt8(ascii: "'") where isBetween, UInt8(ascii: "\"") where isBetween:
        try readQuoted(byte, start, into: &value)
        kept = value.count
      case UInt8(ascii: "\\"):
        isBetween = false
        guard let escaped = take() else { break }
        if escaped != 0x0A, escaped != 0x0D { value.append(escaped) }
        kept = value.count
      case 0x20 where isBetween, 0x09 where isBetween: break
      default:
        isBetween = false
        value.append(byte)
        if !byte.isBlank { kept = value.count }
      }
    }
    return Array(value.prefix(kept))
  }

  private mutating func readQuoted(
    _ quote: UInt8, _ start: Int, into value: inout [UInt8]
  ) throws(ImportFailure) {
    while let byte = take() {
      if byte == quote { return }
      guard byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let escaped = take() else {
        value.append(byte)
        continue
      }
      // As in a shell, the backslash stays before a character that needs none.
      if escaped == 0x0A { continue }
      if !"\"\\`$".utf8.contains(escaped) { value.append(byte) }
      value.append(escaped)
    }
    throw ImportFailure(.damaged, "line \(start): the quotes do not end")
  }
}
