internal import VaultClient
internal import VaultWire

// Words for who has no right to anything, or not to what was asked for: how to ask.

extension Failure {
  /// The advice for who may not do what was asked for.
  static let askOwner = "ask whoever owns the vault"

  /// The same for a call that an administrator could have been asked about, and was not, since nobody said what it is for.
  func tellingHowToAsk(_ reason: String?) -> Failure {
    guard exit == .denied, advice == Self.askOwner, reason == nil else { return self }
    return Failure(exit, event, "say what for with --reason TEXT, and an administrator is asked")
  }
}

extension Session {
  /// The way to ask for an item, for who has no grant here; nil for everybody else, and where that cannot be told now.
  var wayToAsk: String? {
    // The number of requests is for administrators, who need no grant.
    guard let status = try? call({ vault in try vault.status() }), status.requests == nil,
      let own = try? call({ vault in try vault.grants() }), own.grants.isEmpty
    else { return nil }
    let command = Hint.vault("get NAME --reason 'what for'")
    return "nothing here is granted to you; \(command) asks an administrator for an item by its name"
  }

  /// The reason why who is no administrator sees nothing; nil for one, who sees everything.
  var mayNotSee: String? {
    guard let status = try? call({ vault in try vault.status() }), status.requests == nil else { return nil }
    return "there is nothing here that you may see"
  }
}
