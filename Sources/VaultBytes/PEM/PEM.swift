/// One block of a PEM text, as offsets into the text.
package struct PEMBlock {
  /// The label between `-----BEGIN ` and `-----`.
  package var label: Range<Int>
  /// The base64 lines, without headers.
  package var body: Range<Int>
  /// True if there are RFC 1421 headers, as old OpenSSL writes them above the body of an encrypted key.
  package var hasHeaders: Bool
  /// The place at which the line `-----BEGIN …-----` starts.
  package var start: Int
  /// The place at which the line after `-----END …-----` starts.
  package var end: Int

  package func isLabelled(_ name: StaticString, in text: RawSpan) -> Bool {
    label.count == name.utf8CodeUnitCount && text.hasBytes(name, at: label.lowerBound)
  }
}

/// Textual encodings of keys and certificates (RFC 7468, with the lax parsing that it permits: other text around the
/// blocks, any line length).
package enum PEM {
  /// Returns the next block that starts at or after `offset`, or `nil` if there is none.
  ///
  /// - Parameter offset: The start of a line.
  package static func block(in text: RawSpan, from offset: Int) throws(PEMFault) -> PEMBlock? {
    var position = offset
    while position < text.byteCount {
      let line = self.line(in: text, at: position)
      position = line.next
      let start = line.content.lowerBound
      guard text.hasBytes("-----BEGIN", at: start) || text.hasBytes("-----END", at: start) else { continue }
      guard let label = label(in: text, line.content, after: "-----BEGIN ") else {
        throw PEMFault("a PEM block has no proper BEGIN line")
      }
      return try block(in: text, start, label: label, from: position)
    }
    return nil
  }

  /// Decodes the bytes of a block.
  package static func decode(_ block: PEMBlock, in text: RawSpan) throws(PEMFault) -> SecretBuffer {
    var bytes = SecretBuffer(capacity: capacity(of: block))
    try decode(block, in: text) { bytes.append($0) }
    return bytes
  }

  /// Decodes the bytes of a block that may be a private key.
  package static func decodeLocked(_ block: PEMBlock, in text: RawSpan) throws(PEMFault) -> ScratchBytes {
    var bytes = ScratchBytes(capacity: capacity(of: block))
    try decode(block, in: text) { bytes.append($0) }
    return bytes
  }

  /// The highest number of bytes that a block can have.
  package static func capacity(of block: PEMBlock) -> Int { block.body.count / 4 * 3 + 3 }

  /// Decodes the block into the front of `room`, which has ``capacity(of:)`` bytes, and returns the number of bytes.
  package static func decode(
    _ block: PEMBlock, in text: RawSpan, into room: inout MutableRawSpan
  ) throws(PEMFault) -> Int {
    var count = 0
    try decode(block, in: text) { byte in
      room.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
      count += 1
    }
    return count
  }

  @inline(__always)
  private static func decode(
    _ block: PEMBlock, in text: RawSpan, _ append: (UInt8) -> Void
  ) throws(PEMFault) {
    var isEmpty = true
    var group = 0
    var symbols = 0
    var padding = 0
    for offset in block.body {
      let byte = text.byte(offset)
      if isSpace(byte) || byte == 0x0A { continue }
      let isPad = byte == UInt8(ascii: "=")
      let value = isPad ? 0 : Base64.value(of: byte)
      guard value >= 0, isPad || padding == 0 else { throw notBase64 }
      if isPad { padding += 1 }
      group = group << 6 | value
      symbols += 1
      guard symbols % 4 == 0 else { continue }
      guard padding < 3, group & (1 << (8 * padding) - 1) == 0 else { throw notBase64 }
      for index in 0..<(3 - padding) { append(UInt8(group >> (16 - 8 * index) & 0xFF)) }
      if padding < 3 { isEmpty = false }
      group = 0
    }
    guard symbols % 4 == 0, padding < 3 else { throw notBase64 }
    guard !isEmpty else { throw PEMFault("a PEM block is empty") }
  }

  private static var notBase64: PEMFault { PEMFault("a PEM block's body is not base64") }

  /// Reads the rest of a block whose first line is at `begin`, and whose second line is at `start`.
  private static func block(
    in text: RawSpan, _ begin: Int, label: Range<Int>, from start: Int
  ) throws(PEMFault) -> PEMBlock {
    var position = start
    var bodyStart = start
    var hasHeaders = false
    while position < text.byteCount {
      let line = self.line(in: text, at: position)
      if text.hasBytes("-----", at: line.content.lowerBound) {
        guard let end = self.label(in: text, line.content, after: "-----END "), same(text, label, end) else {
          throw PEMFault("a PEM block's BEGIN and END lines do not belong together")
        }
        return PEMBlock(
          label: label, body: bodyStart..<position, hasHeaders: hasHeaders, start: begin, end: line.next)
      }
      // Headers come first and end at an empty line.
      if position == start { hasHeaders = line.content.contains { text.byte($0) == UInt8(ascii: ":") } }
      if hasHeaders && bodyStart == start && line.content.isEmpty { bodyStart = line.next }
      position = line.next
    }
    throw PEMFault("a PEM block has no END line")
  }

  /// The line at `start` without its end and without trailing white space, and the start of the next line.
  private static func line(in text: RawSpan, at start: Int) -> (content: Range<Int>, next: Int) {
    var end = text.first(0x0A, from: start)
    let next = min(end + 1, text.byteCount)
    while end > start, isSpace(text.byte(end - 1)) { end -= 1 }
    return (start..<end, next)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

  private static func label(in text: RawSpan, _ line: Range<Int>, after prefix: StaticString) -> Range<Int>? {
    let start = line.lowerBound + prefix.utf8CodeUnitCount
    let end = line.upperBound - 5
    guard start < end, text.hasBytes(prefix, at: line.lowerBound), text.hasBytes("-----", at: end) else { return nil }
    return start..<end
  }

  private static func same(_ text: RawSpan, _ left: Range<Int>, _ right: Range<Int>) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { text.byte($0) == text.byte($1) }
  }
}
