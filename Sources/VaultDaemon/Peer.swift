internal import CLinux
internal import CSystemd
internal import Glibc

/// The process at the other end of a connection, as the kernel saw it when it connected.
struct Peer: Hashable, Sendable {
  var uid: uid_t
  var pid: pid_t

  init(descriptor: Int32) throws(SystemError) {
    var credentials = vault_peer()
    try SystemError.check("getsockopt", unsafe vault_peer_credentials(descriptor, &credentials))
    uid = credentials.uid
    pid = credentials.pid
  }

  /// Whether the process belongs to a system service, where nobody sits: its claim to be interactive does not count.
  ///
  /// `sd_pid_get_unit` names the system manager's unit, which a user cannot fake; a user's own processes are in
  /// `user@UID.service` or a session scope.
  var isSystemService: Bool {
    var name: UnsafeMutablePointer<CChar>?
    guard unsafe sd_pid_get_unit(pid, &name) >= 0, let name = unsafe name else { return false }
    defer { unsafe free(name) }
    let unit = unsafe String(cString: name)
    return unit.hasSuffix(".service") && !unit.hasPrefix("user@")
  }
}
