internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The names, keys and values in the vault, for a person who is typing one.
///
/// The source asks a running daemon, and offers nothing if anything goes wrong: it starts no daemon, asks nobody
/// anything, and moves no deadline.
struct CompletionSource {
  /// The most texts that are offered.
  private static let most = 1000
  /// The time limit in milliseconds; texts that arrive by then are offered.
  private static let patience = 400

  let socket: String?
  let system: Bool

  /// Returns the names directly in the folder of `prefix` that begin with `prefix`.
  func children(_ prefix: String) -> [Completion.Offer] {
    texts { vault, each in try vault.children(prefix, limit: CompletionSource.most, each: each) }.map { name in
      Completion.Offer(text: name, isWhole: name.utf8.last != UInt8(ascii: "/"))
    }
  }

  /// Returns the names of the items in the trash.
  func trash() -> [Completion.Offer] {
    let names = texts { vault, each in _ = try each(vault.find(inTrash: true).map(\.name)) }
    var seen: Set<[UInt8]> = []
    // The names are already sorted.
    return names.filter { seen.insert(Array($0.utf8)).inserted }.map { Completion.Offer(text: $0) }
  }

  /// Returns the numbers of the deposits that were kept aside, each with its item.
  func deposits() -> [Completion.Offer] {
    var kept: [Wire.DepositInfo] = []
    _ = texts { vault, _ in kept = try vault.deposits().filter { !$0.waiting } }
    return kept.sorted { $0.number < $1.number }.prefix(CompletionSource.most).map { deposit in
      let help = deposit.name.map(Printable.whole) ?? Printable.text(deposit.reason ?? "")
      return Completion.Offer(text: "\(deposit.number)", help: help)
    }
  }

  /// Returns the numbers of requests and approvals, each with its subject and item.
  func requests() -> [Completion.Offer] {
    var found: [Wire.Request] = []
    _ = texts { vault, _ in found = try vault.requests() }
    return found.prefix(CompletionSource.most).compactMap { request in
      request.number.map {
        Completion.Offer(text: "\($0)", help: "\(Printable.whole(request.subject)) \(Printable.whole(request.name))")
      }
    }
  }

  /// Returns the numbers of the prompts of programs that use the Secret Service, each with its program.
  func prompts() -> [Completion.Offer] {
    var found: [Wire.KeyringPrompt] = []
    _ = texts { vault, _ in found = try vault.requestsAndPrompts().prompts }
    return found.prefix(CompletionSource.most).map { Completion.Offer(text: "\($0.number)", help: $0.program) }
  }

  /// Returns the grants, in the order of their subjects and items.
  func grants() -> [Wire.Permission] {
    var found: [Wire.Permission] = []
    _ = texts { vault, _ in found = try vault.grants().grants }
    return Array(found.prefix(CompletionSource.most))
  }

  /// Returns the keys of all attributes.
  func keys() -> [String] { texts { vault, each in try vault.attributes(each: each) } }

  /// Returns the values of an attribute.
  func values(of key: String) -> [String] { texts { vault, each in try vault.attributes(key, each: each) } }

  /// Returns the keys of an item's attributes.
  func attributes(of item: String) -> [String] {
    texts { vault, each in _ = try each(Array(vault.show(item).attributes.keys)) }
  }

  /// Returns true if the client of a keyring keeps something with an item.
  func hasKeyring() -> Bool {
    !texts { vault, each in _ = try each(vault.find(Query.keyringLabel + "~**", limit: 1).map(\.name)) }.isEmpty
  }

  /// Returns the keys of the attributes that the clients of a keyring gave to items.
  func keyringKeys() -> [String] { keyring(Query.keyringLabel) { $0.attributes.map(\.key) } }

  /// Returns the values of an attribute that the clients of a keyring gave to items, or their labels.
  ///
  /// - Parameter key: the key in a query, such as `keyring:server`.
  func keyringValues(of key: String) -> [String] {
    keyring(key) { kept in
      if key == Query.keyringLabel { return [kept.label] }
      return kept.attributes.filter { Query.key(ofKeyring: $0.key) == key }.map(\.value)
    }
  }

  /// Returns the different texts that what is kept with the items gives that have a key.
  private func keyring(_ key: String, _ given: (Wire.Keyring) -> [String]) -> [String] {
    var seen: Set<[UInt8]> = []
    return texts { vault, each in
      try vault.find(key + "~**") { items in
        try each(items.compactMap(\.keyring).flatMap(given).filter { seen.insert(Array($0.utf8)).inserted })
      }
    }
  }

  private func texts(_ ask: (Vault, ([String]) throws -> Bool) throws -> Void) -> [String] {
    guard let session = try? Session(socket: socket, system: system, startsDaemon: false) else { return [] }
    session.vault.interactive = false
    session.vault.timeout = .milliseconds(CompletionSource.patience)
    let end = Moment.now() + CompletionSource.patience
    var texts: [String] = []
    try? session.call { vault in
      try ask(vault) { more in
        texts += more
        return texts.count < CompletionSource.most && Moment.now() < end
      }
    }
    return texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
