internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A file with one variable per line, in the manner of `.env` files. A value `vault:ITEM` stands for that item.
///
///     # a comment
///     export NAME=value # another one
///     NAME='as it stands, $ and \ as well'
///     NAME="with \n, \r, \t, \", \\ and \$"
///     NAME=vault:owm/appid
///
/// Quoted values may have several lines. Nothing is expanded: a `$` is a `$`.
struct EnvironmentFile {
  /// The most bytes of a file.
  static let limit = 1 << 20
  private static let scheme: StaticString = "vault:"

  /// The reason why the file cannot be read. The reason quotes nothing of the file, which may hold secrets.
  struct Fault: Error, Equatable {
    let line: Int
    let reason: String
  }

  /// The file's path, for errors about its items.
  private let path: String
  private var at = 0
  private var line = 1

  init(path: String) { self.path = path }

  /// A line of a file, as errors name it.
  static func place(_ path: String, line: Int) -> String { "\(Printable.text(path)), line \(line)" }

  mutating func read(_ text: Span<UInt8>, into variables: inout Variables) throws(Fault) {
    // Some editors write a byte order mark.
    if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { at = 3 }
    while at < text.count {
      skipBlanks(text)
      if isAtEndOfLine(text) {
        skipLine(text)
      } else {
        try readDefinition(text, into: &variables)
      }
    }
  }

  private mutating func readDefinition(_ text: Span<UInt8>, into variables: inout Variables) throws(Fault) {
    var name = readName(text)
    if name == "export", at < text.count, Self.isBlank(text[at]) {
      skipBlanks(text)
      name = readName(text)
    }
    guard VariableName.isValid(name.utf8) else { throw fault("it does not begin with the name of a variable") }
    skipBlanks(text)
    guard at < text.count, text[at] == UInt8(ascii: "=") else {
      throw fault("there is no = after the name, which has only letters, digits and _")
    }
    at += 1
    skipBlanks(text)
    var value = SecretBuffer()
    let begin = line
    let quote = at < text.count ? text[at] : 0
    let isQuoted = quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"")
    if isQuoted {
      try readQuoted(text, quote, into: &value)
      let isApart = at < text.count && Self.isBlank(text[at])
      skipBlanks(text)
      guard isAtEndOfLine(text), isApart || at == text.count || text[at] != UInt8(ascii: "#") else {
        throw fault("there is something after the closing quote")
      }
    } else {
      readPlain(text, into: &value)
      if value.withBytes({ Self.isMisspelled($0) }) {
        throw fault(
          "vault: is written in small letters; put the value between quotes if it is not the name of an item")
      }
    }
    skipLine(text)
    try value.withBytes { bytes throws(Fault) in try define(name, as: bytes, line: begin, in: &variables) }
  }

  private func define(
    _ name: String, as value: RawSpan, line: Int, in variables: inout Variables
  ) throws(Fault) {
    let bytes = Span<UInt8>(_bytes: value)
    if bytes.contains(0) { throw Fault(line: line, reason: "it has a NUL byte, which no variable can hold") }
    guard value.hasPrefix(Self.scheme) else { return variables.set(name, to: value) }
    let reference = (Self.scheme.utf8CodeUnitCount..<bytes.count).map { bytes[$0] }
    guard let text = String(validating: reference, as: UTF8.self) else {
      throw Fault(line: line, reason: "the name after vault: is not UTF-8")
    }
    do throws(ItemReference.Fault) {
      variables.set(name, to: try ItemReference(parsing: text), at: Self.place(path, line: line))
    } catch {
      throw Fault(line: line, reason: "the text after vault: is not the name of an item: \(error.reason)")
    }
  }

  /// True for a value that begins like a reference, but with a capital letter in `vault:`.
  private static func isMisspelled(_ value: RawSpan) -> Bool {
    let bytes = Span<UInt8>(_bytes: value)
    let count = scheme.utf8CodeUnitCount
    guard bytes.count >= count, !value.hasPrefix(scheme) else { return false }
    return (0..<count).allSatisfy { index in
      let byte = bytes[index]
      return (0x41...0x5A).contains(byte) ? byte | 0x20 == scheme.byte(index) : byte == scheme.byte(index)
    }
  }

  // MARK: Parts of a line

  private mutating func readName(_ text: Span<UInt8>) -> String {
    var name: [UInt8] = []
    while at < text.count, VariableName.isPart(text[at]) {
      name.append(text[at])
      at += 1
    }
    return String(decoding: name, as: UTF8.self)
  }

  /// Reads up to the end of the line or to a comment, without the blanks before that.
  private mutating func readPlain(_ text: Span<UInt8>, into value: inout SecretBuffer) {
    var kept = 0
    while at < text.count, text[at] != 0x0A {
      let byte = text[at]
      if byte == UInt8(ascii: "#"), value.count > kept || value.count == 0 { break }
      at += 1
      value.append(byte)
      if !Self.isBlank(byte), byte != 0x0D { kept = value.count }
    }
    value.truncate(to: kept)
  }

  private mutating func readQuoted(
    _ text: Span<UInt8>, _ quote: UInt8, into value: inout SecretBuffer
  ) throws(Fault) {
    let begin = line
    at += 1
    while at < text.count, text[at] != quote {
      var byte = text[at]
      if byte == 0x0A { line += 1 }
      if quote == UInt8(ascii: "\""), byte == UInt8(ascii: "\\"), at + 1 < text.count,
        let meant = Self.meant(text[at + 1])
      {
        at += 1
        byte = meant
      }
      value.append(byte)
      at += 1
    }
    guard at < text.count else { throw Fault(line: begin, reason: "the quote is not closed") }
    at += 1
  }

  /// Returns the byte that an escape stands for; nil if the backslash stands for itself.
  private static func meant(_ escape: UInt8) -> UInt8? {
    switch escape {
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"): escape
    default: nil
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private mutating func skipBlanks(_ text: Span<UInt8>) {
    while at < text.count, Self.isBlank(text[at]) { at += 1 }
  }

  /// Returns true if nothing but a comment can follow on the line.
  private func isAtEndOfLine(_ text: Span<UInt8>) -> Bool {
    guard at < text.count else { return true }
    if text[at] == 0x0D { return at + 1 == text.count || text[at + 1] == 0x0A }
    return text[at] == 0x0A || text[at] == UInt8(ascii: "#")
  }

  private mutating func skipLine(_ text: Span<UInt8>) {
    while at < text.count, text[at] != 0x0A { at += 1 }
    at += 1
    line += 1
  }

  private func fault(_ reason: String) -> Fault { Fault(line: line, reason: reason) }
}

extension RawSpan {
  /// Returns true if these bytes begin with the bytes of a literal.
  func hasPrefix(_ literal: StaticString) -> Bool {
    guard byteCount >= literal.utf8CodeUnitCount else { return false }
    let bytes = Span<UInt8>(_bytes: self)
    // The literal lives as long as the program.
    for index in 0..<literal.utf8CodeUnitCount where unsafe bytes[index] != literal.utf8Start[index] { return false }
    return true
  }
}
