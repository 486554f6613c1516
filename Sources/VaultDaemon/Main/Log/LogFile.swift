internal import CLinux
internal import Glibc

/// A log file of mode 0600 with a limited size: when it is full, it replaces the older log file.
///
/// It is opened for each of its few lines, so nobody has to notify the daemon after removing it.
struct LogFile: Equatable, Sendable {
  /// The size in bytes at which a new file begins.
  static let limit: Int64 = 1 << 20
  /// The end of the older file's name.
  static let older = ".1"

  let path: String

  /// Makes the folders above the file, with mode 0700, as the XDG Base Directory Specification asks; nil when the file
  /// cannot be written.
  init?(_ path: String) {
    self.path = path
    var folders: [String] = []
    var rest = path[...]
    while let slash = rest.lastIndex(of: "/"), slash > rest.startIndex {
      rest = rest[..<slash]
      folders.append(String(rest))
    }
    for folder in folders.reversed() { unsafe mkdir(folder, 0o700) }
    guard let file = open() else { return nil }
    close(file)
  }

  /// Appends a line. A line that cannot be written, as on a full disk, is lost.
  func append(_ line: String) {
    guard let file = open() else { return }
    defer { close(file) }
    let bytes = Array(line.utf8)
    let written = unsafe write(file, bytes, bytes.count)
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { return }
    // Removes a line that was written only in part, because the next line would continue it.
    if written > 0, written < bytes.count { ftruncate(file, status.st_size - off_t(written)) }
    guard status.st_size >= Self.limit else { return }
    // If something blocks the older file's place, the log is emptied, and there is no older file.
    if unsafe rename(path, path + Self.older) != 0 { ftruncate(file, 0) }
  }

  /// Opens the file, if it is a regular file of this user. Another file in its place may lead elsewhere, or never take
  /// a line.
  private func open() -> Int32? {
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let file = unsafe Glibc.open(path, flags, 0o600)
    guard file >= 0 else { return nil }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      close(file)
      return nil
    }
    return file
  }
}
