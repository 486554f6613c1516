internal import VaultSSH
internal import VaultService

extension ForwardedWay {
  /// - Parameter matter: the data to sign; nil for requests of other kinds.
  fileprivate init(_ bindings: SessionBindings, _ matter: SignedMatter?) {
    let hops = bindings.hops.map { Hop(hostKey: $0.hostKey, isForwarding: $0.isForwarding) }
    self.init(hops, to: Self.end(bindings, matter))
  }

  /// The end of the way, as the SSH sessions prove it: the host, or the namespace of a signed message. Nil if the
  /// sessions prove no end.
  private static func end(_ bindings: SessionBindings, _ matter: SignedMatter?) -> End? {
    guard !bindings.isBroken, let last = bindings.hops.last else { return nil }
    switch matter {
    case .login(let login): return !last.isForwarding && last.sessionID == login.sessionID ? .host : nil
    case .message(let message): return last.isForwarding ? .message(message.namespace) : nil
    case nil: return .host
    }
  }
}

extension AuthenticationSession {
  /// Sets the scope for a connection that came through these sessions, if they forwarded the agent.
  ///
  /// - Parameter matter: the data to sign; nil for requests of other kinds.
  mutating func come(over bindings: SessionBindings, for matter: SignedMatter? = nil) {
    if bindings.isForwarded { come(over: ForwardedWay(bindings, matter)) }
  }
}
