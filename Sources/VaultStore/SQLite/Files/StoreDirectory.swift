import CLinux
import Glibc

/// The directory that holds the store, open and checked: it is ours, has mode 0700, and is not a symbolic link.
@safe struct StoreDirectory: ~Copyable {
  /// The directory's path, without a slash at the end: with such a slash the kernel would follow a link.
  let path: String
  private let descriptor: Int32

  /// Opens the directory; nil when it does not exist.
  ///
  /// - Throws: ``VaultError/permissions(_:)`` when it belongs to another user, is open to others, is a link, or is not
  ///   a directory.
  static func open(_ path: String) throws(VaultError) -> StoreDirectory? {
    let path = trimmed(path)
    guard !path.isEmpty, !path.utf8.contains(0) else { throw .storage("the store's directory has no usable name") }
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    if descriptor < 0 {
      switch errno {
      case ENOENT: return nil
      case ENOTDIR, ELOOP:
        throw .permissions(
          "\(path): is a symbolic link or not a directory; it must be a directory, and to keep the store elsewhere, "
            + "set XDG_DATA_HOME or give --store to vaultd")
      case let number: throw SystemCall.error("open", path, number)
      }
    }
    let directory = StoreDirectory(path: path, descriptor: descriptor)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemCall.error("stat", path, errno) }
    try check(status, path, mode: 0o700)
    return directory
  }

  /// Opens the directory, after making it and any missing directories above it with mode 0700.
  static func openOrMake(_ path: String) throws(VaultError) -> StoreDirectory {
    try make(trimmed(path))
    guard let directory = try open(path) else { throw SystemCall.error("open", path, ENOENT) }
    return directory
  }

  deinit { close(descriptor) }

  /// The full path of a file in the directory.
  func path(of name: String) -> String { "\(path)/\(name)" }

  /// Opens a file in the directory, never through a link; nil when there is no such file. A new file gets mode 0600.
  ///
  /// - Throws: ``VaultError/permissions(_:)`` unless the file is a regular file of ours with mode 0600.
  func openFile(_ name: String, _ flags: Int32) throws(VaultError) -> Int32? {
    // Without O_NONBLOCK, opening a pipe that somebody put there would wait for the pipe's other end.
    let file = unsafe openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
    if file < 0 {
      switch errno {
      case ENOENT: return nil
      case ELOOP: throw .permissions("\(path(of: name)): is a symbolic link; it must be a regular file")
      case let number: throw SystemCall.error("open", path(of: name), number)
      }
    }
    var status = stat()
    do throws(VaultError) {
      guard unsafe fstat(file, &status) == 0 else { throw SystemCall.error("stat", path(of: name), errno) }
      try Self.check(status, path(of: name), mode: 0o600)
    } catch {
      close(file)
      throw error
    }
    return file
  }

  /// Makes an empty file with mode 0600; nothing may have that name.
  func makeFile(_ name: String) throws(VaultError) {
    let file = unsafe openat(descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemCall.error("create", path(of: name), errno) }
    close(file)
  }

  /// Waits until a file's content is on the disk.
  func syncFile(_ name: String) throws(VaultError) {
    guard let file = try openFile(name, O_RDONLY) else { throw SystemCall.error("open", path(of: name), ENOENT) }
    defer { close(file) }
    if fsync(file) != 0 { throw SystemCall.error("fsync", path(of: name), errno) }
  }

  /// Checks a file without opening it, and returns its size in bytes; nil when there is no such file.
  func size(of name: String) throws(VaultError) -> Int? {
    var status = stat()
    guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return nil }
      throw SystemCall.error("stat", path(of: name), errno)
    }
    try Self.check(status, path(of: name), mode: 0o600)
    return Int(status.st_size)
  }

  /// True when anything has that name, even a link that leads nowhere.
  func contains(_ name: String) -> Bool {
    var status = stat()
    return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// Gives the file `name` the second name `other`; false when `other` is taken already.
  func link(_ name: String, as other: String) throws(VaultError) -> Bool {
    if unsafe linkat(descriptor, name, descriptor, other, 0) == 0 { return true }
    if errno == EEXIST { return false }
    throw SystemCall.error("link", path(of: other), errno)
  }

  /// Removes a file if it is there.
  func remove(_ name: String) throws(VaultError) {
    if unsafe unlinkat(descriptor, name, 0) != 0, errno != ENOENT {
      throw SystemCall.error("unlink", path(of: name), errno)
    }
  }

  /// Moves a file here from another directory. It replaces the file of the same name here.
  func take(_ name: String, from other: borrowing StoreDirectory) throws(VaultError) {
    if unsafe renameat(other.descriptor, name, descriptor, name) != 0 {
      throw SystemCall.error("rename", path(of: name), errno)
    }
  }

  /// Removes the directory, which must be empty.
  func removeItself() throws(VaultError) {
    if unsafe rmdir(path) == 0 { return }
    guard errno == ENOTEMPTY else { throw SystemCall.error("rmdir", path, errno) }
    throw .permissions("\(path): has files that are not the vault's; move them elsewhere")
  }

  /// Waits until the names in the directory are on the disk.
  func sync() throws(VaultError) {
    if fsync(descriptor) != 0 { throw SystemCall.error("fsync", path, errno) }
  }

  private static func check(_ status: stat, _ path: String, mode: mode_t) throws(VaultError) {
    if mode == 0o600, status.st_mode & S_IFMT != S_IFREG {
      throw .permissions("\(path): is not a regular file; it must be one")
    }
    if status.st_uid != geteuid() {
      throw .permissions("\(path): belongs to uid \(status.st_uid); it must belong to uid \(geteuid())")
    }
    let found = status.st_mode & 0o777
    if found != mode {
      let wanted = String(mode, radix: 8)
      throw .permissions("\(path): has mode \(String(found, radix: 8)); run: chmod \(wanted) '\(path)'")
    }
  }

  private static func trimmed(_ path: String) -> String {
    var text = path[...]
    while text.count > 1, text.hasSuffix("/") { text.removeLast() }
    return String(text)
  }

  private static func make(_ path: String) throws(VaultError) {
    if unsafe mkdir(path, 0o700) == 0 { return try syncParent(of: path) }
    switch errno {
    case EEXIST: return
    case ENOENT:
      guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { break }
      try make(trimmed(String(path[..<slash])))
      guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemCall.error("mkdir", path, errno) }
      return try syncParent(of: path)
    default: break
    }
    throw SystemCall.error("mkdir", path, errno)
  }

  private static func syncParent(of path: String) throws(VaultError) {
    let parent: String
    switch path.lastIndex(of: "/") {
    case nil: parent = "."
    case let slash?: parent = slash == path.startIndex ? "/" : String(path[..<slash])
    }
    let descriptor = unsafe Glibc.open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A parent directory that may be entered but not read cannot be synced; the directory is made nonetheless.
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    if fsync(descriptor) != 0 { throw SystemCall.error("fsync", parent, errno) }
  }
}
