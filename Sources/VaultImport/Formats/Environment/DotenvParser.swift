internal import VaultBytes
internal import VaultWire

/// The parser of files of variables as dotenv and `vault run --env-file` read them:
///
///     # a comment
///     export NAME=value # another one
///     NAME='as it stands'
///     NAME="with \n, \r, \t, \", \\ and \$"
///
/// Quoted values may have several lines. Nothing is expanded.
struct DotenvParser {
  private let bytes: [UInt8]
  private var at = 0
  private var line = 1
  private var text = EnvironmentText()

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
  }

  mutating func readAll() throws(ImportFailure) -> EnvironmentText {
    while at < bytes.count {
      skipBlanks()
      if at < bytes.count, !isAtEndOfLine { try readVariable() }
      takeComment()
      at += 1
      line += 1
    }
    return text
  }

  /// Passes over a comment up to the end of the line.
  private mutating func takeComment() {
    let start = at
    while at < bytes.count, bytes[at] != 0x0A { at += 1 }
    let comment = bytes[min(start, bytes.count)..<at].trimmed
    text.comments += comment.count
  }

  private mutating func readVariable() throws(ImportFailure) {
    let start = line
    var name = readName()
    if name == "export", at < bytes.count, bytes[at] == 0x20 || bytes[at] == 0x09 {
      skipBlanks()
      name = readName()
    }
    guard !name.isEmpty else { throw damaged(start, "it does not begin with the name of a variable") }
    skipBlanks()
    guard at < bytes.count, bytes[at] == UInt8(ascii: "=") else {
      guard isAtEndOfLine else { throw damaged(start, "there is no = after the name") }
      return text.variables.append(EnvironmentText.Variable(name: name, value: nil, line: start))
    }
    at += 1
    skipBlanks()
    let quote = at < bytes.count ? bytes[at] : 0
    let isQuoted = "'\"`".utf8.contains(quote)
    let value = isQuoted ? try readQuoted(quote) : readPlain()
    skipBlanks()
    if isQuoted, !isAtEndOfLine { throw damaged(line, "there is something after the closing quote") }
    text.variables.append(EnvironmentText.Variable(name: name, value: value, line: start))
  }

  private mutating func readName() -> String {
    let start = at
    while at < bytes.count, Self.isOfName(bytes[at]) { at += 1 }
    return bytes[start..<at].text
  }

  /// Letters, digits, `_`, `.` and `-`, as in dotenv.
  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Reads up to the end of the line or to a comment after a blank, without the blanks before that.
  private mutating func readPlain() -> [UInt8] {
    let start = at
    while at < bytes.count, bytes[at] != 0x0A {
      if bytes[at] == UInt8(ascii: "#"), at == start || bytes[at - 1] == 0x20 || bytes[at - 1] == 0x09 { break }
      at += 1
    }
    return Array(bytes[start..<at].trimmed)
  }

  private mutating func readQuoted(_ quote: UInt8) throws(ImportFailure) -> [UInt8] {
    let start = line
    var value: [UInt8] = []
    at += 1
    while at < bytes.count, bytes[at] != quote {
      if bytes[at] == 0x0A { line += 1 }
      if quote == UInt8(ascii: "\""), bytes[at] == UInt8(ascii: "\\"), at + 1 < bytes.count,
        let meant = Self.meant(bytes[at + 1])
      {
        value.append(meant)
        at += 2
      } else {
        value.append(bytes[at])
        at += 1
      }
    }
    guard at < bytes.count else { throw damaged(start, "the quotes do not end") }
    at += 1
    return value
  }

  /// The byte that an escape stands for; nil if the backslash stands for itself.
  private static func meant(_ escape: UInt8) -> UInt8? {
    switch escape {
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"): escape
    default: nil
    }
  }

  private mutating func skipBlanks() {
    while at < bytes.count, bytes[at] == 0x20 || bytes[at] == 0x09 { at += 1 }
  }

  private var isAtEndOfLine: Bool {
    at >= bytes.count || bytes[at] == 0x0A || bytes[at] == UInt8(ascii: "#")
      || bytes[at] == 0x0D && (at + 1 == bytes.count || bytes[at + 1] == 0x0A)
  }

  private func damaged(_ line: Int, _ reason: String) -> ImportFailure {
    ImportFailure(.damaged, "line \(line): \(reason)")
  }
}
