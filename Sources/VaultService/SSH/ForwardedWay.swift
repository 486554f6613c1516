internal import VaultCore

/// The way over other hosts by which requests come to the ssh-agent: the hosts that forward it, the host of the login,
/// and the kind of data to sign. A person was told of this way when showing presence, so the presence counts only for
/// it.
package struct ForwardedWay: Hashable, Sendable {
  /// A host on the way.
  package struct Hop: Hashable, Sendable {
    /// The host's key in SSH's form (RFC 4253 section 6.6), whose signature over the session was verified.
    let hostKey: [UInt8]
    let isForwarding: Bool

    package init(hostKey: [UInt8], isForwarding: Bool) { (self.hostKey, self.isForwarding) = (hostKey, isForwarding) }
  }

  /// The end of a way.
  package enum End: Hashable, Sendable {
    /// The host of the last session.
    case host
    /// The namespace of a message that is signed on the last forwarding host.
    case message(String)
  }

  private let hops: [Hop]
  private let end: End?
  /// Random bytes where the end is not proven, so that no other request has the same way.
  private let mark: [UInt8]

  /// - Parameter end: the end that the sessions prove; nil if they prove none.
  package init(_ hops: [Hop], to end: End?) {
    (self.hops, self.end) = (hops, end)
    mark = end == nil ? RandomBytes.array(count: 16) : []
  }
}

extension AuthenticationSession {
  /// Sets the scope for a connection to the ssh-agent that came by this way. Presence shown on this machine does not
  /// count for requests from another host, and presence shown for one way over other hosts does not count for another
  /// way.
  package mutating func come(over way: ForwardedWay) { scope = .forwardedAgent(way) }
}
