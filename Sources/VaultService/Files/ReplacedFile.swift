internal import CLinux
internal import Glibc

/// A small file that is written beside its path first, and takes that path when it is complete.
enum ReplacedFile {
  /// The path at which the new content is written.
  static func temporary(_ path: String) -> String { path + ".new" }

  /// Writes a new file of mode 0600 to `path`, completely or not at all. After an error, nothing is left beside it.
  ///
  /// - Parameter isSynced: true to wait until the content is on the disk, before the file takes its path.
  static func write(_ bytes: RawSpan, to path: String, isSynced: Bool = false) throws(SystemError) {
    let temporary = temporary(path)
    unsafe unlink(temporary)
    let file = try SystemError.check(
      "open \(temporary)", unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
    defer { close(file) }
    do throws(SystemError) {
      try write(bytes, to: file, temporary)
      if isSynced { try SystemError.check("fsync \(temporary)", fsync(file)) }
      try SystemError.check("rename \(path)", unsafe rename(temporary, path))
    } catch {
      unsafe unlink(temporary)
      throw error
    }
  }

  /// Writes all bytes to an open file. A write that takes only a part of the bytes sets no `errno`; the next write
  /// does.
  static func write(_ bytes: RawSpan, to file: Int32, _ name: String) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw SystemError(call: "write \(name)", code: count < 0 ? errno : EIO) }
      rest = rest.extracting(droppingFirst: count)
    }
  }
}
