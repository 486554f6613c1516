/// The SSH sessions through which one connection reached the agent, in order: those that forwarded it and, last, the
/// one that logs in. The rules are those of OpenSSH's ssh-agent.
public struct SessionBindings: Hashable, Sendable {
  /// The highest number of sessions of a connection.
  public static let limit = 16

  /// One session of a connection.
  public struct Hop: Hashable, Sendable {
    /// The blob of the session's host key.
    public let hostKey: [UInt8]
    /// The identifier of the session.
    public let sessionID: [UInt8]
    /// True if the session forwards the agent.
    public let isForwarding: Bool
  }

  /// The sessions, from this machine outward.
  public private(set) var hops: [Hop] = []
  /// True once a bind has failed: the origin of the connection can no longer be determined, and no session can
  /// be bound any more.
  public private(set) var isBroken = false

  /// Makes the bindings of a connection without sessions.
  public init() {}

  /// True if the connection came, or may have come, from another host to which the agent was forwarded. False also for
  /// a client on this machine that binds nothing.
  public var isForwarded: Bool { isBroken || hops.contains(where: \.isForwarding) }

  /// Records a bind that was malformed or had an invalid signature. From then on, keys bound to destinations cannot be
  /// used on the connection, because the session of that bind may be one that forwards the agent.
  public mutating func fail() { isBroken = true }

  /// Adds the session of a bind, whose signature the caller must have verified.
  ///
  /// The same session with the same host key changes nothing, not even whether the session forwards, as in OpenSSH.
  /// - Throws: ``AgentRefusal`` after a session that logs in, because nothing can come through such a session; for a
  ///   known session with another host key; beyond ``limit``; and after a failed bind. The connection stays as it was,
  ///   except beyond the limit, where it is broken.
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

  /// True if a login names another host than the one to which its session is bound.
  public func contradict(_ login: UserAuthentication) -> Bool {
    guard let hostKey = login.hostKey else { return false }
    return hops.contains { $0.sessionID == login.sessionID && $0.hostKey != hostKey }
  }
}
