internal import VaultWire

/// The rule that decides which user may ask for the authentication of which other user.
enum Admission {
  /// Returns the reason to refuse a request, or nil when it is allowed.
  ///
  /// - Parameters:
  ///   - peer: the uid at the other end of the connection, as the kernel reports it.
  ///   - own: the uid that this process runs as.
  ///   - vault: the uid of the daemon of the machine's vault, when there is such a user.
  static func refusal(of request: PresenceWire.Request, peer: UInt32, own: UInt32, vault: UInt32?) -> String? {
    guard PresenceWire.isService(request.service) else { return "the PAM service must be vault or begin with vault-" }
    if own == 0 {
      // The daemon of the machine's vault may ask about any account, because unlocking that vault is a matter between
      // the daemon and PAM. Otherwise only root may ask; if others could, every user could try passwords as root.
      return peer == 0 || peer == vault ? nil : "uid \(peer) may not ask; root and the user \(SystemAccount.name) may"
    }
    guard peer == own || peer == 0 else { return "uid \(peer) may not ask for uid \(own)" }
    return request.uid == own ? nil : "running as uid \(own), it cannot check uid \(request.uid)"
  }
}
