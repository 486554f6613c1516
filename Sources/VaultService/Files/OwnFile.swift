internal import CLinux
internal import Glibc

/// A file of ours: one that is believed because of who can have had a hand in it.
///
/// The store judges its own files in the same way, with what it knows of directories and of repair, in VaultStore.
package enum OwnFile {
  /// The users who may have a hand in it.
  package enum Kind: Sendable {
    /// Root or we have written it, and nobody else can. Others may read it.
    case writtenByUs
    /// It is ours, and nobody else's to read or write.
    case ours
    /// The service manager's, which gives it to us and to nobody else but root (systemd.exec(5), CREDENTIALS).
    case credential

    /// The bits of the mode that must not be set.
    fileprivate var forbidden: mode_t {
      switch self {
      case .writtenByUs: 0o022
      case .ours: 0o077
      // An access control list may give it to us, and shows as the group's bits.
      case .credential: 0o027
      }
    }

    fileprivate var mayBeRoots: Bool { self != .ours }
  }

  package enum Problem: Error, Equatable {
    case missing
    /// It is `/dev/null`, which is named by who wants no file at all.
    case null
    case notRegular
    /// It, or what it is, belongs to somebody else, or somebody else can reach it: what is wrong and how to mend it.
    case untrusted(String)
    case failed(SystemError)

    /// For a person.
    package func text(_ path: String) -> String {
      switch self {
      case .missing: "\(SystemError(call: "open \(path)", code: ENOENT))"
      case .null, .notRegular: "\(path) is not a regular file; remove it"
      case .untrusted(let reason): reason
      case .failed(let error): "\(error)"
      }
    }
  }

  /// The number of `/dev/null`, by Linux's list of devices.
  private static let null: dev_t = 0x103

  /// Opens the regular file at `path` to read it, and lends it with its size in bytes. Opening what is no such file does
  /// not wait, and has no effect.
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
      ? "can be written by others; `chmod go-w` it" : "is open to others; `chmod go-rwx` it"
  }
}
