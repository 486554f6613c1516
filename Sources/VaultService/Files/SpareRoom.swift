internal import CLinux
internal import Glibc

/// Space on the store's file system that is kept for deletions and backups, which also write to the store. On a full
/// disk, deletions make space, and a backup onto another disk saves the items.
struct SpareRoom {
  static let fileName = "vault.room"
  /// The size in bytes. It is more than the length of the write-ahead log at which the daemon folds the log in between
  /// two commits, so the log can be folded in on a full disk, too. After that the log's own space can be written again.
  static let size = 6 << 20

  private let path: String

  init(directory: String) { path = "\(directory)/\(Self.fileName)" }

  /// Reserves the space, unless it is reserved already, or less than the same amount would be left for everything else.
  func keep() {
    if isKept { return }
    // Any other file at that path is removed, because it would give no space back: a copy that a backup program made
    // has the size, but none of the blocks.
    unsafe unlink(path)
    var status = statvfs()
    guard unsafe statvfs(path.parent, &status) == 0,
      UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue >= 2 * Self.size
    else { return }
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    // A part of the space is of no use.
    if posix_fallocate(file, 0, off_t(Self.size)) != 0 { unsafe unlink(path) }
  }

  /// True if the file occupies the space on the disk, and has no other name, so that its removal gives the space back.
  private var isKept: Bool {
    var status = stat()
    // Linux counts in blocks of 512 bytes, whatever the block size of the file system (stat(2)).
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
      && Int(status.st_blocks) * 512 >= Self.size
  }

  /// Gives the space back; false if none was kept.
  func give() -> Bool { unsafe unlink(path) == 0 }
}

extension String {
  /// The directory of the file at this absolute path.
  fileprivate var parent: String { lastIndex(of: "/").map { String(self[..<$0]) } ?? "." }
}
