internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The input that another program writes to its helper's standard input.
enum HelperInput {
  /// The most bytes of the input: room for the largest value and the text around it.
  static let limit = 2 << 20

  /// Reads all of the input.
  static func whole() throws(Failure) -> SecretBuffer {
    try FileInput.readAll(STDIN_FILENO, limit: limit, name: "standard input")
  }

  /// Reads the lines up to an empty line or the end of the input. The other program may keep its end of the pipe open
  /// while it waits for the answer, so the empty line must be enough.
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

  /// The offset of the newline that forms an empty line; nil if there is none.
  private static func endOfParagraph(_ text: Span<UInt8>, from start: Int) -> Int? {
    if text.count > 0, text[0] == 0x0A { return 0 }
    for index in start..<max(start, text.count - 1) where text[index] == 0x0A && text[index + 1] == 0x0A {
      return index + 1
    }
    return nil
  }
}

extension HelperInput {
  /// Reads all of the input as a name or a URL, which is no secret, without the white space around it.
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

  /// Parses a text as a JSON object.
  static func object(_ text: borrowing SecretBuffer, _ name: String = "standard input") throws(Failure) -> Frame {
    do throws(FrameError) {
      return try text.withBytes { bytes throws(FrameError) in try Frame(parsing: bytes) }
    } catch {
      throw Failure(.invalid, "\(name) is not the expected JSON object: \(error.reason)")
    }
  }
}

extension Frame {
  /// The text of a member of the object, which is no secret; nil if there is none.
  borrowing func text(_ key: StaticString) -> String? { text(key, of: root) }

  borrowing func text(_ key: StaticString, of object: Node) -> String? {
    member(key, of: object).flatMap { string($0) }
  }
}

extension JSONBuilder {
  /// Adds the value of an item, which must be text.
  mutating func add(_ key: String, _ value: borrowing SecretBuffer, of item: String) throws(Failure) {
    try value.withBytes { bytes throws(Failure) in try CarriedForm.text.check(bytes, of: item) }
    value.withBytes { add(key, secret: $0) }
  }
}
