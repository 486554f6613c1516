extension [UInt8] {
  /// The bytes, which must not be secret, as base64.
  package var base64: String {
    var text = [UInt8](repeating: 0, count: Base64.encodedCount(count))
    var span = text.mutableSpan
    var room = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    Base64.encode(unsafe self.span.bytes, into: &room)
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes, which must not be secret, as base64 for URLs.
  package var base64url: String {
    var text: [UInt8] = []
    text.append(base64url: self)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends `bytes`, which must not be secret, as base64 for URLs.
  package mutating func append(base64url bytes: [UInt8]) {
    let start = count
    append(contentsOf: repeatElement(0, count: Base64URL.encodedCount(bytes.count)))
    var span = mutableSpan
    var room = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    Base64URL.encode(unsafe bytes.span.bytes, into: &room, at: start)
  }

  /// Reads base64 of bytes that are not secret; nil for any other text.
  package init?(base64 text: some StringProtocol) {
    self.init(base64: unsafe Array(text.utf8).span.bytes)  // Bytes have no padding: all are initialized.
  }

  /// Reads base64; nil for any other text. The bytes are not wiped.
  package init?(base64 text: RawSpan) {
    guard let count = Base64.decodedCount(text) else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var room = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    guard Base64.decode(text, into: &room) else { return nil }
    self = bytes
  }
}
