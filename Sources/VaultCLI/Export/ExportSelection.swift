internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The items that an export takes, and those that it leaves out.
struct ExportSelection {
  /// The most bytes of all values together, without their earlier versions.
  static let mostBytes = ExportCall.most.bytes / 2

  /// The items in the order of their names.
  private(set) var items: [EnvironmentNames.Item] = []
  private(set) var account = ExportAccount()

  /// Finds the items that match a query; nil stands for all items.
  init(_ query: String?, for format: FileFormat, _ session: Session) throws(Failure) {
    let (found, isFaulty) = try session.unlocking(for: "vault export") { vault in try vault.search(query) }
    guard !isFaulty else {
      throw Failure(
        .invalid, "the check of the store has failed, so items may be missing, and nothing was exported",
        "see \(Hint.vault("verify"))")
    }
    for item in found {
      guard let name = try? ItemName(item.name) else { continue }
      if let reason = Self.reason(item, name, format) {
        account.leaveOut(item.name, reason)
      } else {
        items.append((name, item, isOwn: false))
      }
    }
    items.sort { $0.name < $1.name }
    let trashed = try session.unlocking(for: "vault export") { vault in
      try vault.search(query, inTrash: true).items
    }
    for item in trashed { account.leaveOut(item.name, "it is in the trash, of which no value is served") }
    guard items.reduce(0, { $0 + $1.facts.size }) <= Self.mostBytes else {
      throw Failure(
        .invalid, "the items have more than \(Self.mostBytes >> 20) MiB together",
        "export them in parts, each by a predicate")
    }
    if !items.isEmpty { try judge(format, session) }
    account.items = items.count
  }

  /// The reason for which an item is left out; nil if it is not.
  private static func reason(_ item: Wire.Item, _ name: ItemName, _ format: FileFormat) -> String? {
    if item.neverRead == true { return "it is a key that is never read" }
    guard name.isWithin(CollectionID.root) else { return nil }
    if item.keyring == nil || name.isWithin("\(CollectionID.root)/.collections") {
      return "it is a record of the vault's keyring"
    }
    switch format {
    case .kdbx, .bitwarden: return nil
    case .env, .json:
      return "it is in the vault's keyring, which \(Hint.vault("export --to secret-service")) copies"
    }
  }

  /// Tells the exporter's own items from those of others, leaves out those that get no variable, and counts the grants
  /// that hold for the rest.
  private mutating func judge(_ format: FileFormat, _ session: Session) throws(Failure) {
    let found = try session.unlocking(for: "vault export") { vault in try vault.grants() }
    let exporter = Importer(uid: geteuid(), found.grants, confined: found.confined)
    for place in items.indices { items[place].isOwn = exporter.stranger(in: items[place].facts) == nil }
    if format == .env {
      let leftOut = try EnvironmentNames(items).leftOut
      for (name, reason) in leftOut { account.leaveOut(name.text, reason) }
      let names = Set(leftOut.map { $0.name })
      items.removeAll { names.contains($0.name) }
    }
    account.grants = found.grants.count { grant in
      guard grant.active, let pattern = try? ItemPattern(grant.items) else { return false }
      return items.contains { pattern.matches($0.name) }
    }
  }

  // MARK: Values

  /// Reads the values. Those that require the strictest proof of presence come first, so that a person who is asked
  /// gives that proof at the beginning.
  func read(_ format: FileFormat, _ session: Session) throws(Failure) -> [ExportedItem] {
    var read: [ExportedItem] = []
    let progress = Progress()
    defer { progress.clear() }
    let order = items.sorted { Self.strictness($0.facts) > Self.strictness($1.facts) }
    for item in order {
      progress.show(ProgressBar.text("reading", read.count, of: items.count, " of \(items.count) items"))
      read.append(try Self.read(item, format, session))
    }
    return read.sorted { $0.name < $1.name }
  }

  private static func strictness(_ item: Wire.Item) -> Int {
    Requirement.allCases.firstIndex { $0.name == item.require } ?? Requirement.allCases.count
  }

  private static func read(
    _ item: EnvironmentNames.Item, _ format: FileFormat, _ session: Session
  ) throws(Failure) -> ExportedItem {
    let (name, facts, isOwn) = item
    func value(_ version: Int) throws(Failure) -> SecretBuffer {
      try session.unlocking(for: "vault export") { vault in try vault.get(name.text, version: version, expired: true) }
    }
    let current = try value(facts.version)
    var versions: [ExportedItem.Earlier] = []
    if facts.version > 1, format != .env {
      let history = try session.unlocking(for: "vault export") { vault in try vault.history(name.text) }
      for version in history.reversed() where version.version < facts.version {
        // These two formats only tell that there are earlier versions.
        let old = format.order == nil ? SecretBuffer() : try value(version.version)
        versions.append(ExportedItem.Earlier(old, time: version.created))
      }
    }
    let hasKey = format == .bitwarden && facts.kind == ItemKind.sshKey.rawValue
    let key = hasKey ? try session.attempt { vault in try vault.publicKey(of: name.text, format: "openssh") } : nil
    return ExportedItem(name, facts, isOwn: isOwn, current, versions: versions, publicKey: key)
  }
}
