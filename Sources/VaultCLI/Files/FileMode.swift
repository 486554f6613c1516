internal import Glibc

/// The mode of a file as text.
enum FileMode {
  /// The mode in octal as chmod(1) takes it, such as 0640.
  static func text(_ mode: mode_t) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }
}
