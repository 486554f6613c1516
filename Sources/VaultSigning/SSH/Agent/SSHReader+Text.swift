extension SSHReader {
  /// A text in UTF-8 of at most `limit` bytes and without NUL, which a C program would end it at and so read another text.
  mutating func text(_ input: RawSpan, atMost limit: Int) throws(SSHFormatError) -> String {
    var ahead = self
    let range = try ahead.string(input)
    guard range.count <= limit else { throw SSHFormatError("a text is too long") }
    for place in range where input.byte(place) == 0 { throw SSHFormatError("a text has a NUL") }
    return try text(input)
  }
}
