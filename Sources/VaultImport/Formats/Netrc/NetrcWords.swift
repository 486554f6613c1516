/// The words of a `.netrc`, as curl's lib/netrc.c divides it: words without blanks; words between double quotes, in
/// which `\n`, `\r` and `\t` are escapes and any other character after a backslash stands for itself; and comments from
/// a word that begins with `#` to the end of the line.
struct NetrcWords {
  struct Word {
    let line: Int
    let bytes: [UInt8]
    let isQuoted: Bool
    /// True if the quotes do not end.
    var isOpen = false
    /// The programs that read the word in another way; nil if there are none.
    var otherReading: String?

    /// The keyword that the word is; nil for any other word.
    var keyword: NetrcKeyword? {
      isQuoted || bytes.count > 16 ? nil : NetrcKeyword(String(decoding: bytes.map(\.lowercased), as: UTF8.self))
    }
  }

  private var rest: ArraySlice<UInt8>
  private(set) var line = 1
  /// The bytes of all comments.
  private(set) var comments = 0

  init(_ bytes: [UInt8]) { rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...] }

  /// Takes the next word; nil at the end.
  ///
  /// - Parameter isValue: true after a keyword, where a `#` in the same line begins no comment.
  mutating func next(isValue: Bool = false) -> Word? {
    let start = line
    while let byte = rest.first {
      if byte == UInt8(ascii: "#"), !isValue || line > start {
        comments += takeLine().count
      } else if byte.isBlank {
        if byte == 0x0A { line += 1 }
        rest = rest.dropFirst()
      } else {
        return byte == UInt8(ascii: "\"") ? quoted() : plain()
      }
    }
    return nil
  }

  /// Takes the rest of the line with its end.
  mutating func takeLine() -> ArraySlice<UInt8> {
    let content = rest.prefix { $0 != 0x0A }
    let isEnded = content.endIndex < rest.endIndex
    if isEnded { line += 1 }
    rest = rest.dropFirst(content.count + (isEnded ? 1 : 0))
    return content
  }

  /// True if nothing follows.
  var isAtEnd: Bool { rest.isEmpty }

  private mutating func plain() -> Word {
    let word = rest.prefix { !$0.isBlank }
    rest = rest.dropFirst(word.count)
    let other: String? =
      if word.contains(UInt8(ascii: "\\")) {
        "Python and ftp(1) take a backslash as an escape; the value is as curl and git read it"
      } else if word.first == UInt8(ascii: "#") {
        "curl and git take # as the beginning of a comment; the value is as Python reads it"
      } else if word.contains(UInt8(ascii: ",")) {
        "ftp(1) takes a comma as the end of a word; the value is as curl, git and Python read it"
      } else {
        nil
      }
    return Word(line: line, bytes: Array(word), isQuoted: false, otherReading: other)
  }

  private mutating func quoted() -> Word {
    let start = line
    var (bytes, isEscaped, hasBreak): ([UInt8], Bool, Bool) = ([], false, false)
    rest = rest.dropFirst()
    while let byte = rest.popFirst() {
      if byte == 0x0A { line += 1 }
      if isEscaped {
        let meant = Self.escapes[byte]
        hasBreak = hasBreak || meant != nil
        bytes.append(meant ?? byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        let other = hasBreak ? "Python and ftp(1) read \\n, \\r and \\t as letters; the value is as curl reads it" : nil
        return Word(line: start, bytes: bytes, isQuoted: true, otherReading: other)
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else {
        bytes.append(byte)
      }
    }
    return Word(line: start, bytes: bytes, isQuoted: true, isOpen: true)
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
  ]
}

/// The keywords of a `.netrc`: those of GNU inetutils' ftp(1), curl and Python, and those that Emacs adds in
/// `.authinfo`.
enum NetrcKeyword {
  case machine, `default`, login, password, account, macdef, port, force

  init?(_ text: String) {
    switch text {
    case "machine", "host": self = .machine
    case "default": self = .default
    case "login", "user": self = .login
    case "password", "passwd": self = .password
    case "account": self = .account
    case "macdef": self = .macdef
    case "port", "protocol", "service": self = .port
    case "force": self = .force
    default: return nil
    }
  }
}
