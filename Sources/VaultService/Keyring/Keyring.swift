internal import VaultCore
package import VaultModel
internal import VaultStore

/// The keyring: items of the vault in collections, as programs of the desktop know them from the Secret Service.
///
/// Everything is decided and recorded like the calls at other doors. Whatever a caller lacks for an item, be it an
/// unlock, a right or presence, appears as `locked`, and a prompt obtains it (``KeyringPrompt``).
package final class Keyring {
  let vault: Vault
  let access: Access
  let items: Items
  package var settings: KeyringSettings { vault.settings.keyring }
  /// The collections, as far as they are known while names cannot be read.
  private(set) var directory = KeyringDirectory()
  private let file: KeyringFile
  /// True from a lock that a program asked for here until the next unlock. Meanwhile nothing is served here, not even
  /// items that are served elsewhere while the vault is locked.
  package private(set) var isShut = false
  /// The searches that could not be made yet.
  let placeholders: Placeholders
  /// The items of the session.
  let ofSession: SessionItems
  /// Called with each change that programs are told of.
  package var changed: (KeyringEvent) -> Void = { _ in }

  package init(_ rooms: Rooms) {
    (vault, access, items) = (rooms.vault, rooms.access, rooms.items)
    placeholders = Placeholders(rooms.vault)
    ofSession = SessionItems(rooms.vault)
    file = KeyringFile(directory: rooms.vault.directory)
    directory = file.read { [log = vault.log] in log.warning("keyring: \($0)") }
    if vault.state.kind == .unlocked { readRecords() }
    followPrompts()
  }

  /// Lets the open prompts know of what programs may have lacked.
  private func followPrompts() {
    let (accessChanged, shown, attended) = (
      vault.hooks.accessChanged, vault.hooks.presenceShown, vault.hooks.attended
    )
    vault.hooks.accessChanged = { [prompts = vault.prompts] in
      accessChanged()
      prompts.look()
    }
    vault.hooks.presenceShown = { [prompts = vault.prompts] in
      shown()
      prompts.look()
    }
    vault.hooks.attended = { [prompts = vault.prompts] in
      attended()
      prompts.wake()
    }
  }

  // MARK: Collections

  /// All collections, in the order in which programs see them.
  package var collections: [CollectionID] { directory.all + (settings.shares.isEmpty ? [] : [.shared]) }

  /// The collection that an alias names; nil if there is no such alias.
  package func collection(alias: String) -> CollectionID? {
    switch alias {
    case "default": directory.standard
    case "login": .login
    case "session": .session
    default: nil
    }
  }

  package func has(_ collection: CollectionID) -> Bool { collections.contains(collection) }

  // MARK: Locks

  /// Locks the vault for a caller, and serves nothing here until the next unlock.
  package func lock(for caller: Caller) throws(Refusal) {
    try access.checkLocker(caller)
    isShut = true
    vault.lock(because: .asked, caller)
    changed(.locks)
  }

  /// True if a caller cannot read and make items in a collection now.
  package func isLocked(_ collection: CollectionID, for caller: Caller) -> Bool {
    guard !isShut, let keychain = vault.openKeychain else { return true }
    switch collection {
    case .session: return !keychain.opensValues(of: .afterFirstUnlock)
    case .shared: return vault.state.kind != .unlocked
    case .login, .made:
      guard keychain.knowsAllNames, keychain.opensValues(of: settings.accessible),
        let name = try? Self.name(of: KeyringID(number: 0), in: collection)
      else { return true }
      let permit = access.permit(caller, on: name)
      return ![Right.get, .set].allSatisfy { permit.has($0, settings.accessible) }
    }
  }

  /// True if an item's value would not be served to a caller now.
  package func isLocked(_ item: ItemInfo, for caller: Caller) -> Bool {
    guard !isShut, let keychain = vault.openKeychain, keychain.opensValues(of: item.policy.accessible) else {
      return true
    }
    if access.decide(.get, item.name, item.policy, for: caller) == .allow { return false }
    return access.approval(.get, item.name, for: caller) == nil
  }

  /// True while nobody can tell which items there are.
  package var hidesItems: Bool { isShut || vault.hidesNames != false }

  // MARK: Names

  /// The name of the item that a program made in a collection.
  static func name(of id: KeyringID, in collection: CollectionID) throws(KeyringFault) -> ItemName {
    guard let folder = collection.folder, let name = try? ItemName("\(folder)/\(id.text)") else { throw .noSuchObject }
    return name
  }

  // MARK: Events

  /// The path of the item that has this name in a collection, or had it when the program that made it named it; nil if
  /// it has none.
  package func path(of name: ItemName, in collection: CollectionID) -> KeyringPath? {
    if let id = try? vault.openKeychain?.item(named: name).keyring?.id { return KeyringPath(collection, id.text) }
    guard let folder = collection.folder else { return nil }
    let rest = String(Substring(name.text.utf8.dropFirst(folder.utf8.count + 1)))
    return KeyringID(rest).map { KeyringPath(collection, $0.text) }
  }

  /// Tells programs of an event of the vault, as far as they see it.
  package func happened(_ event: VaultEvent) {
    switch event {
    case .state(let state):
      if state.kind == .unlocked {
        isShut = false
        readRecords()
        vault.prompts.wake()
      }
      changed(.locks)
    case .item(let name, let change, let new, _):
      let records = [name, new].compactMap(\.self).filter(Records.isRecord)
      if !records.isEmpty { readRecords() }
      for collection in records.compactMap(Records.collection) where has(collection) {
        changed(.collection(collection))
      }
      if let new { return moved(name, new) }
      if let collection = CollectionID(of: name), let path = path(of: name, in: collection) {
        changed(.items(collection, path, change))
      }
      vault.prompts.look()
    case .request: vault.prompts.look()
    case .integrityFailed: break
    }
  }

  /// Tells programs of an item with another name. Only in another collection is it another object for them.
  private func moved(_ old: ItemName, _ new: ItemName) {
    let (from, to) = (CollectionID(of: old), CollectionID(of: new))
    guard from != to, let id = try? vault.openKeychain?.item(named: new).keyring?.id else { return }
    if let from { changed(.items(from, KeyringPath(from, id.text), .deleted)) }
    if let to { changed(.items(to, KeyringPath(to, id.text), .created)) }
  }

  // MARK: The collections' own items

  /// The items that keep the properties of the collections, each in ``CollectionID/root``.
  enum Records {
    static let folder = "\(CollectionID.root)/.collections"
    /// The attribute of the record of the default collection.
    static let standard = (key: "default", value: "true")

    static func isRecord(_ name: ItemName) -> Bool { name.isWithin(folder) }

    static func name(_ collection: CollectionID) throws(KeyringFault) -> ItemName {
      guard collection.folder != nil, let name = try? ItemName("\(folder)/\(collection.element)") else {
        throw .readOnly
      }
      return name
    }

    static func collection(_ name: ItemName) -> CollectionID? {
      guard isRecord(name) else { return nil }
      let element = String(Substring(name.text.utf8.dropFirst(folder.utf8.count + 1)))
      return CollectionID(element: element).flatMap { $0.folder == nil ? nil : $0 }
    }
  }

  /// Learns the collections from the items, and writes the copy in the clear anew if it differs.
  func readRecords() {
    guard let keychain = vault.openKeychain, keychain.knowsAllNames else { return }
    let query = Query(within: Records.folder)
    let most = KeyringDirectory.most + 1
    let read = try? keychain.find(query, in: .folder(Records.folder), limit: most, now: vault.clock.wall())
    guard let records = read?.items else { return }
    var found = KeyringDirectory()
    for record in records.sorted(by: { ($0.keyring?.order ?? 0) < ($1.keyring?.order ?? 0) }) {
      guard let collection = Records.collection(record.name) else { continue }
      if case .made = collection { found.made.append(collection) }
      if record.attributes[Records.standard.key] == Records.standard.value { found.standard = collection }
    }
    guard found != directory else { return }
    directory = found
    do throws(SystemError) { try file.write(found) } catch {
      vault.log.warning("the list of collections could not be written: \(error)")
    }
    changed(.collections)
  }
}

