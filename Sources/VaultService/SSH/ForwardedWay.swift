internal import VaultCore
package import VaultSigning

/// The way over other hosts by which requests come to the ssh-agent: the hosts that forward it, the host of the login,
/// and the kind of data to sign. A person was told of this way when showing presence, so the presence counts only for
/// it.
package struct ForwardedWay: Hashable, Sendable {
  private struct Hop: Hashable {
    /// The host's key in SSH's form (RFC 4253 section 6.6), whose signature over the session was verified.
    let hostKey: [UInt8]
    let isForwarding: Bool
  }

  /// The end of a way.
  private enum End: Hashable {
    /// The host of the last session.
    case host
    /// The namespace of a message that is signed on the last forwarding host.
    case message(String)
    /// Any other end: random bytes, so that no other request has the same way.
    case unknown([UInt8])
  }

  private let hops: [Hop]
  private let end: End

  /// - Parameter matter: the data to sign; nil for requests of other kinds.
  fileprivate init(_ bindings: SessionBindings, _ matter: SignedMatter?) {
    hops = bindings.hops.map { Hop(hostKey: $0.hostKey, isForwarding: $0.isForwarding) }
    end = Self.end(bindings, matter) ?? .unknown(RandomBytes.array(count: 16))
  }

  /// The end that the sessions prove; nil if they prove none.
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
  /// Sets the scope for a connection to the ssh-agent that came through these sessions. Presence shown on this machine
  /// does not count for requests from another host, and presence shown for one way over other hosts does not count for
  /// another way.
  ///
  /// - Parameter matter: the data to sign; nil for requests of other kinds.
  package mutating func come(over bindings: SessionBindings, for matter: SignedMatter? = nil) {
    if bindings.isForwarded { scope = .forwardedAgent(ForwardedWay(bindings, matter)) }
  }
}
