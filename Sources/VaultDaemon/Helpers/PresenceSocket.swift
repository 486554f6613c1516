internal import CLinux
internal import Glibc
internal import VaultService

/// The socket of the helper's unit. It is trusted only if nobody but root and the daemon's own user can have put it
/// there.
enum PresenceSocket {
  enum Look: Equatable {
    case absent
    case there
    case untrusted(String)
  }

  struct Problem: Error, Equatable {
    var reason: String
  }

  /// Looks for a socket at `path` without connecting, because a connection would start a helper.
  static func look(at path: String) -> Look {
    do throws(Problem) {
      guard let inode = try open(path) else { return .absent }
      close(inode)
      return .there
    } catch {
      return .untrusted(error.reason)
    }
  }

  /// Connects without waiting; nil when nobody listens there.
  ///
  /// The connection goes through `/proc/self/fd` to the very inode that was judged, so nothing can be swapped in
  /// between. The kernel then tells who listens (`SO_PEERCRED`): for a socket unit that is the service manager.
  static func connect(to path: String) throws(Problem) -> Int32? {
    guard let inode = try open(path) else { return nil }
    defer { close(inode) }
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let connection = socket(AF_UNIX, type, 0)
    guard connection >= 0 else { throw Problem(reason: "\(SystemError(call: "socket"))") }
    var problem: Problem?
    var peer = vault_peer()
    if unsafe vault_connect_unix(connection, "/proc/self/fd/\(inode)") != 0 {
      // A unit that was stopped left the socket behind, which counts as no socket.
      if errno != ECONNREFUSED { problem = Problem(reason: "\(SystemError(call: "connect \(path)"))") }
    } else if unsafe vault_peer_credentials(connection, &peer) == 0 && isTrusted(peer.uid) {
      return connection
    } else {
      problem = Problem(reason: "\(path) is served by uid \(peer.uid), which is the wrong user")
    }
    close(connection)
    if let problem { throw problem }
    return nil
  }

  /// Opens the socket as an inode; nil when there is none. The directory and the socket are opened without following a
  /// link and judged by their descriptors.
  private static func open(_ path: String) throws(Problem) -> Int32? {
    guard let slash = path.lastIndex(of: "/") else { return nil }
    let (folder, name) = (String(path[..<slash]), String(path[path.index(after: slash)...]))
    let directory = unsafe Glibc.open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard directory >= 0 else { return nil }
    defer { close(directory) }
    let inode = unsafe openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
    guard inode >= 0 else { return nil }
    var (outer, inner) = (stat(), stat())
    guard unsafe fstat(directory, &outer) == 0, unsafe fstat(inode, &inner) == 0, isTrusted(outer.st_uid),
      outer.st_mode & 0o022 == 0, isTrusted(inner.st_uid), inner.st_mode & S_IFMT == S_IFSOCK
    else {
      close(inode)
      throw Problem(reason: "\(path) is not a socket, or others can replace it; remove it")
    }
    return inode
  }

  private static func isTrusted(_ uid: uid_t) -> Bool { uid == 0 || uid == geteuid() }
}
