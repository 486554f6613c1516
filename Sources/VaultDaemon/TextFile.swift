internal import CLinux
internal import Glibc

/// Small text files that hold no secret.
enum TextFile {
  /// The content, or nil when there is no such file, it is longer than `limit` bytes, or it is not UTF-8.
  static func read(_ path: String, limit: Int) -> String? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe Glibc.read(file, &chunk, chunk.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0, bytes.count + count <= limit else { return nil }
      if count == 0 { return String(validating: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }

  /// Puts a new file of mode 0600 at `path`, whole or not at all.
  static func replace(_ path: String, with text: String) throws(SystemError) {
    let temporary = path + ".new"
    unsafe unlink(temporary)
    let file = try SystemError.check(
      "open \(temporary)", unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
    defer { close(file) }
    let bytes = Array(text.utf8)
    guard unsafe write(file, bytes, bytes.count) == bytes.count else { throw SystemError(call: "write \(temporary)") }
    try SystemError.check("rename \(path)", unsafe rename(temporary, path))
  }
}
