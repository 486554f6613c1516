internal import CLinux
internal import Glibc
internal import VaultAPI

extension PresenceCheck {
  /// The reason why a check of `uid` through `service` cannot work here, as far as that can be told without trying; nil
  /// when nothing speaks against it. Starts nothing.
  static func availability(of service: String, uid: UInt32, through helper: PresenceHelper) -> String? {
    // Where Linux-PAM looks, in its order.
    guard ["/etc/pam.d", "/usr/lib/pam.d"].contains(where: { unsafe access("\($0)/\(service)", F_OK) == 0 }) else {
      return "/etc/pam.d/\(service) is missing; `make install` puts it there"
    }
    if case .none(let reason) = helper.way(to: uid) { return reason }
    return nil
  }
}

extension PresenceOutcome {
  /// The answer to a client whose check ended so; nil for the one that is a yes.
  func fault(method: String, retryAfterMilliseconds: Int) -> Fault? {
    switch self {
    case .succeeded: nil
    case .failed: .authenticationFailed(method: method, retryAfterMilliseconds: retryAfterMilliseconds)
    case .unavailable(let reason): .methodUnavailable(method: method, reason: reason)
    case .cancelled: .cancelled
    case .expired(let reason): .accountExpired(reason: reason)
    case .tooManyTries: .tooManyTries
    case .broken(let reason): .presenceFailed(reason: reason)
    }
  }
}
