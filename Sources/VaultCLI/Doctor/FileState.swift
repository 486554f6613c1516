internal import CLinux
internal import Glibc

/// The state of the file at a path; for a symbolic link, of the link itself.
enum FileState: Equatable {
  case missing
  /// The file cannot be examined; the value is the error number.
  case hidden(Int32)
  case there(Kind, owner: uid_t, mode: mode_t, modified: Int64)

  enum Kind { case file, directory, socket, link, other }

  init(_ path: String) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      self = errno == ENOENT || errno == ENOTDIR ? .missing : .hidden(errno)
      return
    }
    let kind: Kind
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .directory
    case S_IFSOCK: kind = .socket
    case S_IFLNK: kind = .link
    default: kind = .other
    }
    self = .there(kind, owner: status.st_uid, mode: status.st_mode & 0o7777, modified: Int64(status.st_mtim.tv_sec))
  }

  var exists: Bool { self != .missing }

  /// True if two paths lead to the same file.
  static func isSame(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    guard unsafe stat(one, &first) == 0, unsafe stat(other, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }
}

extension Diagnosis {
  /// Checks that a path has the right type, belongs to `owner` and gives others no permission beyond `mode`; nil if
  /// there is no file.
  static func permissions(
    _ check: String, _ path: String, is kind: FileState.Kind, owner: uid_t, mode: mode_t
  ) -> Diagnosis? {
    switch FileState(path) {
    case .missing: return nil
    case .hidden(let code):
      return .warn(check, "\(path) cannot be examined: \(Output.describe(code))", fix: "run this as its owner")
    case .there(let found, let user, let bits, _):
      let what = kind == .directory ? "folder" : "\(kind)"
      guard found != .link else {
        return .fail(check, "\(path) is a symbolic link", fix: "put the \(what) itself there")
      }
      guard found == kind else {
        return .fail(check, "\(path) is not a \(what)", fix: "move it away")
      }
      guard user == owner else {
        return .fail(check, "\(path) belongs to uid \(user), not \(owner)", fix: "move it away, or chown it")
      }
      let octal = String(mode, radix: 8)
      guard bits & ~mode == 0 else {
        return .fail(
          check, "\(path) has mode \(String(bits, radix: 8)), which is open to others", fix: "chmod \(octal) \(path)")
      }
      return .ok(check, "\(path), mode \(String(bits, radix: 8))")
    }
  }
}
