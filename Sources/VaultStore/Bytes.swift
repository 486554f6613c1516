import Glibc

extension String {
  /// Whether both are the same UTF-8. Equality of strings is canonical equivalence, which is not the same name.
  func hasSameBytes(as other: String) -> Bool {
    let count = utf8.count
    // Each string is lent as a pointer to that many bytes, for the call.
    return unsafe count == other.utf8.count && memcmp(self, other, count) == 0
  }
}

extension [UInt8] {
  /// Copies bytes that are no secret.
  init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Whether these are the same bytes; for what is no secret.
  func isEqual(to bytes: RawSpan) -> Bool {
    guard count == bytes.byteCount, count > 0 else { return count == bytes.byteCount }
    // Both have that many bytes, and more than none, so that there is an address.
    return unsafe bytes.withUnsafeBytes { unsafe memcmp(self, $0.baseAddress!, count) == 0 }
  }

  /// Lends the bytes.
  func withSpan<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // Bytes have no padding, so all of them are initialized.
    let bytes = unsafe span.bytes
    return try body(bytes)
  }
}
