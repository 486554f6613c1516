internal import Glibc
internal import VaultModel

/// The texts of the entries in an ``AuditBlock``, each usually written once, because the gets of one second mostly
/// concern a few items.
///
/// This type knows the places of the texts, but holds no text.
struct AuditTexts {
  /// The size that marks a text as already written; the place of the text is added to it.
  private static let known = 1 << 15

  /// The known texts, indexed by some of their bytes: the offset in the block, which is never 0, and the
  /// place among the texts.
  private var slots = [(offset: UInt16, place: UInt16)](repeating: (0, 0), count: 256)
  private var count = 0

  /// Writes a text, or a reference to the place where it was written before.
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

  /// Forgets all texts, for the next record.
  mutating func forget() {
    for slot in slots.indices { slots[slot] = (0, 0) }
    count = 0
  }

  /// The slot of a text, from its size and its last bytes, because the names of many items begin alike.
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

  /// True if the block has this text at `offset`, after its size.
  private static func isText(_ text: RawSpan, at offset: Int, _ bytes: RawSpan) -> Bool {
    let size = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)
    guard Int(UInt16(littleEndian: size)) == text.byteCount else { return false }
    let there = bytes.extracting(offset + 2..<offset + 2 + text.byteCount)
    // Both have this number of bytes, which is not 0, and are lent for the call.
    return unsafe text.withUnsafeBytes { text in
      unsafe there.withUnsafeBytes { there in
        unsafe memcmp(text.baseAddress!, there.baseAddress!, text.count) == 0
      }
    }
  }

  /// Reads a text, or a reference to one of `texts`, to which a new text is added.
  ///
  /// - Throws: ``CryptoError/malformed(_:)``, also for a text longer than any that is written. Anybody who has the
  ///   vault's public key can seal a record, and the entries of a record must fit into other records.
  static func read(
    _ reader: inout ByteReader, _ input: RawSpan, _ texts: inout [String]
  ) throws(CryptoError) -> String {
    let size = try reader.uint16(input)
    if size >= known {
      guard texts.indices.contains(size - known) else { throw .malformed("text of audit entry") }
      return texts[size - known]
    }
    guard size <= AuditEntry.longestText else { throw .malformed("text of audit entry") }
    let text = try reader.text(size, input)
    texts.append(text)
    return text
  }
}
