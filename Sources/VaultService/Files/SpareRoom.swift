internal import CLinux
internal import Glibc

/// Room on the store's file system that is kept for deletions and backups. Both write to the store, too; on a full disk,
/// deletions make room, and a backup onto another disk saves what there is.
struct SpareRoom {
  static let fileName = "vault.room"
  /// In bytes: more than the log has before it is folded in between two commits. So it can be folded in on a full disk, too,
  /// and then its own room is there to be written again.
  static let size = 6 << 20

  private let path: String

  init(directory: String) { path = "\(directory)/\(Self.fileName)" }

  /// Takes the room, unless it is taken or that would leave less for everything else.
  func keep() {
    if isKept { return }
    // What stands there instead would give no room back: a copy that a backup made has the size and none of the blocks.
    unsafe unlink(path)
    var status = statvfs()
    guard unsafe statvfs(path.parent, &status) == 0,
      UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue >= 2 * Self.size
    else { return }
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    // Half of it helps nobody.
    if posix_fallocate(file, 0, off_t(Self.size)) != 0 { unsafe unlink(path) }
  }

  /// True for a file that has the room on the disk, and whose end gives it back: nothing else is a name of it.
  private var isKept: Bool {
    var status = stat()
    // Linux counts in blocks of 512 bytes, whatever the file system's are (stat(2)).
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
      && Int(status.st_blocks) * 512 >= Self.size
  }

  /// Gives the room back; false when there is none.
  func give() -> Bool { unsafe unlink(path) == 0 }
}

extension String {
  /// The directory of the file at this absolute path.
  fileprivate var parent: String { lastIndex(of: "/").map { String(self[..<$0]) } ?? "." }
}
