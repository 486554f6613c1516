internal import CLinux
internal import Glibc

/// Small text files that hold no secret.
package enum TextFile {
  /// The content of a regular file; nil if there is none, if it is longer than `limit` bytes, or if it is not UTF-8.
  ///
  /// - Parameter followsLink: true if the path may be a symbolic link.
  package static func read(_ path: String, limit: Int, followsLink: Bool = false) -> String? {
    // A pipe would have the daemon wait for a writer.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW))
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return read(file, limit: limit)
  }

  /// The reason why a file is not read or trusted.
  package enum Problem: Error, Equatable {
    case missing
    /// The fault and its remedy, for a person.
    case refused(String)
  }

  /// The content of a file that controls the daemon, which only root and the daemon's user can have written.
  package static func readOwn(_ path: String, limit: Int) throws(Problem) -> String {
    let text: String?
    do throws(OwnFile.Problem) {
      text = try OwnFile.read(path, .writtenByUs) { file, _ in read(file, limit: limit) }
    } catch {
      switch error {
      case .missing: throw .missing
      case .null: return ""
      case .notRegular, .untrusted, .failed: throw .refused(error.text(path))
      }
    }
    guard let text else { throw .refused("\(path) is not UTF-8 text of at most \(limit) bytes; correct it") }
    return text
  }

  private static func read(_ file: Int32, limit: Int) -> String? {
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

  /// Writes a new file of mode 0600 to `path`, completely or not at all.
  package static func replace(_ path: String, with text: String) throws(SystemError) {
    // UTF-8 has no padding.
    try ReplacedFile.write(unsafe text.utf8.span.bytes, to: path)
  }
}
