internal import CLinux
internal import CSystemd
internal import Glibc
internal import VaultService

/// The sockets of a daemon, which systemd handed over or the daemon bound itself.
struct Sockets {
  /// The socket for clients.
  let clients: ListeningSocket
  /// The socket for service managers that fetch credentials; nil when the socket unit has none.
  let credentials: ListeningSocket?
  /// The socket for SSH programs; nil for the machine's vault, and when the socket unit has none.
  let ssh: ListeningSocket?
  /// Connections of service managers that an earlier process of this service left when it was killed.
  let kept: [Int32]
  /// True when systemd made the sockets, keeps them, and will remove them.
  let isInherited: Bool

  /// Returns the sockets of the socket unit, when there is one (sd_listen_fds(3)).
  static func inherited() throws(SystemError) -> Sockets? {
    let count = sd_listen_fds(1)
    guard count != 0 else { return nil }
    guard count > 0 else { throw SystemError(call: "sd_listen_fds", code: -count) }
    var clients: ListeningSocket?
    var credentials: ListeningSocket?
    var ssh: ListeningSocket?
    var kept: [Int32] = []
    let stream = Int32(SOCK_STREAM.rawValue)
    // SD_LISTEN_FDS_START is a macro: the first inherited descriptor is 3.
    for descriptor in 3..<3 + count {
      if sd_is_socket_unix(descriptor, stream, 0, nil, 0) > 0 {
        kept.append(descriptor)
      } else if sd_is_socket_unix(descriptor, stream, 1, nil, 0) <= 0 {
        throw SystemError(call: "socket activation must hand over only Unix stream sockets", code: EINVAL)
      } else if isNamed("credentials", descriptor) {
        try take(descriptor, as: &credentials, "credentials")
      } else if isNamed("ssh.socket", descriptor) {
        try take(descriptor, as: &ssh, "the ssh-agent")
      } else {
        try take(descriptor, as: &clients, "clients")
      }
    }
    guard let clients else {
      throw SystemError(call: "socket activation must hand over a socket for clients", code: EINVAL)
    }
    return Sockets(clients: clients, credentials: credentials, ssh: ssh, kept: kept, isInherited: true)
  }

  private static func take(
    _ descriptor: Int32, as socket: inout ListeningSocket?, _ use: String
  ) throws(SystemError) {
    guard socket == nil else {
      throw SystemError(call: "socket activation must hand over only one socket for \(use)", code: EINVAL)
    }
    socket = ListeningSocket(descriptor: descriptor)
  }

  /// Identifies the socket by its file name, because all sockets carry the name of their unit.
  private static func isNamed(_ file: String, _ descriptor: Int32) -> Bool {
    SocketName.path(of: descriptor)?.hasSuffix("/" + file) ?? false
  }

  /// Binds all sockets of `paths`.
  static func bound(_ paths: Paths) throws(SystemError) -> Sockets {
    let sockets = try ListeningSocket.bound(to: paths.sockets)
    return Sockets(
      clients: sockets[0], credentials: sockets[1], ssh: sockets.count > 2 ? sockets[2] : nil, kept: [],
      isInherited: false)
  }
}
