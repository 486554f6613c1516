internal import Glibc

/// The texts of symbolic links, including the links with which /proc names files.
public enum SymbolicLink {
  /// Returns the target of a symbolic link. Nil if `path` is no link or cannot be read, and if the target is longer
  /// than a path may be or is not UTF-8: repaired, it would be another path.
  public static func target(of path: String) -> String? {
    // A byte more than a path has, so that a target that was cut is noticed.
    var text = [UInt8](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = unsafe text.withUnsafeMutableBytes { bytes in
      // The buffer is lent for the call, which writes no more than its size.
      unsafe readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    guard count > 0, count <= Int(PATH_MAX) else { return nil }
    return String(validating: text[..<count], as: UTF8.self)
  }
}
