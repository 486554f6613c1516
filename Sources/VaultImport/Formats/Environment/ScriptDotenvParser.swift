internal import VaultBytes
internal import VaultWire

/// The parser of files of variables as dotenv of JavaScript reads them (lib/main.js of motdotla/dotenv, 17), with
/// which other readings are compared: values between quotes, among them backquotes, and otherwise up to any `#`.
struct ScriptDotenvParser {
  private let bytes: [UInt8]
  private var at = 0
  private var line = 1
  private var text = EnvironmentText()

  init(_ bytes: [UInt8]) { self.bytes = Array(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]) }

  mutating func readAll() -> EnvironmentText {
    while at < bytes.count {
      if let variable = readVariable() { text.variables.append(variable) }
      // The rest of the line means nothing.
      advance(to: min(endOfLine + 1, bytes.count))
    }
    return text
  }

  private mutating func readVariable() -> EnvironmentText.Variable? {
    skipBlanks()
    if bytes[at...].starts(with: "export".utf8), at + 6 < bytes.count, bytes[at + 6].isBlank {
      at += 6
      skipBlanks()
    }
    let name = bytes[at...].prefix { Self.isOfName($0) }
    at = name.endIndex
    guard !name.isEmpty else { return nil }
    skipBlanks()
    guard at < endOfLine, bytes[at] == UInt8(ascii: "=") || isColon(after: name) else { return nil }
    at += 1
    skipBlanks()
    let first = line
    return EnvironmentText.Variable(name: name.text, value: readQuoted() ?? readPlain(), line: first)
  }

  /// True for a colon right after the name with a blank after it, which is as good as a `=`.
  private func isColon(after name: ArraySlice<UInt8>) -> Bool {
    bytes[at] == UInt8(ascii: ":") && at == name.endIndex && at + 1 < bytes.count && bytes[at + 1].isBlank
  }

  /// Letters, digits, `_`, `.` and `-`.
  static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Reads a value between quotes; nil if there is none, or if something but a comment follows it.
  private mutating func readQuoted() -> [UInt8]? {
    guard at < bytes.count, "'\"`".utf8.contains(bytes[at]) else { return nil }
    let quote = bytes[at]
    guard let end = (at + 1..<bytes.count).first(where: { bytes[$0] == quote && bytes[$0 - 1] != UInt8(ascii: "\\") })
    else { return nil }
    let after = bytes[(end + 1)...].prefix { $0 != 0x0A }.trimmed
    guard after.isEmpty || after.first == UInt8(ascii: "#") else { return nil }
    let value = bytes[(at + 1)..<end].filter { $0 != 0x0D }
    advance(to: end + 1)
    return quote == UInt8(ascii: "\"") ? Self.expanded(value) : value
  }

  /// The value with line breaks in place of `\n` and `\r`, which are the only escapes.
  private static func expanded(_ value: [UInt8]) -> [UInt8] {
    var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], value[...])
    while let byte = rest.popFirst() {
      switch (byte, rest.first) {
      case (UInt8(ascii: "\\"), UInt8(ascii: "n")): result.append(0x0A)
      case (UInt8(ascii: "\\"), UInt8(ascii: "r")): result.append(0x0D)
      default:
        result.append(byte)
        continue
      }
      rest.removeFirst()
    }
    return result
  }

  private mutating func readPlain() -> [UInt8] {
    var value = bytes[at..<endOfLine].prefix { $0 != UInt8(ascii: "#") }.trimmed
    at = endOfLine
    let quote = value.first ?? 0
    // A whole value between quotes loses them, whatever stands between these.
    if value.count > 1, "'\"`".utf8.contains(quote), value.last == quote { value = value.dropFirst().dropLast() }
    return quote == UInt8(ascii: "\"") ? Self.expanded(Array(value)) : Array(value)
  }

  private mutating func skipBlanks() { while at < endOfLine, bytes[at].isBlank { at += 1 } }

  private var endOfLine: Int { bytes[at...].firstIndex(of: 0x0A) ?? bytes.count }

  private mutating func advance(to place: Int) {
    line += bytes[at..<place].count { $0 == 0x0A }
    at = place
  }
}
