internal import CLinux
internal import Glibc

/// Checks of a file that is trusted because of the users who can have changed it.
///
/// VaultStore has a similar check for the files of the store, which also covers directories and names the remedy.
package enum OwnFile {
  /// The users who may own, read and write the file.
  package enum Kind: Sendable {
    /// Root or the daemon's user has written the file, and nobody else can. Others may read it.
    case writtenByUs
    /// The file belongs to the daemon's user, and nobody else may read or write it.
    case ours
    /// The file belongs to the service manager, which gives it to the daemon and to nobody else except root
    /// (systemd.exec(5), CREDENTIALS).
    case credential

    /// The bits that must not be set in the file's mode.
    fileprivate var forbidden: mode_t {
      switch self {
      case .writtenByUs: 0o022
      case .ours: 0o077
      // An access control list may let the daemon's user read the file; its mask shows as the group's bits.
      case .credential: 0o027
      }
    }

    fileprivate var mayBeRoots: Bool { self != .ours }
  }

  package enum Problem: Error, Equatable {
    case missing
    /// The path is `/dev/null`, which people name to have no file at all.
    case null
    case notRegular
    /// The file belongs to another user, is a link, or is open to other users: the fault and how to mend it.
    case untrusted(String)
    case failed(SystemError)

    /// The problem in words for a person.
    package func text(_ path: String) -> String {
      switch self {
      case .missing: "\(SystemError(call: "open \(path)", code: ENOENT))"
      case .null, .notRegular: "\(path) is not a regular file; remove it"
      case .untrusted(let reason): reason
      case .failed(let error): "\(error)"
      }
    }
  }

  /// The device number of `/dev/null`, by Linux's list of devices.
  private static let null: dev_t = 0x103

  /// Opens the regular file at `path` for reading, and lends it with its size in bytes. Opening something other than a
  /// regular file does not block, and has no effect.
  package static func read<R: ~Copyable>(
    _ path: String, _ access: Kind, _ body: (_ file: Int32, _ size: Int) -> R
  ) throws(Problem) -> R {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else {
      switch errno {
      case ENOENT: throw .missing
      case ELOOP: throw .untrusted("\(path) is a symbolic link; put the file itself there")
      default: throw .failed(SystemError(call: "open \(path)"))
      }
    }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw .failed(SystemError(call: "stat \(path)")) }
    if status.st_mode & S_IFMT == S_IFCHR, status.st_rdev == null { throw .null }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
    if let reason = objection(to: status, access) { throw .untrusted("\(path) \(reason)") }
    return body(file, Int(status.st_size))
  }

  private static func objection(to status: stat, _ access: Kind) -> String? {
    guard status.st_uid == geteuid() || access.mayBeRoots && status.st_uid == 0 else {
      let owners = access.mayBeRoots ? "root or to uid \(geteuid())" : "uid \(geteuid())"
      return "belongs to uid \(status.st_uid); `chown` it to \(owners)"
    }
    guard status.st_mode & access.forbidden != 0 else { return nil }
    return access == .writtenByUs
      ? "can be written by others; `chmod go-w` mends that" : "is open to others; `chmod go-rwx` mends that"
  }
}
