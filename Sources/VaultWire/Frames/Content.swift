public import VaultBytes

// The form of a value in a message: text if the value can be read as such, otherwise base64 (`data`).
extension JSONWriter {
  /// The most bytes of a text with its escapes. A message has no room for a value of 1 MiB that is mostly quotes or
  /// line breaks.
  private static let longestText = 3 << 19

  /// Writes the member for a secret: `name` if the secret is text that is not too long with its escapes, otherwise
  /// `data`.
  public mutating func content(_ bytes: RawSpan, as name: StaticString = "value") {
    if bytes.isText, Self.hasRoom(for: bytes) {
      text(bytes, as: name)
    } else {
      key("data")
      base64(bytes)
    }
  }

  private static func hasRoom(for text: RawSpan) -> Bool {
    // An escape has two bytes.
    if text.byteCount <= longestText / 2 { return true }
    let text = Span<UInt8>(_bytes: text)
    var escaped = text.count
    for index in text.indices where [0x22, 0x5C, 0x09, 0x0A, 0x0D].contains(text[index]) { escaped += 1 }
    return escaped <= longestText
  }

  /// Writes the member `name` for a secret that is UTF-8.
  mutating func text(_ bytes: RawSpan, as name: StaticString) {
    key(name)
    secret(bytes)
  }
}

extension Frame {
  /// The size in bytes of the content of `text` (a string) or `data` (base64); nil if both are absent.
  ///
  /// - Throws: ``ParameterError`` if both are present, or if `data` is not base64.
  public borrowing func contentCount(_ text: Node?, _ data: Node?) throws(ParameterError) -> Int? {
    switch (text, data) {
    case (nil, nil): return nil
    case (let text?, nil): return secretCount(text)
    case (nil, let data?):
      guard let count = base64Count(data) else { throw ParameterError("data") }
      return count
    default: throw ParameterError("data")
    }
  }

  /// Copies the content of `text` or `data` into `target`, whose size must be ``contentCount(_:_:)``.
  ///
  /// - Throws: ``ParameterError`` if `data` is not base64.
  public borrowing func copyContent(
    _ text: Node?, _ data: Node?, into target: inout MutableRawSpan
  ) throws(ParameterError) {
    if let text { return copySecret(text, into: &target) }
    guard let data, copyBase64(data, into: &target) else { throw ParameterError("data") }
  }

  /// A copy of the content of `text` or `data`; nil if both are absent.
  ///
  /// - Throws: The errors of ``contentCount(_:_:)``.
  public borrowing func content(_ text: Node?, _ data: Node?) throws(ParameterError) -> SecretBuffer? {
    guard let count = try contentCount(text, data) else { return nil }
    var copy = SecretBuffer(capacity: count)
    try copy.append(count: count) { target throws(ParameterError) in try copyContent(text, data, into: &target) }
    return copy
  }
}
