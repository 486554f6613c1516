internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The errors in a server's lines.
enum AssuanError: Error, Equatable {
  /// The text is not a line of the protocol. The reason is for the journal and holds nothing of what was sent.
  case malformed(String)
}

/// One line of an Assuan server (libassuan's manual, "Server responses").
enum AssuanReply: ~Copyable {
  case ok
  /// A libgpg-error number: the source in the high bits, the code in the lower sixteen.
  case failed(UInt32)
  /// The decoded bytes of a `D` line.
  case data(SecretBuffer)
  /// A status, a comment or an empty line, which has no effect.
  case other
}

/// The lines of an Assuan server, parsed from bytes as they come. The bytes that it holds and returns are wiped.
struct AssuanReader: ~Copyable {
  /// The longest line in bytes, without its line feed (libassuan's manual: LINELENGTH is 1002 with CR and LF).
  static let longestLine = 1000

  private var held = SecretBuffer(capacity: 2 * longestLine)

  init() {}

  /// True when bytes are left that no line was taken from.
  var hasMore: Bool { held.count > 0 }

  /// Adds bytes that have come.
  mutating func append(_ bytes: RawSpan) { held.append(bytes) }

  /// Takes the next whole line; nil when there is none yet.
  ///
  /// - Throws: when there are more bytes without a line feed than a line may have, or a line is not a reply.
  mutating func next() throws(AssuanError) -> AssuanReply? {
    let end = held.withBytes { bytes -> Int? in
      let bytes = Span<UInt8>(_bytes: bytes)
      return (0..<min(bytes.count, Self.longestLine + 1)).first { bytes[$0] == UInt8(ascii: "\n") }
    }
    guard let end else {
      guard held.count <= Self.longestLine else { throw .malformed("a line is longer than \(Self.longestLine) bytes") }
      return nil
    }
    let reply = try held.withBytes { bytes throws(AssuanError) in
      try Self.parse(Span<UInt8>(_bytes: bytes.extracting(0..<end)))
    }
    held.removeFirst(end + 1)
    return reply
  }

  private static func parse(_ line: Span<UInt8>) throws(AssuanError) -> AssuanReply {
    if line.count == 0 || line[0] == UInt8(ascii: "#") { return .other }
    if begins(line, "D ") { return .data(try decoded(line)) }
    if isWord(line, "OK") { return .ok }
    if begins(line, "ERR ") { return .failed(try number(line, from: 4)) }
    if isWord(line, "S") { return .other }
    // `INQUIRE` asks for data that this client does not have, and `END` answers nothing.
    throw .malformed("a line is not a reply")
  }

  private static func isWord(_ line: Span<UInt8>, _ word: StaticString) -> Bool {
    begins(line, word)
      && (line.count == word.utf8CodeUnitCount || line[word.utf8CodeUnitCount] == UInt8(ascii: " "))
  }

  private static func begins(_ line: Span<UInt8>, _ word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard line.count >= count else { return false }
    // The literal has `count` bytes and lives as long as the program.
    return (0..<count).allSatisfy { unsafe line[$0] == word.utf8Start[$0] }
  }

  private static func number(_ line: Span<UInt8>, from start: Int) throws(AssuanError) -> UInt32 {
    var number: UInt32 = 0
    var index = start
    while index < line.count, case let digit = line[index], (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
      let (ten, tooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflow) = ten.addingReportingOverflow(UInt32(digit - UInt8(ascii: "0")))
      guard !tooLarge, !overflow else { throw .malformed("the number of an error is too large") }
      number = sum
      index += 1
    }
    guard index > start, index == line.count || line[index] == UInt8(ascii: " ") else {
      throw .malformed("an error has no number")
    }
    return number
  }

  private static func decoded(_ line: Span<UInt8>) throws(AssuanError) -> SecretBuffer {
    var data = SecretBuffer(capacity: line.count)
    var index = 2
    while index < line.count {
      guard line[index] == UInt8(ascii: "%") else {
        data.append(line[index])
        index += 1
        continue
      }
      guard index + 2 < line.count, let high = hexDigit(line[index + 1]), let low = hexDigit(line[index + 2]) else {
        throw .malformed("an escape is not a byte")
      }
      data.append(high << 4 | low)
      index += 3
    }
    return data
  }
}

/// The commands of an Assuan client.
enum AssuanCommand {
  /// The most bytes of a command's text, so that the whole line stays within the protocol's limit.
  private static let longestText = 900

  /// Returns true when all of `text` fits into a line.
  static func isWhole(_ text: String) -> Bool {
    text.unicodeScalars.reduce(0) { $0 + escaped($1).utf8.count } <= longestText
  }

  /// The line of `command` followed by `text`, which is escaped and cut to the length that a line may have.
  static func line(_ command: String, _ text: String) -> String {
    var line = ""
    var count = 0
    for scalar in text.unicodeScalars {
      let piece = escaped(scalar)
      guard count + piece.utf8.count <= longestText else {
        line += "…"
        break
      }
      line += piece
      count += piece.utf8.count
    }
    return "\(command) \(line)\n"
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "%": "%25"
    case "\n": "%0A"
    case _ where scalar.value < 0x20 || scalar.value == 0x7F: "?"
    default: String(scalar)
    }
  }
}
