internal import CLinux
internal import Glibc

/// The facts by which a file is told from a later one at the same path, and from itself after a change.
package struct FileStamp: Hashable, Sendable {
  private let device: dev_t
  private let inode: ino_t
  /// The size in bytes.
  package let size: Int
  /// The times of the last change of the content and of the last change of content or attributes, in seconds and
  /// nanoseconds.
  private let changed: [Int]

  /// The facts about the file at `path`, or about the link itself if that is a symbolic link; nil if there is nothing.
  package init?(_ path: String) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The facts about the file to which `path` leads, also by symbolic links; nil if there is none.
  package init?(following path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The facts about an open file; nil if they cannot be read.
  package init?(of file: Int32) {
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    (device, inode, size) = (status.st_dev, status.st_ino, status.st_size)
    changed = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
  }
}
