extension RawSpan {
  /// The byte at `index`, which is checked against the bounds.
  func byte(_ index: Int) -> UInt8 {
    // Every bit pattern is a UInt8.
    unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }
}

extension MutableRawSpan {
  /// The byte at `index`, which is checked against the bounds.
  func byte(_ index: Int) -> UInt8 {
    // Every bit pattern is a UInt8.
    unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }

  /// Sets the byte at `index`, which is checked against the bounds.
  mutating func setByte(_ index: Int, _ value: UInt8) { storeBytes(of: value, toByteOffset: index, as: UInt8.self) }
}

extension [UInt8] {
  /// Lends the bytes.
  func withSpan<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(unsafe span.bytes)  // Bytes have no padding: all are initialized.
  }
}
