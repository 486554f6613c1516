internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The names, keys and values that are in the vault, for whoever types one.
///
/// It asks a daemon that runs, and offers nothing rather than anything going wrong: it starts none, asks nobody anything, and
/// moves no deadline.
struct CompletionSource {
  /// The most texts that are offered.
  private static let most = 1000
  /// The milliseconds after which whatever has come is all.
  private static let patience = 400

  let socket: String?
  let system: Bool

  /// What stands directly in the folder of `prefix` and begins with it.
  func children(_ prefix: String) -> [Completion.Offer] {
    texts { vault, each in try vault.children(prefix, limit: CompletionSource.most, each: each) }.map { name in
      Completion.Offer(text: name, isWhole: name.utf8.last != UInt8(ascii: "/"))
    }
  }

  /// The names of the items in the trash.
  func trash() -> [Completion.Offer] {
    let names = texts { vault, each in _ = try each(vault.find(inTrash: true).map(\.name)) }
    var seen: Set<[UInt8]> = []
    // In order as they come.
    return names.filter { seen.insert(Array($0.utf8)).inserted }.map { Completion.Offer(text: $0) }
  }

  /// The numbers of the deposits that were kept aside, with the items that they are for.
  func deposits() -> [Completion.Offer] {
    var kept: [Wire.DepositInfo] = []
    _ = texts { vault, _ in kept = try vault.deposits().filter { !$0.waiting } }
    return kept.sorted { $0.number < $1.number }.prefix(CompletionSource.most).map { deposit in
      Completion.Offer(text: "\(deposit.number)", help: Printable.text(deposit.name ?? deposit.reason ?? ""))
    }
  }

  /// The numbers of requests and approvals, with what they are for.
  func requests() -> [Completion.Offer] {
    var found: [Wire.Request] = []
    _ = texts { vault, _ in found = try vault.requests() }
    return found.prefix(CompletionSource.most).compactMap { request in
      request.number.map {
        Completion.Offer(text: "\($0)", help: Printable.text("\(request.subject) \(request.name)"))
      }
    }
  }

  /// The keys of all attributes.
  func keys() -> [String] { texts { vault, each in try vault.attributes(each: each) } }

  /// The values of an attribute.
  func values(of key: String) -> [String] { texts { vault, each in try vault.attributes(key, each: each) } }

  /// The keys of an item's attributes.
  func attributes(of item: String) -> [String] {
    texts { vault, each in _ = try each(Array(vault.show(item).attributes.keys)) }
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
