internal import Glibc

/// In-place access to bytes. A secret value is read only through its span. The shortest functions can be inlined into
/// other modules, whose loops call them for each byte.
extension RawSpan {
  /// The byte at `offset`; traps outside the span.
  @inlinable package func byte(_ offset: Int) -> UInt8 {
    // The offset is checked against the bounds, and every bit pattern is a UInt8.
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// The eight bytes from `offset` on, in the machine's order; traps outside the span.
  @inlinable package func word(_ offset: Int) -> UInt64 {
    // The offset is checked against the bounds, and every bit pattern is a UInt64.
    unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  /// A copy of the bytes, which must not be secret.
  package var array: [UInt8] { unsafe withUnsafeBytes { unsafe [UInt8]($0) } }

  /// True if every byte satisfies `condition`.
  @inlinable package func allBytes(_ condition: (UInt8) -> Bool) -> Bool {
    for offset in byteOffsets where !condition(byte(offset)) { return false }
    return true
  }

  /// The place of the first `byte` from `offset` on, or the end if there is none.
  package func first(_ byte: UInt8, from offset: Int) -> Int {
    precondition((0...byteCount).contains(offset))
    return unsafe withUnsafeBytes { bytes in
      // No byte after the end is read, and there is a base address whenever there is a byte.
      guard let base = bytes.baseAddress,
        let found = unsafe memchr(base + offset, Int32(byte), bytes.count - offset)
      else { return bytes.count }
      return unsafe UnsafeRawPointer(found) - base
    }
  }

  /// True if the bytes from `offset` on start with `text`.
  package func hasBytes(_ text: StaticString, at offset: Int) -> Bool {
    let count = text.utf8CodeUnitCount
    guard offset >= 0, count <= byteCount - offset else { return false }
    for index in 0..<count where byte(offset + index) != text.byte(index) { return false }
    return true
  }
}

extension StaticString {
  /// The UTF-8 byte at `index`; traps outside the literal.
  @inlinable package func byte(_ index: Int) -> UInt8 {
    precondition(hasPointerRepresentation && index >= 0 && index < utf8CodeUnitCount)
    // A literal's bytes live as long as the program, and the index was checked.
    return unsafe utf8Start[index]
  }
}

extension MutableRawSpan {
  /// The byte at `offset`; traps outside the span.
  @inlinable package func byte(_ offset: Int) -> UInt8 {
    // The offset is checked against the bounds, and every bit pattern is a UInt8.
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// Sets the byte at `offset`; traps outside the span.
  @inlinable package mutating func set(_ byte: UInt8, at offset: Int) {
    storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
  }

  /// Copies `bytes` to `offset`; traps if there is no room for them.
  package mutating func copy(_ bytes: RawSpan, at offset: Int = 0) {
    precondition(offset >= 0 && bytes.byteCount <= byteCount - offset, "no room for the bytes")
    unsafe withUnsafeMutableBytes { target in
      // There is room, as checked, and the spans do not overlap, because this one is held exclusively.
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: bytes)
      }
    }
  }
}

extension [UInt8] {
  /// Lends the bytes.
  @inlinable package func withSpan<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(unsafe span.bytes)  // Bytes have no padding: all are initialized.
  }
}
