internal import VaultClient
internal import VaultWire

// Texts for a caller without any right, or without the right for this call: they say how to ask.

extension Failure {
  /// The advice for a caller without the right for this call.
  static var askOwner: String { Hint.reader().askOwner }

  /// The same failure, with advice to give a reason. An administrator could have been asked about the call, and was
  /// not, because the caller gave no reason.
  func tellingHowToAsk(_ reason: String?) -> Failure {
    guard exit == .denied, advice == Self.askOwner, reason == nil else { return self }
    return Failure(exit, event, "give a reason with --reason TEXT, and an administrator is asked")
  }
}

extension Session {
  /// The way to ask for an item, for a caller without any grant; nil for every other caller, and if the daemon cannot
  /// tell now.
  var wayToAsk: String? {
    // Only administrators see the number of requests, and they need no grant.
    guard let status = try? call({ vault in try vault.status() }), status.requests == nil,
      let own = try? call({ vault in try vault.grants() }), !own.grants.contains(where: \.active)
    else { return nil }
    let command = Hint.vault("get NAME --reason 'what for'")
    return "nothing here is granted to you; \(command) asks an administrator for an item by its name"
  }

  /// The reason why a caller that is no administrator sees nothing; nil for an administrator, who sees everything.
  var mayNotSee: String? {
    guard let status = try? call({ vault in try vault.status() }), status.requests == nil else { return nil }
    return "there is nothing here that you may see"
  }
}
