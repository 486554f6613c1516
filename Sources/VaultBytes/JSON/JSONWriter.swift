/// A writer of JSON messages into memory that wipes itself.
///
/// The writer adds commas by itself; the caller must write keys only in objects, and end everything that it begins. A
/// `String` given to the writer stays in memory, so secrets must go through ``secret(_:)`` and ``base64(_:)``.
public struct JSONWriter: ~Copyable, Sendable {
  private var buffer: SecretBuffer
  private var needsComma = false

  /// Makes a writer with room for `capacity` bytes, which grows if necessary.
  public init(capacity: Int = 256) { buffer = SecretBuffer(capacity: capacity) }

  /// Appends to the content of `buffer`, so that one buffer can carry many messages.
  public init(appendingTo buffer: consuming SecretBuffer) { self.buffer = buffer }

  /// The number of bytes written.
  public var byteCount: Int { buffer.count }

  /// Lends the written bytes. The bytes must not leave the closure.
  public borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try buffer.withBytes(body)
  }

  /// Wipes and forgets the written bytes, as ``SecretBuffer/removeAll()`` does.
  public mutating func removeAll() {
    buffer.removeAll()
    needsComma = false
  }

  /// Makes room for `additional` more bytes.
  public mutating func reserve(_ additional: Int) { buffer.reserve(additional) }

  /// Begins an object, which ``endObject()`` must end.
  public mutating func beginObject() { begin(UInt8(ascii: "{")) }
  /// Ends the innermost object.
  public mutating func endObject() { end(UInt8(ascii: "}")) }
  /// Begins an array, which ``endArray()`` must end.
  public mutating func beginArray() { begin(UInt8(ascii: "[")) }
  /// Ends the innermost array.
  public mutating func endArray() { end(UInt8(ascii: "]")) }

  /// Writes a key that needs no escapes, like every key of an interface.
  public mutating func key(_ key: StaticString) {
    separate()
    buffer.append(UInt8(ascii: "\""))
    buffer.append(key)
    buffer.append(UInt8(ascii: "\""))
    buffer.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes any key. A literal key uses the other function, which does not look for characters to escape.
  @_disfavoredOverload
  public mutating func key(_ key: String) {
    separate()
    quote(unsafe key.utf8.span.bytes)
    buffer.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a string.
  public mutating func string(_ text: String) {
    separate()
    quote(unsafe text.utf8.span.bytes)
    needsComma = true
  }

  /// Writes a string that needs no escapes.
  public mutating func literal(_ text: StaticString) {
    separate()
    buffer.append(UInt8(ascii: "\""))
    buffer.append(text)
    buffer.append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// Writes a number.
  public mutating func integer(_ value: Int64) {
    separate()
    needsComma = true
    if value < 0 { buffer.append(UInt8(ascii: "-")) }
    var divisor: UInt64 = 1
    let magnitude = value.magnitude
    while magnitude / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      buffer.append(UInt8(ascii: "0") + UInt8(magnitude / divisor % 10))
      divisor /= 10
    }
  }

  /// Writes true or false.
  public mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

  /// Writes null.
  public mutating func null() { raw("null") }

  /// Writes a string from bytes of UTF-8. The caller must make sure that they are UTF-8; otherwise the
  /// reader refuses the message.
  public mutating func secret(_ utf8: RawSpan) {
    separate()
    buffer.reserve(utf8.byteCount + 2)
    quote(utf8)
    needsComma = true
  }

  /// Writes bytes as a base64 string (RFC 4648, with padding).
  public mutating func base64(_ bytes: RawSpan) {
    separate()
    let count = Base64.encodedCount(bytes.byteCount)
    buffer.reserve(count + 2)
    buffer.append(UInt8(ascii: "\""))
    buffer.append(count: count) { Base64.encode(bytes, into: &$0) }
    buffer.append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// Writes a value that is already JSON.
  public mutating func raw(_ json: RawSpan) {
    separate()
    buffer.append(json)
    needsComma = true
  }

  /// Writes a value that is already JSON.
  public mutating func raw(_ json: StaticString) {
    separate()
    buffer.append(json)
    needsComma = true
  }

  /// Ends the message with its NUL. Another message may follow.
  public mutating func endMessage() {
    buffer.append(0)
    needsComma = false
  }

  /// Ends the message and returns the bytes, including the NUL.
  public consuming func finish() -> SecretBuffer {
    endMessage()
    return buffer
  }

  /// Returns the written bytes without adding a NUL.
  public consuming func take() -> SecretBuffer { buffer }

  private mutating func separate() {
    if needsComma { buffer.append(UInt8(ascii: ",")) }
  }

  private mutating func begin(_ bracket: UInt8) {
    separate()
    buffer.append(bracket)
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    buffer.append(bracket)
    needsComma = true
  }

  private mutating func quote(_ utf8: RawSpan) {
    buffer.append(UInt8(ascii: "\""))
    let bytes = Span<UInt8>(_bytes: utf8)
    var written = 0
    var at = bytes.endOfPlainRun(from: 0)
    while at < bytes.count {
      let byte = bytes[at]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        if at > written { buffer.append(utf8.extracting(written..<at)) }
        escape(byte)
        written = at + 1
      }
      at = bytes.endOfPlainRun(from: at + 1)
    }
    buffer.append(utf8.extracting(written..<utf8.byteCount))
    buffer.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    buffer.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x0A: buffer.append(UInt8(ascii: "n"))
    case 0x0D: buffer.append(UInt8(ascii: "r"))
    case 0x09: buffer.append(UInt8(ascii: "t"))
    case 0x00..<0x20:
      buffer.append("u00" as StaticString)
      buffer.append(UInt8(ascii: "0") + byte >> 4)
      buffer.append(byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "a") + byte & 15 - 10)
    default: buffer.append(byte)
    }
  }
}
