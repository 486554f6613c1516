internal import Glibc

/// The facts by which a file is told from a later one at the same path, and from itself after a change.
struct FileStamp: Equatable {
  private let file: [UInt64]
  private let modified: [Int]

  /// Nil if there is no file at `path`.
  init?(_ path: String) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    file = [UInt64(status.st_dev), UInt64(status.st_ino), UInt64(bitPattern: Int64(status.st_size))]
    modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
  }
}
