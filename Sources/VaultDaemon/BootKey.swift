internal import CLinux
internal import Glibc
internal import VaultCore

/// The key that opens the `always` items with nobody there: 32 random bytes in a file of mode 0600.
///
/// Whoever has the disk it lies on can read every `always` item, and nothing else.
enum BootKey {
  static let size = 32

  enum Problem: Error, Equatable {
    case missing
    case unusable(String)
  }

  static func read(_ path: String) throws(Problem) -> SecureBytes {
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      if errno == ENOENT { throw .missing }
      throw .unusable("\(SystemError(call: "open \(path)"))")
    }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == size else {
      throw .unusable("\(path) is not a boot key of \(size) bytes")
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw .unusable("\(path) is open to others; it has to be yours with mode 0600")
    }
    var count = 0
    let key = SecureBytes(count: size) { bytes in
      count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
    }
    guard count == size else { throw .unusable("\(SystemError(call: "read \(path)"))") }
    return key
  }

  /// Makes a new key and puts it at `path`, whole and synced, over one that an unfinished init may have left.
  static func create(_ path: String) throws(SystemError) -> SecureBytes {
    let key = RandomBytes.secret(count: size)
    let temporary = "\(path).new"
    unsafe unlink(temporary)
    let file = try SystemError.check(
      "open \(temporary)", unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
    defer { close(file) }
    let written = key.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
    }
    guard written == size else { throw SystemError(call: "write \(temporary)") }
    try SystemError.check("fsync \(temporary)", fsync(file))
    try SystemError.check("rename \(path)", unsafe rename(temporary, path))
    return key
  }
}
