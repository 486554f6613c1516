extension DestinationConstraints {
  /// The hosts that a permitted signature goes through and to, by the names that the constraints have for them.
  public struct Route: Hashable, Sendable {
    /// The first host that forwards the agent; nil when none does.
    public let through: String?
    /// The host that is logged in to.
    public let to: String
  }

  /// True when the connection may see the key, and so may remove it.
  ///
  /// A client of this machine that has bound nothing sees all keys. Over hosts that forward the agent, each step has to be
  /// permitted, and one from the last host to any other: a key that may log in there and go no further is not shown there.
  public func permitsListing(over bindings: SessionBindings) -> Bool {
    if bindings.isBroken { return false }
    guard let last = bindings.hops.last else { return true }
    guard (try? walk(bindings.hops, user: nil)) != nil else { return false }
    return !last.isForwarding || step(from: last.hostKey, to: nil, user: nil) != nil
  }

  /// Decides whether the key may sign over the connection, and for which host.
  ///
  /// - Parameter authentication: the data to sign, by the very key that these constraints are on; nil when they are anything
  ///   else than a login, which such a key never signs.
  /// - Throws: ``AgentRefusal`` when it may not.
  public func permitSigning(
    _ authentication: UserAuthentication?, over bindings: SessionBindings
  ) throws(AgentRefusal) -> Route {
    guard !bindings.isBroken else { throw AgentRefusal("a binding of the connection did not hold") }
    guard let last = bindings.hops.last else { throw AgentRefusal("the connection is bound to no session") }
    guard let authentication else { throw AgentRefusal("the key is for logging in to certain hosts only") }
    let route = try walk(bindings.hops, user: authentication.user)
    guard authentication.sessionID == last.sessionID else {
      throw AgentRefusal("the login is for another session than the connection is bound to")
    }
    guard let hostKey = authentication.hostKey else {
      // On the first hop the session is proof enough. Beyond it another host binds sessions that this machine has no part in.
      guard bindings.hops.count == 1 else { throw AgentRefusal("the login over a forwarded agent names no host") }
      return route
    }
    guard hostKey == last.hostKey else {
      throw AgentRefusal("the login is for another host than the connection is bound to")
    }
    return route
  }

  /// Finds a step for each hop. With a `user` it is about a signature: the last hop has to log in, as that user.
  private func walk(_ hops: [SessionBindings.Hop], user: String?) throws(AgentRefusal) -> Route {
    var from: [UInt8]?
    var names: [String] = []
    for (index, hop) in hops.enumerated() {
      let isLast = index == hops.count - 1
      if isLast {
        guard user == nil || !hop.isForwarding else { throw AgentRefusal("the last session forwards the agent") }
      } else {
        guard hop.isForwarding else { throw AgentRefusal("a session that logs in forwards nothing") }
      }
      guard let step = step(from: from, to: hop.hostKey, user: isLast ? user : nil) else {
        throw AgentRefusal("the key is not for this host, or not over these")
      }
      names.append(step.to.name)
      from = hop.hostKey
    }
    return Route(through: names.count > 1 ? names[0] : nil, to: names[names.count - 1])
  }

  /// The first step from a host, or from this machine, to a host, or to any, as a user, or as any.
  private func step(from: [UInt8]?, to: [UInt8]?, user: String?) -> DestinationConstraint? {
    steps.first { step in
      if let from { guard step.from.matches(from) else { return false } }
      if from == nil { guard step.from.name.isEmpty, step.from.keys.isEmpty else { return false } }
      if let to { guard step.to.matches(to) else { return false } }
      guard let user, !step.to.user.isEmpty else { return true }
      return Wildcard.matches(Array(user.utf8), pattern: Array(step.to.user.utf8))
    }
  }
}

extension DestinationConstraint.Host {
  /// True when a host with this key is meant. A certificate is not, even where it is listed itself.
  fileprivate func matches(_ hostKey: [UInt8]) -> Bool {
    !KeyBlob.isCertificate(hostKey) && keys.contains { !$0.isAuthority && $0.blob == hostKey }
  }
}
