import Glibc

extension String {
  /// True when both strings are the same UTF-8 bytes. Swift's `==` compares strings by canonical equivalence, by which
  /// different names can be equal.
  func hasSameBytes(as other: String) -> Bool {
    // The comparison uses spans: a short string has no bytes in memory, and as an argument to C it would be copied to
    // the heap.
    let (mine, others) = (utf8.span, other.utf8.span)
    guard mine.count == others.count, !mine.isEmpty else { return mine.count == others.count }
    // Neither string is empty, so both have an address.
    return unsafe mine.withUnsafeBufferPointer { mine in
      unsafe others.withUnsafeBufferPointer { unsafe memcmp(mine.baseAddress!, $0.baseAddress!, mine.count) == 0 }
    }
  }
}

extension [UInt8] {
  /// Copies bytes that are not secret.
  init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// True when both are the same bytes. The comparison does not take constant time, so it is not for secrets.
  func isEqual(to bytes: RawSpan) -> Bool {
    guard count == bytes.byteCount, count > 0 else { return count == bytes.byteCount }
    // Neither side is empty, so both have an address.
    return unsafe bytes.withUnsafeBytes { unsafe memcmp(self, $0.baseAddress!, count) == 0 }
  }
}
