internal import VaultSSH
internal import VaultService
internal import VaultSigning

extension AgentRequest {
  /// The terms of a request that cannot be read and is refused.
  static let termsOfUnreadable = CallTerms("ssh-agent: a request that cannot be read", needs: .log, entry: .first)
  /// The terms of a request that is not taken in, because it is too long.
  static let termsOfTooLong = CallTerms("ssh-agent: a request that is too long", needs: .log, entry: .first)

  /// The terms on which a request is answered.
  var terms: CallTerms {
    switch self {
    case .list: CallTerms("ssh-agent: list", needs: .log, entry: .first)
    case .sign: CallTerms("ssh-agent: sign", needs: .log, entry: .first)
    case .add: CallTerms("ssh-agent: ssh-add", needs: .log, entry: .first)
    case .remove: CallTerms("ssh-agent: ssh-add -d", needs: .log, entry: .first)
    case .removeAll: CallTerms("ssh-agent: ssh-add -D", needs: .log, entry: .first)
    // The agent's own lock and unlock need no log, like the vault's Lock and Unlock.
    case .lock: CallTerms("ssh-agent: ssh-add -x", needs: .nothing, entry: .first)
    case .unlock: CallTerms("ssh-agent: ssh-add -X", needs: .nothing, entry: .first)
    case .bind: CallTerms("ssh-agent: session-bind", needs: .log, entry: .first)
    case .query: CallTerms("ssh-agent: query", needs: .nothing, entry: .ofRefusals)
    case .unknownExtension: CallTerms("ssh-agent: an extension that is not known", needs: .log, entry: .first)
    case .unsupported: CallTerms("ssh-agent: a request that is not known", needs: .log, entry: .first)
    }
  }

  /// The cost of a request that cannot be read and is refused.
  static let costOfUnreadable = CallCost.answer

  /// The cost of a request.
  var cost: CallCost {
    switch self {
    case .list, .add, .remove, .removeAll, .lock, .unlock, .bind, .query, .unknownExtension, .unsupported:
      .answer
    // A signature with a large RSA key is made in a helper beside the loop. What the loop does for it is charged.
    case .sign:
      .work
    }
  }

  /// True for a request whose answer needs the list of the items that are keys.
  var listsKeys: Bool {
    switch self {
    case .list, .sign: true
    case .add, .remove, .removeAll, .lock, .unlock, .bind, .query, .unknownExtension, .unsupported: false
    }
  }
}