/// A change that programs of the desktop are told of.
package enum KeyringEvent {
  /// Items and collections may be locked now, or no longer, for each caller in its own way.
  case locks
  /// There are other collections than before, or another one is the default.
  case collections
  /// The properties of a collection have changed.
  case collection(CollectionID)
  /// An item of a collection has changed.
  case items(CollectionID, KeyringPath, VaultEvent.Change)
}

/// The reason why a call of the keyring fails.
package enum KeyringFault: Error, Equatable {
  /// The caller lacks something that a prompt obtains.
  case isLocked
  case noSuchObject
  /// The collection, or the property, cannot be changed here.
  case readOnly
  /// The call exceeds a limit, in words for a person.
  case limitsExceeded(String)
  case refused(Refusal)

  init(_ refusal: Refusal) {
    switch refusal {
    case .locked, .timedOut, .unshown, .unanswered, .unapproved, .presenceRequired, .denied, .noVault: self = .isLocked
    case .noSuchItem: self = .noSuchObject
    case .tooLarge, .tooMuch, .invalidValue: self = .limitsExceeded(refusal.reason)
    case .invalid, .vaultExists, .noSuchVersion, .noSuchSlot, .noSuchGrant, .noSuchRequest, .invalidGrant, .lastSlot,
      .alreadyExists, .expired, .invalidName, .wrongKind, .wrongUse, .neverRead, .notOnTheseTerms, .invalidQuery,
      .authenticationFailed, .mistypedRecoveryCode, .backingOff, .unavailable, .accountExpired, .tooManyTries,
      .presenceFailed, .rekeying, .rekeyRests, .noSuchDeposit, .cancelled, .weakSecret, .corrupt, .storageFailed,
      .outOfMemory, .busy, .invalidBackup, .misconfigured:
      self = .refused(refusal)
    }
  }
}
