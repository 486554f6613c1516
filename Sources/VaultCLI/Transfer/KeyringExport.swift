internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// An export of the vault's keyring to another keyring.
struct KeyringExport {
  private let session: Session
  private let keyring: OtherKeyring
  private let source: KeyringSource
  /// For each collection of the vault, the number of its target in the other keyring; nil if the target must be made.
  private let targets: [Int?]

  init(_ session: Session, _ keyring: OtherKeyring, _ source: KeyringSource) {
    (self.session, self.keyring, self.source) = (session, keyring, source)
    var taken: Set<Int> = []
    targets = source.collections.map { collection in
      let found = Self.target(of: collection, keyring.collections, taken)
      if let found { taken.insert(found) }
      return found
    }
  }

  /// Finds the target of a collection in the other keyring: `login` for `login`, and otherwise one with the same label.
  private static func target(
    of collection: KeyringSource.Collection, _ others: [ProviderCollection], _ taken: Set<Int>
  ) -> Int? {
    let free = others.indices.filter { !taken.contains($0) && !others[$0].aliases.contains("session") }
    if collection.id == .login, let login = free.first(where: { others[$0].aliases.contains("login") }) {
      return login
    }
    return free.first {
      others[$0].label.utf8.elementsEqual(collection.label.utf8)
        && (collection.id == .login || !others[$0].aliases.contains("login"))
    }
  }

  /// The account of an export that copies every item.
  var plan: TransferAccount {
    var account = TransferAccount()
    for (collection, target) in zip(source.collections, targets) {
      var part = TransferAccount.Part(label: collection.label, isNew: target == nil)
      part.counts[.new] = collection.items.count
      account.parts.append(part)
    }
    return account
  }

  /// The plan in words, one line for each collection.
  var facts: [String] {
    zip(source.collections, targets).map { collection, target in
      let place =
        target.map { "to \(Printable.quoted(keyring.collections[$0].label))" } ?? "to a new collection of that name"
      return "\(Printable.quoted(collection.label)): \(Counted.text(collection.items.count, "item")) \(place)"
    }
  }

  func run() throws(Failure) -> TransferAccount {
    try session.call { vault in
      try vault.export(to: "the keyring at \(keyring.name)", count: source.count)
    }
    var account = TransferAccount()
    let progress = Progress()
    defer { progress.clear() }
    var done = 0
    do throws(Failure) {
      for (collection, target) in zip(source.collections, targets) {
        account.parts.append(TransferAccount.Part(label: collection.label, isNew: target == nil))
        guard let number = try open(collection, target, &account) else {
          done += collection.items.count
          continue
        }
        for item in collection.items {
          progress.show(ProgressBar.text("copying", done, of: source.count, " of \(source.count) items"))
          try copy(item, to: number, &account)
          done += 1
        }
      }
    } catch {
      guard account.stored > 0 else { throw error }
      throw Failure(error.exit, "\(error.message) (\(Counted.text(account.stored, "item")) copied before that)")
    }
    return account
  }

  /// Unlocks or makes the target of a collection, and returns its number; nil if the keyring, or a person, refuses.
  private func open(
    _ collection: KeyringSource.Collection, _ target: Int?, _ account: inout TransferAccount
  ) throws(Failure) -> Int? {
    let part = account.parts.count - 1
    let failure: ProviderFailure?
    if let target {
      if keyring.collections[target].isLocked, Keyboard.isAttended {
        Output.note("the other keyring asks you to unlock \(Printable.quoted(collection.label))")
      }
      failure = try keyring.unlock(target)
      if failure == nil { return target }
    } else {
      if Keyboard.isAttended {
        Output.note("the other keyring asks for a password for \(Printable.quoted(collection.label))")
      }
      switch try keyring.make(collection.label) {
      case .success(let number): return number
      case .failure(let reason): failure = reason
      }
    }
    account.parts[part].isNew = false
    account.parts[part].problem = TransferAccount.Problem(failure?.reason ?? "")
    return nil
  }

  private func copy(_ item: Wire.Item, to number: Int, _ account: inout TransferAccount) throws(Failure) {
    guard let facts = item.keyring else { return }
    let part = account.parts.count - 1
    func refused(_ reason: String) -> TransferAccount.Refused {
      TransferAccount.Refused(collection: account.parts[part].label, label: facts.label, reason: reason)
    }
    guard item.neverRead != true else {
      account.refused.append(refused("it is a key that is never read"))
      return
    }
    let value: SecretBuffer? = try session.unlocking(for: "vault export") { vault in
      try vault.get(item.name, expired: true)
    }
    let content = ProviderContent(label: facts.label, contentType: facts.contentType, attributes: facts.attributes)
    switch try keyring.reply(to: .store(collection: number, content), value: value) {
    case .stored(.new): account.parts[part].counts[.new, default: 0] += 1
    case .stored(.beside): account.parts[part].counts[.beside, default: 0] += 1
    case .stored(.present): account.parts[part].counts[.present, default: 0] += 1
    case .failed(let failure): account.failed.append(refused(failure.reason))
    default: throw OtherKeyring.wrong
    }
  }
}
