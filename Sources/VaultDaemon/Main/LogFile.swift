internal import CLinux
internal import Glibc

/// A log file of mode 0600 that does not grow without end: when it is full it becomes the older one, in whose place.
///
/// It is opened for each line, of which there are few, so that nothing has to be told when somebody removes it.
struct LogFile: Equatable, Sendable {
  /// The size in bytes from which on a new one begins.
  static let limit: Int64 = 1 << 20
  /// The end of the older file's name.
  static let older = ".1"

  let path: String

  /// Makes the folders above it, of mode 0700, as the XDG Base Directory Specification asks; nil where it cannot be written.
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

  /// A line that cannot be written, as on a full disk, is lost.
  func append(_ line: String) {
    guard let file = open() else { return }
    defer { close(file) }
    let bytes = Array(line.utf8)
    let written = unsafe write(file, bytes, bytes.count)
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { return }
    // The next line would go on behind the part of one for which there was still room.
    if written > 0, written < bytes.count { ftruncate(file, status.st_size - off_t(written)) }
    guard status.st_size >= Self.limit else { return }
    // Something may stand in the older one's place that makes none; then there is no older one.
    if unsafe rename(path, path + Self.older) != 0 { ftruncate(file, 0) }
  }

  /// The file, if it is one of ours: what stands there instead may lead elsewhere, or never take a line.
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
