internal import Glibc

/// The texts of the entries in an ``AuditBlock``, of which each is written once: gets within a second are of a few items, as a
/// rule.
///
/// It knows where they are, and holds none of them.
struct AuditTexts {
  /// The size with which a text begins that is there already, to which its place is added.
  private static let known = 1 << 15

  /// A text by some of its bytes: where it is in the block, which is never 0, and its place among the texts.
  private var slots = [(offset: UInt16, place: UInt16)](repeating: (0, 0), count: 256)
  private var count = 0

  /// Writes a text, or where it was written before.
  mutating func write(_ bytes: RawSpan, _ writer: inout ByteWriter, _ out: inout MutableRawSpan) {
    let slot = Self.slot(bytes)
    let (offset, place) = slots[slot]
    if offset > 0, Self.isText(bytes, at: Int(offset), out.bytes) {
      return writer.uint16(Self.known + Int(place), &out)
    }
    slots[slot] = (UInt16(writer.offset), UInt16(count))
    count += 1
    writer.uint16(bytes.byteCount, &out)
    writer.bytes(bytes, &out)
  }

  /// Forgets them, for another record.
  mutating func forget() {
    for slot in slots.indices { slots[slot] = (0, 0) }
    count = 0
  }

  /// The slot of a text, by its size and its last bytes: those of many items begin alike.
  private static func slot(_ text: RawSpan) -> Int {
    var bits = UInt64(text.byteCount)
    if text.byteCount >= 8 {
      // Checked just above, and every bit pattern is an integer.
      bits ^= unsafe text.unsafeLoadUnaligned(fromUncheckedByteOffset: text.byteCount - 8, as: UInt64.self)
    } else {
      for index in 0..<text.byteCount {
        bits = bits << 8 ^ UInt64(unsafe text.unsafeLoad(fromByteOffset: index, as: UInt8.self))
      }
    }
    return Int(truncatingIfNeeded: (bits &* 0x9E37_79B9_7F4A_7C15) >> 56)
  }

  /// True when those are the bytes, after their size, at that place.
  private static func isText(_ text: RawSpan, at offset: Int, _ bytes: RawSpan) -> Bool {
    let size = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)
    guard Int(UInt16(littleEndian: size)) == text.byteCount else { return false }
    let there = bytes.extracting(offset + 2..<offset + 2 + text.byteCount)
    // Both have so many bytes, which are not none, and are lent for the call.
    return unsafe text.withUnsafeBytes { text in
      unsafe there.withUnsafeBytes { there in
        unsafe memcmp(text.baseAddress!, there.baseAddress!, text.count) == 0
      }
    }
  }

  /// Reads a text, given those before it.
  ///
  /// - Throws: ``CryptoError/malformed(_:)``.
  static func read(
    _ reader: inout ByteReader, _ input: RawSpan, _ texts: inout [String]
  ) throws(CryptoError) -> String {
    let size = try reader.uint16(input)
    if size >= known {
      guard texts.indices.contains(size - known) else { throw .malformed("text of audit entry") }
      return texts[size - known]
    }
    let text = try reader.text(size, input)
    texts.append(text)
    return text
  }
}
