internal import CLinux
internal import Glibc

/// Finds out who listens, before a single byte is sent.
///
/// The directory is opened once, without following a link in its place, and judged by its descriptor. The socket is
/// opened in it as an inode (`O_PATH`), again without following a link. The connection goes to that very inode through
/// `/proc/self/fd`, so nothing can be swapped between the check and the connect. Last, the kernel reports the uid of
/// the process that listens (`SO_PEERCRED`, unix(7)).
struct ServerCheck: ~Copyable {
  private let location: SocketLocation
  private let directory: Descriptor
  private let owner: uid_t

  /// The time that one attempt may wait for a daemon whose queue is full, in microseconds.
  private static let longestWait = 100_000

  /// The result of one attempt: a connection, or an obstacle that may disappear by itself.
  enum Outcome: ~Copyable {
    case connected(Descriptor)
    case nobodyThere
    case busy
  }

  /// Tries once to connect.
  ///
  /// - Throws: ``ClientError/unsafeSocket(_:)`` for a problem that no retry can solve.
  static func connect(to location: SocketLocation) throws(ClientError) -> Outcome {
    let path = location.parts.directory
    let opened = unsafe open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    if opened < 0 {
      let code = errno
      // A file on the way to the directory leaves no place for it.
      if code == ENOENT || code == ENOTDIR && isBlocked(path) { return .nobodyThere }
      if code == ENOTDIR || code == ELOOP { throw .unsafeSocket("\(path) is a symbolic link or not a directory") }
      throw .system("open \(path)", errno: code)
    }
    var directory = try Descriptor("open \(path)", opened)
    var status = stat()
    guard unsafe fstat(directory.number, &status) == 0 else { throw .system("fstat \(path)", errno: errno) }
    try judge(status, of: location)
    if location.trust == .explicit, isForeign(status.st_uid) {
      directory = try ClosedWay.open(path, of: status.st_uid)
      // The path may lead to another directory by now.
      guard unsafe fstat(directory.number, &status) == 0 else { throw .system("fstat \(path)", errno: errno) }
    }
    return try ServerCheck(location: location, directory: directory, owner: status.st_uid).connect()
  }

  /// Returns true if something that is not a directory stands on the way to `path`.
  private static func isBlocked(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) != 0 && errno == ENOTDIR
  }

  /// Returns true for a user other than root and the user of this process.
  private static func isForeign(_ uid: uid_t) -> Bool { uid != geteuid() && uid != 0 }

  /// Throws unless only trusted users can put a socket into the directory.
  private static func judge(_ status: stat, of location: SocketLocation) throws(ClientError) {
    let path = location.parts.directory
    let owner = status.st_uid
    switch location.trust {
    case .runtimeDirectory:
      guard owner == geteuid() else { throw .unsafeSocket("\(path) belongs to uid \(owner), not to you") }
      guard status.st_mode & 0o077 == 0 else { throw .unsafeSocket("\(path) is open to others: it needs mode 0700") }
    case .explicit:
      // ``ClosedWay`` judges another user's directory together with all directories that lead to it.
      guard isForeign(owner) || status.st_mode & 0o002 == 0 else {
        throw .unsafeSocket("\(path), which contains it, is writable by everyone")
      }
    case .system:
      guard status.st_mode & 0o022 == 0 else {
        throw .unsafeSocket("\(path) is writable by users other than its owner")
      }
    }
  }

  /// Returns true when the process that listens may run as `uid`. In the runtime directory only the user of this
  /// process is trusted. At an explicit path and for the machine's vault, root and the owner of the directory are
  /// trusted. At an explicit path that is not another user's, the user of this process is trusted too.
  private borrowing func isTrusted(_ uid: uid_t) -> Bool {
    switch location.trust {
    case .runtimeDirectory: uid == geteuid()
    case .explicit: uid == 0 || uid == owner || uid == geteuid() && !Self.isForeign(owner)
    case .system: uid == 0 || uid == owner
    }
  }

  private borrowing func connect() throws(ClientError) -> Outcome {
    let opened = unsafe openat(directory.number, location.parts.name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
    if opened < 0, errno == ENOENT { return .nobodyThere }
    let inode = try Descriptor("open \(location.path)", opened)
    var status = stat()
    guard unsafe fstat(inode.number, &status) == 0 else { throw .system("fstat \(location.path)", errno: errno) }
    if status.st_mode & S_IFMT == S_IFLNK { throw .unsafeSocket("\(location.path) is a symbolic link") }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw .unsafeSocket("\(location.path) is not a socket") }

    let socket = try Descriptor("socket", socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    // The kernel admits waiting clients in order. A client that retried only now and then would rarely find room in the
    // queue of a daemon while another program connects again and again.
    var wait = timeval(tv_sec: 0, tv_usec: Self.longestWait)
    unsafe setsockopt(socket.number, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    while unsafe vault_connect_unix(socket.number, "/proc/self/fd/\(inode.number)") != 0 {
      switch errno {
      case EINTR: continue
      case ECONNREFUSED, ENOENT: return .nobodyThere
      case EAGAIN: return .busy
      default: throw .system("connect \(location.path)", errno: errno)
      }
    }
    var peer = vault_peer()
    guard unsafe vault_peer_credentials(socket.number, &peer) == 0 else {
      throw .system("SO_PEERCRED", errno: errno)
    }
    guard isTrusted(peer.uid) else {
      throw .unsafeSocket("\(location.path) is served by uid \(peer.uid), which is the wrong user")
    }
    let flags = fcntl(socket.number, F_GETFL)
    guard flags >= 0, fcntl(socket.number, F_SETFL, flags | O_NONBLOCK) == 0 else {
      throw .system("fcntl \(location.path)", errno: errno)
    }
    return .connected(socket)
  }
}
