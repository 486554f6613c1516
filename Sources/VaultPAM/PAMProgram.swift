internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// The program `vault-pam`: one request, one PAM conversation, one outcome.
public enum PAMProgram {
  private static let usage: Int32 = 64

  /// The directories that Linux-PAM searches for a service, in its order.
  static let directories = ["/etc/pam.d", "/usr/lib/pam.d"]

  /// Serves the connection on standard input and returns the exit code.
  public static func main(_ arguments: [String]) -> Int32 {
    if arguments == ["--help"] {
      return StandardStream.answer(
        "vault-pam",
        "usage: vault-pam <connection\n\nStarted by vaultd(8) for each check of a user; see vault-pam(8).\n")
    }
    guard arguments.isEmpty, let connection = Isolation.takeConnection() else {
      return complain("it is started by vaultd, with a connection as standard input; see vault-pam(8)")
    }
    Isolation.apply()
    var peer = vault_peer()
    guard unsafe vault_peer_credentials(connection, &peer) == 0, HangUp.watch(connection) else {
      return complain("standard input is not a connected Unix socket")
    }
    let conversation = PAMConversation(over: FrameSocket(connection))
    guard let request = conversation.receiveRequest() else { return usage }
    conversation.send(outcome(of: request, peer: peer.uid, conversation))
    return 0
  }

  private static func outcome(
    of request: PresenceWire.Request, peer: uid_t, _ conversation: PAMConversation
  ) -> PresenceOutcome {
    let own = geteuid()
    if let reason = Admission.refusal(of: request, peer: peer, own: own, vault: Account.ofSystemVault?.uid) {
      return .unavailable(reason)
    }
    // PAM itself would fall back to the service `other`, which is not meant to open a vault.
    guard directories.contains(where: { unsafe access("\($0)/\(request.service)", F_OK) == 0 }) else {
      return .unavailable("there is no PAM service \(request.service): \(directories[0])/\(request.service) is missing")
    }
    if own != 0 && vault_no_new_privileges() != 0 {
      return .unavailable(
        "no new privileges are allowed here, and without them PAM cannot check even your own password")
    }
    guard let account = Account(uid: request.uid) else {
      return .unavailable("there is no user with uid \(request.uid)")
    }
    return authenticate(account, request, requester: Account(uid: peer)?.name, conversation)
  }

  private static func authenticate(
    _ account: Account, _ request: PresenceWire.Request, requester: String?, _ conversation: PAMConversation
  ) -> PresenceOutcome {
    do throws(Verdict) {
      var transaction = try PAMTransaction(service: request.service, user: account.name, conversation: conversation)
      transaction.describe(requester: requester, terminal: request.service)
      let verdict = transaction.run()
      if let problem = conversation.problem { return problem }
      if verdict.outcome == .succeeded && transaction.user != account.name {
        return .broken("a PAM module put another user in the place of \(account.name)")
      }
      return verdict.outcome
    } catch {
      return error.outcome
    }
  }

  private static func complain(_ text: String) -> Int32 {
    StandardStream.errors.complain("vault-pam", text)
    return usage
  }
}
