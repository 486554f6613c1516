internal import VaultModel

/// Writes one JSON message into memory that wipes itself.
///
/// Commas come by themselves; the caller sees to it that keys stand in objects and that what is begun is ended.
/// A `String` given to it stays in memory: secrets go through ``secret(_:)`` and ``base64(_:)``.
public struct JSONWriter: ~Copyable, Sendable {
  private var buffer: SecretBuffer
  private var needsComma = false

  /// Makes a writer with room for `capacity` bytes; more make it grow.
  public init(capacity: Int = 256) { buffer = SecretBuffer(capacity: capacity) }

  /// Writes on behind what `buffer` holds, so that one buffer can carry many messages.
  public init(appendingTo buffer: consuming SecretBuffer) { self.buffer = buffer }

  /// The number of bytes written.
  public var byteCount: Int { buffer.count }

  /// Lends what was written. It must not leave the closure.
  public borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try buffer.withBytes(body)
  }

  /// Wipes and forgets what was written, as ``SecretBuffer/removeAll()`` does.
  public mutating func removeAll() {
    buffer.removeAll()
    needsComma = false
  }

  /// Makes room for `additional` more bytes.
  public mutating func reserve(_ additional: Int) { buffer.reserve(additional) }

  /// Begins an object, to be ended by ``endObject()``.
  public mutating func beginObject() { begin(UInt8(ascii: "{")) }
  /// Ends the object begun last.
  public mutating func endObject() { end(UInt8(ascii: "}")) }
  /// Begins an array, to be ended by ``endArray()``.
  public mutating func beginArray() { begin(UInt8(ascii: "[")) }
  /// Ends the array begun last.
  public mutating func endArray() { end(UInt8(ascii: "]")) }

  /// Writes a key that needs no escapes, as all of an interface do.
  public mutating func key(_ key: StaticString) {
    separate()
    buffer.append(UInt8(ascii: "\""))
    buffer.append(key)
    buffer.append(UInt8(ascii: "\""))
    buffer.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a key. (A literal key takes the other function, which looks for nothing to escape.)
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

  /// Writes the string that these bytes of UTF-8 are. The caller makes sure they are that; anything else gives a
  /// message its reader refuses.
  public mutating func secret(_ utf8: RawSpan) {
    separate()
    buffer.reserve(utf8.byteCount + 2)
    quote(utf8)
    needsComma = true
  }

  /// Writes bytes as a string of base64 (RFC 4648, with padding).
  public mutating func base64(_ bytes: RawSpan) {
    separate()
    let count = Base64.encodedCount(bytes.byteCount)
    buffer.reserve(count + 2)
    buffer.append(UInt8(ascii: "\""))
    buffer.append(count: count) { Base64.encode(bytes, into: &$0) }
    buffer.append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// Writes a value that is JSON already.
  public mutating func raw(_ json: RawSpan) {
    separate()
    buffer.append(json)
    needsComma = true
  }

  /// Writes a value that is JSON already.
  public mutating func raw(_ json: StaticString) {
    separate()
    buffer.append(json)
    needsComma = true
  }

  /// Ends the message with its NUL. Another one may follow.
  public mutating func endMessage() {
    buffer.append(0)
    needsComma = false
  }

  /// Ends the message and hands it over, with its NUL.
  public consuming func finish() -> SecretBuffer {
    endMessage()
    return buffer
  }

  /// Hands over what was written, with no NUL added.
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
