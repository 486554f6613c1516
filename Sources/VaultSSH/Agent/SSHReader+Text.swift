internal import VaultBytes
internal import VaultSigning

extension SSHReader {
  /// Reads a UTF-8 text of at most `limit` bytes without NUL. A C program would end the text at a NUL, and
  /// so read another text.
  mutating func text(_ input: RawSpan, atMost limit: Int) throws(SSHFormatError) -> String {
    var ahead = self
    let range = try ahead.string(input)
    guard range.count <= limit else { throw SSHFormatError("a text is too long") }
    for place in range where input.byte(place) == 0 { throw SSHFormatError("a text has a NUL") }
    return try text(input)
  }
}
