internal import CLinux
internal import Glibc

/// A new file in a folder that goes away with the process, unless it gets a name.
///
/// On file systems with files that have no name (open(2), O_TMPFILE), the kernel removes the file. On others, such as
/// FAT, the file has a temporary name and is locked: SIGKILL or a power cut leaves it there, and the next such file in
/// the folder removes it, because nobody has its lock.
struct FleetingFile {
  let descriptor: Int32
  /// The temporary name; for a nameless file, the name that it gets if it needs one.
  let part: String
  let isNameless: Bool

  /// The beginning of the temporary names. No other files of this program have such names, so a file that nobody has
  /// locked is of no use.
  static let prefix = ".vault-unfinished-"
  private static let attempts = 100

  /// Makes the file with mode 0600; nil with `errno` if that fails.
  ///
  /// - Parameter folder: an O_PATH descriptor.
  init?(in folder: Int32) {
    Self.removeLeftovers(in: folder)
    // A file without a name gets one through /proc.
    if unsafe access("/proc/self/fd", X_OK) == 0 {
      let file = unsafe openat(folder, ".", O_RDWR | Self.temporary | O_CLOEXEC, 0o600)
      if file >= 0 {
        flock(file, LOCK_EX | LOCK_NB)
        (descriptor, part, isNameless) = (file, Self.name(), true)
        return
      }
    }
    for _ in 0..<Self.attempts {
      let part = Self.name()
      let file = unsafe openat(folder, part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard file >= 0 else {
        if errno == EEXIST { continue }
        return nil
      }
      // Another process may have taken the file for a leftover before it was locked.
      var status = stat()
      let isTaken = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
      let isThere = unsafe fstat(file, &status) == 0 && status.st_nlink > 0
      if isTaken || !isThere {
        close(file)
        continue
      }
      (descriptor, self.part, isNameless) = (file, part, false)
      return
    }
    errno = EEXIST
    return nil
  }

  /// O_TMPFILE, which is a macro that Swift does not see; it contains O_DIRECTORY.
  private static let temporary = 0o20000000 | O_DIRECTORY

  private static func name() -> String { prefix + NewFile.randomCharacters() }

  /// Gives a file without a name the name `name`.
  ///
  /// - Returns: false with `errno` if that fails, with EEXIST if there is another file of that name.
  static func link(_ descriptor: Int32, as name: String, in folder: Int32) -> Bool {
    unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", folder, name, AT_SYMLINK_FOLLOW) == 0
  }

  /// Removes the files that killed processes have left in a folder. A file that a process still writes is locked.
  private static func removeLeftovers(in folder: Int32) {
    let readable = unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard readable >= 0 else { return }
    // The stream closes its descriptor.
    guard let stream = unsafe fdopendir(readable) else {
      close(readable)
      return
    }
    defer { unsafe closedir(stream) }
    while let entry = unsafe readdir(stream) {
      // The kernel ends the name with a NUL.
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      guard bytes.starts(with: prefix.utf8), let name = String(validating: bytes, as: UTF8.self) else { continue }
      removeLeftover(name, in: folder)
    }
  }

  private static func removeLeftover(_ name: String, in folder: Int32) {
    let file = unsafe openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    var (status, there) = (stat(), stat())
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_uid == geteuid() || geteuid() == 0, flock(file, LOCK_EX | LOCK_NB) == 0,
      unsafe fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0, there.st_ino == status.st_ino,
      there.st_dev == status.st_dev
    else { return }
    unsafe unlinkat(folder, name, 0)
  }
}
