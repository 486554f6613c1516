import Glibc

extension String {
  /// Whether both are the same UTF-8. Equality of strings is canonical equivalence, which is not the same name.
  func hasSameBytes(as other: String) -> Bool {
    unsafe utf8.withContiguousStorageIfAvailable { mine in
      unsafe other.utf8.withContiguousStorageIfAvailable { theirs in
        // Both buffers have that many bytes.
        unsafe mine.count == theirs.count && (mine.isEmpty || memcmp(mine.baseAddress!, theirs.baseAddress!, mine.count) == 0)
      }
    }.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
  }
}

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
