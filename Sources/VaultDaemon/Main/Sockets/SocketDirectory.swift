internal import CLinux
internal import Glibc
internal import VaultService

/// The directory of the daemon's socket. It is made and checked, and one daemon at a time holds it.
///
/// A lock on `vaultd.lock` tells who holds the directory. So the socket of a daemon that was killed can be replaced
/// without a race, and the socket of a running daemon never is.
struct SocketDirectory: ~Copyable {
  enum Problem: Error, Equatable {
    /// Another daemon serves this socket.
    case taken
    /// The directory cannot be trusted.
    case unsafe(String)
    case system(SystemError)
  }

  private let lock: Int32

  /// Makes the directory with mode 0700 (a unit makes the directory of the machine's vault), checks it and takes its
  /// lock.
  init(path: String) throws(Problem) { lock = try Self.take(path) }

  private static func take(_ path: String) throws(Problem) -> Int32 {
    try checkParent(of: path)
    if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
      throw .system(SystemError(call: "mkdir \(path)"))
    }
    let directory = unsafe open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard directory >= 0 else { throw .unsafe("\(path) is not a directory, or is a link to one; remove it") }
    defer { close(directory) }
    var status = stat()
    guard unsafe fstat(directory, &status) == 0 else { throw .system(SystemError(call: "fstat \(path)")) }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw .unsafe(
        """
        \(path) belongs to uid \(status.st_uid), whose daemon may be serving there; run vaultd as that user, or name \
        another socket with --socket
        """)
    }
    guard status.st_mode & 0o022 == 0 else {
      throw .unsafe("\(path) can be written by others; set its mode to 0700")
    }
    let lock = unsafe openat(directory, "vaultd.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { throw .system(SystemError(call: "open \(path)/vaultd.lock")) }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(lock)
      if code == EWOULDBLOCK { throw .taken }
      throw .system(SystemError(call: "flock \(path)/vaultd.lock", code: code))
    }
    return lock
  }

  /// Refuses to make the directory in another user's folder: it would shut that user out of a vault.
  private static func checkParent(of path: String) throws(Problem) {
    var status = stat()
    guard unsafe lstat(path, &status) != 0, errno == ENOENT, let slash = path.lastIndex(of: "/") else { return }
    let parent = slash == path.startIndex ? "/" : String(path[..<slash])
    guard unsafe stat(parent, &status) == 0, status.st_uid != geteuid(), status.st_uid != 0 else { return }
    throw .unsafe("\(parent) belongs to uid \(status.st_uid), so no socket is made there; name another with --socket")
  }

  /// Removes a socket that a daemon left behind. Anything else in its place is somebody's file, and stays.
  borrowing func clear(socket: String) throws(Problem) {
    var status = stat()
    guard unsafe lstat(socket, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw .unsafe("\(socket) exists and is not a socket; remove it or name another with --socket")
    }
    guard unsafe unlink(socket) == 0 else { throw .system(SystemError(call: "unlink \(socket)")) }
  }

  deinit { close(lock) }
}
