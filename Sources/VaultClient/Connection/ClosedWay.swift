internal import CLinux
internal import Glibc

/// The path to another user's directory, which nobody but that user and root may be able to change.
///
/// A user who can write to a directory on the path could have put another directory there. This holds below `/tmp` too,
/// because its sticky bit protects only what exists already. A link on the path is always refused, because the
/// directory that holds the link says nothing about the directories behind it. An access control list is noticed as
/// well, because the bits of the group are its mask (acl(5)).
enum ClosedWay {
  /// Opens `path`, whose last directory belongs to `owner`, one directory after another from `/`.
  ///
  /// - Throws: ``ClientError/unsafeSocket(_:)`` when anybody except `owner`, root and this process's user could have
  ///   made the path lead elsewhere.
  static func open(_ path: String, of owner: uid_t) throws(ClientError) -> Descriptor {
    guard path.hasPrefix("/") else {
      throw .unsafeSocket("\(path) belongs to uid \(owner), so it must be named by its absolute path")
    }
    let flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    var directory = try Descriptor("open /", unsafe Glibc.open("/", flags))
    try judge(directory, "/", owner)
    var place = ""
    for name in path.split(separator: "/") where name != "." {
      place += "/\(name)"
      let opened = unsafe openat(directory.number, String(name), flags)
      if opened < 0, errno == ENOTDIR || errno == ELOOP {
        throw .unsafeSocket("\(place) is a symbolic link or not a directory, on the way to a socket of uid \(owner)")
      }
      directory = try Descriptor("open \(place)", opened)
      try judge(directory, place, owner)
    }
    return directory
  }

  private static func judge(_ directory: borrowing Descriptor, _ place: String, _ owner: uid_t) throws(ClientError) {
    var status = stat()
    guard unsafe fstat(directory.number, &status) == 0 else { throw .system("fstat \(place)", errno: errno) }
    guard [0, owner, geteuid()].contains(status.st_uid) else {
      throw .unsafeSocket("\(place), on the way to a socket of uid \(owner), belongs to uid \(status.st_uid)")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw .unsafeSocket("\(place), on the way to a socket of uid \(owner), is writable by others")
    }
  }
}
