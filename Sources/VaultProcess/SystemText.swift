internal import Glibc

/// The system's texts for its error numbers.
public enum SystemText {
  /// Returns the text of strerror(3), such as "No such file or directory".
  public static func of(_ code: Int32) -> String {
    // The text is copied at once. Since version 2.32, glibc keeps the text of an unknown number for each thread.
    unsafe String(cString: strerror(code))
  }
}
