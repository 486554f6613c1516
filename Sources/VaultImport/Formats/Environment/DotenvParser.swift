internal import VaultBytes
internal import VaultWire

/// The parser of files of variables as python-dotenv reads them (src/dotenv/parser.py of theskumar/python-dotenv, 1.2):
///
///     # a comment
///     export NAME=value # another one
///     NAME='as it stands, but for \' and \\'
///     NAME="with \n, \t, \", \\ and others"
///
/// Quoted values may have several lines. A statement that cannot be read is passed over with the rest of its line.
/// Nothing is expanded.
struct DotenvParser {
  /// The reason why a statement cannot be read.
  private struct Fault: Error { let reason: String }

  private let bytes: [UInt8]
  private var at = 0
  private var line = 1
  private var text = EnvironmentText()

  init(_ bytes: [UInt8]) {
    let isMarked = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    self.bytes = Self.withLineFeeds(isMarked ? bytes[3...] : bytes[...])
  }

  /// The text with line feeds alone at the ends of lines, as Python opens files.
  private static func withLineFeeds(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    guard bytes.contains(0x0D) else { return Array(bytes) }
    var (text, isAfterReturn): ([UInt8], Bool) = ([], false)
    for byte in bytes {
      if byte != 0x0A || !isAfterReturn { text.append(byte == 0x0D ? 0x0A : byte) }
      isAfterReturn = byte == 0x0D
    }
    return text
  }

  mutating func readAll() -> EnvironmentText {
    while true {
      while at < bytes.count, Self.isBlank(bytes[at]) || bytes[at] == 0x0A { advance(to: at + 1) }
      guard at < bytes.count else { return text }
      let (start, first) = (at, line)
      do throws(Fault) {
        try readStatement(first)
      } catch {
        advance(to: endOfLine)
        text.refused.append(.init(line: first, reason: error.reason, size: bytes[start..<at].trimmed.count))
      }
    }
  }

  private mutating func readStatement(_ first: Int) throws(Fault) {
    guard !takeComment() else { return }
    takeExport()
    let name = try readName()
    skipBlanks()
    var value: [UInt8]?
    var isQuoted = false
    if at < bytes.count, bytes[at] == UInt8(ascii: "=") {
      at += 1
      skipBlanks()
      isQuoted = at < bytes.count && "'\"".utf8.contains(bytes[at])
      value = isQuoted ? try readQuoted(bytes[at]) : readPlain()
    }
    _ = takeComment()
    skipBlanks()
    guard at == endOfLine else {
      throw Fault(reason: isQuoted ? "there is something after the closing quote" : "there is no = after the name")
    }
    text.variables.append(EnvironmentText.Variable(name: name, value: value, line: first))
  }

  // MARK: Parts

  /// Takes a comment up to the end of the line.
  private mutating func takeComment() -> Bool {
    let start = bytes[at...].firstIndex { !Self.isBlank($0) } ?? bytes.count
    guard start < bytes.count, bytes[start] == UInt8(ascii: "#") else { return false }
    at = endOfLine
    text.comments += bytes[start..<at].trimmed.count
    return true
  }

  private mutating func takeExport() {
    guard bytes[at...].starts(with: "export".utf8), at + 6 < bytes.count, Self.isBlank(bytes[at + 6]) else { return }
    at += 6
    skipBlanks()
  }

  /// Reads a name, which may stand between single quotes.
  private mutating func readName() throws(Fault) -> String {
    let fault = Fault(reason: "it does not begin with the name of a variable")
    let isQuoted = bytes[at...].first == UInt8(ascii: "'")
    let start = isQuoted ? at + 1 : at
    let end = bytes[start...].firstIndex { byte in
      isQuoted ? byte == UInt8(ascii: "'") : "=#\n".utf8.contains(byte) || Self.isBlank(byte)
    }
    guard let end = end ?? (isQuoted ? nil : bytes.count), end > start else { throw fault }
    advance(to: isQuoted ? end + 1 : end)
    return bytes[start..<end].text
  }

  /// Reads up to the end of the line or to a comment after a blank, without the blanks before that.
  private mutating func readPlain() -> [UInt8] {
    let start = at
    at = endOfLine
    let comment = (start..<at).first { index in
      bytes[index] == UInt8(ascii: "#") && index > start && Self.isBlank(bytes[index - 1])
    }
    guard let comment else { return Array(bytes[start..<at].trimmed) }
    text.comments += bytes[comment..<at].trimmed.count
    return Array(bytes[start..<comment].trimmed)
  }

  private mutating func readQuoted(_ quote: UInt8) throws(Fault) -> [UInt8] {
    let quotes = (at + 1..<bytes.count).lazy.filter { [bytes] in bytes[$0] == quote }
    // A backslash before a quote keeps it, unless that leaves no other one.
    guard let end = quotes.first(where: { bytes[$0 - 1] != UInt8(ascii: "\\") }) ?? quotes.last else {
      throw Fault(reason: "the quotes do not end")
    }
    let value = Self.unescaped(bytes[(at + 1)..<end], quote)
    advance(to: end + 1)
    return value
  }

  private static func unescaped(_ value: ArraySlice<UInt8>, _ quote: UInt8) -> [UInt8] {
    var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], value)
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), let next = rest.first, let meant = meant(next, quote) {
        rest.removeFirst()
        result.append(meant)
      } else {
        result.append(byte)
      }
    }
    return result
  }

  /// The byte that an escape stands for; nil if the backslash stands for itself.
  private static func meant(_ escape: UInt8, _ quote: UInt8) -> UInt8? {
    switch escape {
    case UInt8(ascii: "\\"), UInt8(ascii: "'"): escape
    case _ where quote == UInt8(ascii: "'"): nil
    case UInt8(ascii: "\""): escape
    case UInt8(ascii: "a"): 0x07
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "v"): 0x0B
    default: nil
    }
  }

  /// True for a blank that ends no line, as Python's `\s` has them in ASCII.
  private static func isBlank(_ byte: UInt8) -> Bool {
    [0x20, 0x09, 0x0B, 0x0C].contains(byte) || (0x1C...0x1F).contains(byte)
  }

  private mutating func skipBlanks() { while at < bytes.count, Self.isBlank(bytes[at]) { at += 1 } }

  private var endOfLine: Int { bytes[at...].firstIndex(of: 0x0A) ?? bytes.count }

  private mutating func advance(to place: Int) {
    line += bytes[at..<place].count { $0 == 0x0A }
    at = place
  }
}
