extension [UInt8] {
  /// Copies bytes that are no secret.
  init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Lends the bytes.
  func withSpan<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // Bytes have no padding, so all of them are initialized.
    let bytes = unsafe span.bytes
    return try body(bytes)
  }
}
