internal import Glibc
internal import VaultModel
internal import VaultWire

/// What another program writes to its helper's standard input.
enum HelperInput {
  /// More than a value may have, and the text about it.
  static let limit = 2 << 20

  /// All of it.
  static func whole() throws(Failure) -> SecretBuffer {
    try FileInput.readAll(STDIN_FILENO, limit: limit, name: "standard input")
  }

  /// The lines up to an empty one or the end, which a program that goes on to wait may not make.
  static func paragraph() throws(Failure) -> SecretBuffer {
    var text = SecretBuffer(capacity: 4096)
    var searched = 0
    while true {
      let end = text.withBytes { bytes in endOfParagraph(Span<UInt8>(_bytes: bytes), from: max(0, searched - 1)) }
      if let end {
        text.truncate(to: end)
        return text
      }
      searched = text.count
      let count = FileInput.read(STDIN_FILENO, into: &text, atMost: 4096)
      if count == 0 { return text }
      if count < 0, errno != EINTR { throw Failure(.io, "cannot read standard input: \(Output.describe(errno))") }
      if text.count > limit { throw Failure(.invalid, "standard input holds more than \(limit) bytes", "give less") }
    }
  }

  /// The place of the newline that is an empty line.
  private static func endOfParagraph(_ text: Span<UInt8>, from start: Int) -> Int? {
    if text.count > 0, text[0] == 0x0A { return 0 }
    for index in start..<max(start, text.count - 1) where text[index] == 0x0A && text[index + 1] == 0x0A {
      return index + 1
    }
    return nil
  }
}

extension HelperInput {
  /// All of it as a name or a URL, which is no secret, without white space around it.
  static func text() throws(Failure) -> String {
    let text = try whole().withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
      let start = bytes.indices.first { !isBlank(bytes[$0]) } ?? bytes.count
      let end = bytes.indices.last { !isBlank(bytes[$0]) }.map { $0 + 1 } ?? start
      return String(validating: (start..<end).map { bytes[$0] }, as: UTF8.self)
    }
    guard let text else { throw Failure(.invalid, "standard input is not UTF-8") }
    return text
  }

  /// The JSON object that a text is.
  static func object(_ text: borrowing SecretBuffer, _ name: String = "standard input") throws(Failure) -> Frame {
    do throws(FrameError) {
      return try text.withBytes { bytes throws(FrameError) in try Frame(parsing: bytes) }
    } catch {
      throw Failure(.invalid, "\(name) is not the JSON object that it should be: \(error.reason)")
    }
  }
}

extension Frame {
  /// The text of a member of the object, which is no secret; nil where there is none.
  borrowing func text(_ key: StaticString) -> String? { text(key, of: root) }

  borrowing func text(_ key: StaticString, of object: Node) -> String? {
    member(key, of: object).flatMap { string($0) }
  }
}

extension JSONWriter {
  /// Writes the value of an item, which has to be text.
  mutating func secret(_ value: borrowing SecretBuffer, of item: String) throws(Failure) {
    guard value.withBytes({ Content.isText($0) }) else {
      throw Failure(.invalid, "\(Printable.quoted(item)) is no text, which this protocol cannot carry", "store another")
    }
    value.withBytes { secret($0) }
  }
}
