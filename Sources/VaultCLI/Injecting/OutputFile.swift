internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultWire

/// The file that a template is rendered to.
struct OutputFile {
  let path: String
  let mode: mode_t

  /// Writes it whole, unless it is already what it should be; true when it was written.
  func write(_ content: borrowing SecretBuffer) throws(Failure) -> Bool {
    try NewFile.check(path, replaces: true)
    if isAlready(content) { return false }
    let file = try NewFile(path, replaces: true, mode: mode)
    try content.withBytes { bytes throws(Failure) in try file.write(bytes) }
    try file.finish()
    return true
  }

  /// Its content; nil where there is no such file, or nothing that could be one of these.
  func read() -> SecretBuffer? {
    let descriptor = open()
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard Self.status(descriptor) != nil else { return nil }
    return try? FileInput.readAll(descriptor, limit: Rendering.limit, name: path)
  }

  private func isAlready(_ content: borrowing SecretBuffer) -> Bool {
    let descriptor = open()
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard let status = Self.status(descriptor), status.st_mode & 0o7777 == mode, status.st_uid == geteuid(),
      Int(status.st_size) == content.count,
      let present = try? FileInput.readAll(descriptor, limit: Rendering.limit, name: path)
    else { return false }
    return present.isEqual(to: content)
  }

  private func open() -> Int32 { unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) }

  private static func status(_ descriptor: Int32) -> stat? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return status
  }

  /// True when both paths lead to one file.
  func isSame(as other: String) -> Bool {
    var (mine, theirs) = (stat(), stat())
    return unsafe stat(path, &mine) == 0 && stat(other, &theirs) == 0 && mine.st_dev == theirs.st_dev
      && mine.st_ino == theirs.st_ino
  }
}
