internal import CLinux
internal import Glibc
internal import VaultService

extension PresenceCheck {
  /// The PAM service that is installed with the daemon, together with the one for a finger alone.
  private static let installed = "vault"

  /// Returns the obstacle to a check of `uid` through `service` on this machine; nil when none can be seen without
  /// trying. Starts nothing.
  static func obstacle(to service: String, uid: UInt32, through helper: PresenceHelper) -> Obstacle? {
    // The directories that Linux-PAM searches, in its order.
    guard ["/etc/pam.d", "/usr/lib/pam.d"].contains(where: { unsafe access("\($0)/\(service)", F_OK) == 0 }) else {
      let isOurs = [Self.installed, "\(Self.installed)-biometry"].contains(service)
      return Obstacle(
        "/etc/pam.d/\(service) is missing",
        isOurs
          ? "`sudo make install` puts it there" : "write it, or set pam-service in vaultd.conf to `\(Self.installed)`")
    }
    if case .none(let obstacle) = helper.way(to: uid) { return obstacle }
    return nil
  }
}
