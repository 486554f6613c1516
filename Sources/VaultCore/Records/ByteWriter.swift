/// A writer of little-endian numbers and bytes into memory of a known size, front to back.
///
/// The writer traps on overrun, because the caller computed the size from the same values.
struct ByteWriter {
  private(set) var offset: Int

  /// Makes a writer.
  ///
  /// - Parameter offset: The number of bytes at the beginning that are written separately.
  init(at offset: Int = 0) { self.offset = offset }

  /// Returns the bytes that `body` writes; traps unless there are `count` of them.
  static func array(count: Int, _ body: (inout ByteWriter, inout MutableRawSpan) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var out = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    var writer = ByteWriter()
    body(&writer, &out)
    precondition(writer.offset == count, "a record's size was computed wrongly")
    return bytes
  }

  mutating func uint8(_ value: UInt8, _ out: inout MutableRawSpan) {
    out.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
    offset += 1
  }

  mutating func uint16(_ value: Int, _ out: inout MutableRawSpan) {
    out.storeBytes(of: UInt16(value).littleEndian, toByteOffset: offset, as: UInt16.self)
    offset += 2
  }

  mutating func uint32(_ value: UInt32, _ out: inout MutableRawSpan) {
    out.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
    offset += 4
  }

  mutating func int64(_ value: Int64, _ out: inout MutableRawSpan) {
    out.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Int64.self)
    offset += 8
  }

  mutating func bytes(_ value: RawSpan, _ out: inout MutableRawSpan) {
    guard value.byteCount > 0 else { return }
    precondition(value.byteCount <= out.byteCount - offset)
    unsafe out.withUnsafeMutableBytes { target in
      unsafe value.withUnsafeBytes { source in
        // The size was checked above; neither is empty.
        unsafe target.baseAddress!.advanced(by: offset).copyMemory(from: source.baseAddress!, byteCount: source.count)
      }
    }
    offset += value.byteCount
  }

  /// Lets `body` write the next `count` bytes.
  mutating func fill<R>(count: Int, _ out: inout MutableRawSpan, _ body: (inout MutableRawSpan) -> R) -> R {
    precondition(count <= out.byteCount - offset)
    defer { offset += count }
    return unsafe out.withUnsafeMutableBytes { bytes in
      // The size was checked above, and the span is unique for the call.
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + count])
      var part = unsafe MutableRawSpan(_unsafeBytes: rest)
      return body(&part)
    }
  }

  mutating func text(_ value: String, _ out: inout MutableRawSpan) {
    unsafe bytes(value.utf8Span.span.bytes, &out)  // Bytes have no padding: all are initialized.
  }

  /// Writes a text after its size (2).
  mutating func sized(_ value: String, _ out: inout MutableRawSpan) {
    uint16(value.utf8.count, &out)
    text(value, &out)
  }
}
