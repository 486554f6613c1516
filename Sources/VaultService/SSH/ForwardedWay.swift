internal import VaultCore
package import VaultSigning

/// The way over other hosts by which requests come to the ssh-agent: the hosts that forward it, and the one that is
/// logged in to. What a person was told of when presence was shown, and so what that presence counts for.
package struct ForwardedWay: Hashable, Sendable {
  private struct Hop: Hashable {
    /// The host's key in SSH's form (RFC 4253 section 6.6), whose signature over the session was verified.
    let hostKey: [UInt8]
    let isForwarding: Bool
  }

  private let hops: [Hop]
  /// Random where one of the sessions is not known, so that nobody else comes by the same way.
  private let unknown: [UInt8]?

  fileprivate init(_ bindings: SessionBindings) {
    hops = bindings.hops.map { Hop(hostKey: $0.hostKey, isForwarding: $0.isForwarding) }
    unknown = bindings.isBroken ? RandomBytes.array(count: 16) : nil
  }
}

extension AuthenticationSession {
  /// Takes note of the sessions that a connection to the ssh-agent came through: what is shown on this machine does not
  /// count for requests from another one, nor what is shown for one way over other hosts for another.
  package mutating func come(over bindings: SessionBindings) {
    if bindings.isForwarded { scope = .forwardedAgent(ForwardedWay(bindings)) }
  }
}
