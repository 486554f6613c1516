extension SessionBindings {
  /// The most hosts after the first that are named: a person reads no longer way.
  private static let mostNamed = 3

  /// The words for the one who asks on another host; empty for a request of this machine.
  ///
  /// They name the first host that forwards the agent, the only one for which the ssh of this machine vouches: anyone
  /// there can ask, and can prove any way beyond. They come before everything that the requester has chosen, so that
  /// nothing pushes them out of sight.
  func asker(_ name: ([UInt8]) -> String) -> String {
    guard let first = hops.first(where: \.isForwarding) else {
      return isBroken ? " for someone who may be on any host," : ""
    }
    return " for someone on \(name(first.hostKey))\(isBroken ? " or any other host" : ""),"
  }

  /// The words for the way after the first host, outward, as that host has proven it.
  func way(_ name: ([UInt8]) -> String) -> String {
    let beyond = hops.filter(\.isForwarding).dropFirst()
    guard !beyond.isEmpty else { return "" }
    let named = beyond.prefix(Self.mostNamed).map { name($0.hostKey) }
    let rest = beyond.count - named.count
    return ", by way of " + (named + (rest > 0 ? ["\(rest) more"] : [])).joined(separator: ", then ")
  }

  /// The words for whoever asks over a connection that came, or may have come, from another host; nil for a client on
  /// this machine.
  ///
  /// - Parameter name: Returns the name of a host from its key.
  public func relay(_ name: ([UInt8]) -> String) -> String? {
    let asker = asker(name)
    guard isForwarded, !asker.isEmpty else { return nil }
    return asker.dropFirst().dropLast() + way(name)
  }
}
