internal import Glibc

/// A file of `/proc`, which the kernel returns whole in one read(2).
enum ProcFile {
  /// Returns the content; nil when it cannot be read, or does not fit into a page.
  static func read(_ path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let page = 4096
    let content = unsafe [UInt8](unsafeUninitializedCapacity: page) { buffer, count in
      count = unsafe max(0, Glibc.read(file, buffer.baseAddress, page))
    }
    return content.isEmpty || content.count == page ? nil : content
  }
}
