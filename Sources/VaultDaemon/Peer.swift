internal import CLinux
internal import CSystemd
internal import Glibc
internal import NIOCore

/// The process at the other end of a connection, as the kernel saw it when it connected.
struct Peer: Hashable, Sendable {
  var uid: uid_t
  var pid: pid_t

  /// Asks the kernel who is at the other end of a channel.
  static func of(_ channel: any Channel) -> EventLoopFuture<Peer> {
    guard let options = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(SystemError(call: "SO_PEERCRED", code: ENOTSOCK))
    }
    // The option's value is `struct ucred`, and `vault_peer` has its layout.
    let credentials: EventLoopFuture<vault_peer> = options.unsafeGetSocketOption(
      level: .socket, name: .init(rawValue: CInt(SO_PEERCRED)))
    return credentials.map { Peer(uid: $0.uid, pid: $0.pid) }
  }

  /// True when the process belongs to a system service, where nobody sits: its claim to be interactive does not count.
  ///
  /// `sd_pid_get_unit` names the system manager's unit, which a user cannot fake; a user's own processes are in
  /// `user@UID.service` or a session scope.
  var isSystemService: Bool {
    // Of a process that cannot be seen from here nothing is believed; 0 would be this one.
    guard pid > 0 else { return true }
    var name: UnsafeMutablePointer<CChar>?
    guard unsafe sd_pid_get_unit(pid, &name) >= 0, let name = unsafe name else { return false }
    defer { unsafe free(name) }
    let unit = unsafe String(cString: name)
    return unit.hasSuffix(".service") && !unit.hasPrefix("user@")
  }
}
