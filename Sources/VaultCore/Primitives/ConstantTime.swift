internal import CSodium

/// Comparisons whose time reveals nothing about the compared bytes.
public enum ConstantTime {
  /// True if both hold the same bytes; the time depends only on the lengths.
  public static func isEqual(_ left: RawSpan, _ right: RawSpan) -> Bool {
    guard left.byteCount == right.byteCount else { return false }
    guard !left.isEmpty else { return true }
    return unsafe left.withUnsafeBytes { left in
      // Both have the same number of bytes, at least one.
      unsafe right.withUnsafeBytes { unsafe sodium_memcmp(left.baseAddress!, $0.baseAddress!, left.count) == 0 }
    }
  }
}
