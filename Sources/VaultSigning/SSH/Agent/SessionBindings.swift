/// The SSH sessions that one connection to the agent came through, in order: those that forwarded it, and at the end the one
/// that logs in. The rules are those of OpenSSH's ssh-agent.
public struct SessionBindings: Hashable, Sendable {
  /// The number of sessions that a connection may come through.
  public static let limit = 16

  /// One session.
  public struct Hop: Hashable, Sendable {
    /// The blob of the host key that the session is with.
    public let hostKey: [UInt8]
    /// The identifier of the session.
    public let sessionID: [UInt8]
    /// True when the session forwards the agent.
    public let isForwarding: Bool
  }

  /// The sessions, from this machine outward.
  public private(set) var hops: [Hop] = []
  /// True once a bind was tried, whether it held or not.
  public private(set) var wasAttempted = false

  /// A connection without any.
  public init() {}

  /// True when the connection came from another host, over an agent that was forwarded to it. False, too, for a client of
  /// this machine that binds nothing; ``wasAttempted`` without ``hops`` tells of a bind that failed.
  public var isForwarded: Bool { hops.contains(where: \.isForwarding) }

  /// Notes a bind that was malformed or whose signature does not hold. On a connection without another bind, keys that are
  /// bound to destinations are of no use from then on.
  public mutating func fail() { wasAttempted = true }

  /// Adds the session of a bind whose signature the caller has found to hold.
  ///
  /// The same session and host key again change nothing, as with OpenSSH, not even whether the session forwards.
  /// - Throws: ``AgentRefusal`` after a session that logs in, because nothing can come through one; for a session that is
  ///   known with another host key; and beyond ``limit``. The connection is as it was before.
  public mutating func add(_ bind: SessionBind) throws(AgentRefusal) {
    wasAttempted = true
    for hop in hops {
      guard hop.isForwarding else { throw AgentRefusal("the connection is bound to a session that logs in") }
      guard hop.sessionID == bind.sessionID else { continue }
      guard hop.hostKey == bind.hostKey else { throw AgentRefusal("the session is bound to another host key") }
      return
    }
    guard hops.count < Self.limit else { throw AgentRefusal("the connection is bound to too many sessions") }
    hops.append(Hop(hostKey: bind.hostKey, sessionID: bind.sessionID, isForwarding: bind.isForwarding))
  }
}
