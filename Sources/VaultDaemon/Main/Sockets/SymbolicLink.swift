internal import Glibc

enum SymbolicLink {
  /// The target of a symbolic link; nil if `path` is no link.
  static func target(of path: String) -> String? {
    var text = [CChar](repeating: 0, count: 4096)
    // readlink(2) writes no more than the buffer's count.
    let count = unsafe readlink(path, &text, text.count)
    return count < 0 ? nil : String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
