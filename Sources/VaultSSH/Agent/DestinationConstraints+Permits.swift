extension DestinationConstraints {
  /// The hosts of a permitted signature, with their names from the constraints.
  public struct Route: Hashable, Sendable {
    /// The first host that forwards the agent; nil if none does.
    public let through: String?
    /// The host at which the login takes place.
    public let to: String
  }

  /// True if the connection may see the key, and so may remove it.
  ///
  /// A client on this machine that has bound nothing sees all keys. If hosts forward the agent, each step must be
  /// permitted, and also one from the last host to any other: a key that may log in at a host but go no further is not
  /// shown there.
  public func permitsListing(over bindings: SessionBindings) -> Bool {
    if bindings.isBroken { return false }
    guard let last = bindings.hops.last else { return true }
    guard (try? walk(bindings.hops, user: nil)) != nil else { return false }
    return !last.isForwarding || step(from: last.hostKey, to: nil, user: nil) != nil
  }

  /// Decides whether the key may sign for the connection, and for which host.
  ///
  /// - Parameter authentication: The data to sign, which name the key of these constraints; nil for any other data,
  ///   which the key never signs.
  /// - Throws: ``AgentRefusal`` if the key may not sign.
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
      // With one hop, the session is sufficient proof, because this machine takes part in it. With more hops, another
      // host binds the later sessions, in which this machine takes no part.
      guard bindings.hops.count == 1 else { throw AgentRefusal("the login over a forwarded agent names no host") }
      return route
    }
    guard hostKey == last.hostKey else {
      throw AgentRefusal("the login is for another host than the connection is bound to")
    }
    return route
  }

  /// Finds a step for each hop. With a `user`, the steps are for a signature: the last hop must then log in as that
  /// user.
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
        throw AgentRefusal("the key is not for this host, or not by way of these hosts")
      }
      names.append(step.to.name)
      from = hop.hostKey
    }
    return Route(through: names.count > 1 ? names[0] : nil, to: names[names.count - 1])
  }

  /// The first step with these ends and this user. A nil `from` is this machine, a nil `to` any host, a nil `user` any
  /// user.
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
  /// True if the constraint means a host with this key. A certificate never matches, even if it is listed itself.
  fileprivate func matches(_ hostKey: [UInt8]) -> Bool {
    !KeyBlob.isCertificate(hostKey) && keys.contains { !$0.isAuthority && $0.blob == hostKey }
  }
}
