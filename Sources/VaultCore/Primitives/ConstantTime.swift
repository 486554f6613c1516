internal import CSodium

/// Comparisons whose time says nothing of what is compared.
public enum ConstantTime {
  /// True when both hold the same bytes; the time depends on the lengths alone.
  public static func isEqual(_ left: RawSpan, _ right: RawSpan) -> Bool {
    guard left.byteCount == right.byteCount else { return false }
    guard !left.isEmpty else { return true }
    return unsafe left.withUnsafeBytes { left in
      // Both have as many bytes, and one at least.
      unsafe right.withUnsafeBytes { unsafe sodium_memcmp(left.baseAddress!, $0.baseAddress!, left.count) == 0 }
    }
  }
}
