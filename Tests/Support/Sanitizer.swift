import CMemorySearch

/// A sanitizer that the tests and the programs were built with (`make sanitize`).
///
/// It has a heap and stacks of its own, keeps memory that was given back, takes much more memory, and locks none of it.
public enum Sanitizer {
  public static let isPresent = is_sanitized() != 0
  /// True for ThreadSanitizer, with which no program starts that may not write a file of a MiB.
  public static let needsFiles = is_thread_sanitized() != 0
}
