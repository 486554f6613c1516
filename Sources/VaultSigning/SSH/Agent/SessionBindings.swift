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
  /// True once a bind did not hold: where the connection comes from cannot be told any more, nor can it be bound.
  public private(set) var isBroken = false

  /// A connection without any.
  public init() {}

  /// True when the connection came from another host, over an agent that was forwarded to it, or may have. False, too, for a
  /// client of this machine that binds nothing.
  public var isForwarded: Bool { isBroken || hops.contains(where: \.isForwarding) }

  /// Notes a bind that was malformed or whose signature does not hold. Keys that are bound to destinations are of no use on the
  /// connection from then on: the session that it stands for may be one that forwards the agent.
  public mutating func fail() { isBroken = true }

  /// Adds the session of a bind whose signature the caller has found to hold.
  ///
  /// The same session and host key again change nothing, as with OpenSSH, not even whether the session forwards.
  /// - Throws: ``AgentRefusal`` after a session that logs in, because nothing can come through one; for a session that is
  ///   known with another host key; and beyond ``limit`` or after one that did not hold. The connection is as it was before,
  ///   but beyond the limit, where it is broken.
  public mutating func add(_ bind: SessionBind) throws(AgentRefusal) {
    guard !isBroken else { throw AgentRefusal("an earlier binding of the connection did not hold") }
    for hop in hops {
      guard hop.isForwarding else { throw AgentRefusal("the connection is bound to a session that logs in") }
      guard hop.sessionID == bind.sessionID else { continue }
      guard hop.hostKey == bind.hostKey else { throw AgentRefusal("the session is bound to another host key") }
      return
    }
    guard hops.count < Self.limit else {
      isBroken = true
      throw AgentRefusal("the connection is bound to too many sessions")
    }
    hops.append(Hop(hostKey: bind.hostKey, sessionID: bind.sessionID, isForwarding: bind.isForwarding))
  }

  /// True where a login names another host than its session is bound to.
  public func contradict(_ login: UserAuthentication) -> Bool {
    guard let hostKey = login.hostKey else { return false }
    return hops.contains { $0.sessionID == login.sessionID && $0.hostKey != hostKey }
  }
}
