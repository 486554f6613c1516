import CMemorySearch

/// The sanitizer with which the tests and the programs were built (`make sanitize`).
///
/// A sanitizer has its own heap and stacks, keeps freed memory, uses much more memory, and locks none of it.
public enum Sanitizer {
  public static let isPresent = is_sanitized() != 0
  /// True for ThreadSanitizer: no program built with it starts unless it may write a file of 1 MiB.
  public static let needsFiles = is_thread_sanitized() != 0
}
