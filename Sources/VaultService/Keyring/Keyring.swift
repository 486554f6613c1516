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
  /// True from a lock that a program asked for here until the next unlock. Meanwhile no value is served here, not even
  /// one that is served elsewhere while the vault is locked.
  package private(set) var isShut = false
  /// True if programs were told last that everything is locked, because no entry can be written.
  private var hasToldUnrecorded = false
  /// The item that a path led to last: programs make several calls about an item that they have found.
  private var lastFound: (path: KeyringPath, name: ItemName, generation: UInt64)?
  /// The collections with items whose names the last lock has hidden; nil if nobody knows which these are.
  private var withHiddenItems: Set<CollectionID>?
  /// The searches that could not be made yet.
  let placeholders: Placeholders
  /// The items of the session.
  let ofSession: SessionItems
  /// Called with each change that programs are told of.
  package var changed: (KeyringEvent) -> Void = { _ in }
  /// The changes that each running search follows since its beginning.
  private var following: [Following] = []

  private struct Following {
    weak var changes: KeyringChanges?
  }

  package init(_ rooms: Rooms) {
    (vault, access, items) = (rooms.vault, rooms.access, rooms.items)
    placeholders = Placeholders(in: rooms.vault.holders)
    ofSession = SessionItems(rooms.vault)
    file = KeyringFile(directory: rooms.vault.directory)
    followPrompts()
    followNames()
    followKeys()
    followAudit()
  }

  /// True while programs are served. Until then the keyring learns nothing of the vault's items.
  package var isOn = false {
    didSet {
      guard isOn, !oldValue else { return }
      directory = file.read { [log = vault.log] in log.warning("keyring: \($0)") }
      if vault.state.kind == .unlocked { readRecords() }
    }
  }

  /// Tells the open prompts when something has come that their programs may have lacked.
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

  /// Remembers, across a lock that hides names, which collections have hidden items.
  private func followNames() {
    let (opened, willHideNames) = (vault.hooks.opened, vault.hooks.willHideNames)
    vault.hooks.opened = { [weak self] keychain in
      opened(keychain)
      guard let self else { return }
      withHiddenItems = nil
      if vault.settings.hideNames { placeholders.seal(in: vault) }
    }
    vault.hooks.willHideNames = { [weak self] keychain in
      willHideNames(keychain)
      self?.lastFound = nil
      self?.noteHidden(by: keychain)
    }
  }

  /// Opens everything that is sealed to the vault's key before a rekey changes the key, and seals it to the new key
  /// afterward.
  private func followKeys() {
    let (willChange, haveChanged) = (vault.hooks.willChangeKeys, vault.hooks.haveChangedKeys)
    vault.hooks.willChangeKeys = { [weak self] in
      willChange()
      guard let self else { return }
      placeholders.unseal(in: vault)
      for prompt in vault.prompts.all { prompt.sealed?.unseal(in: vault) }
    }
    vault.hooks.haveChangedKeys = { [weak self] in
      haveChanged()
      guard let self else { return }
      placeholders.seal(in: vault)
      for prompt in vault.prompts.all { try? prompt.sealed?.seal(in: vault) }
    }
  }

  /// Tells programs that everything is locked while a required entry of the audit log cannot be written, and tells them
  /// when that is over.
  private func followAudit() {
    // The state of the log may change amid a call, or within a transaction.
    vault.audit.problemChanged = { [weak self] in
      self?.vault.waiting.turns?.wait { self?.tellOfRecording() }
    }
    let reconfigured = vault.hooks.reconfigured
    vault.hooks.reconfigured = { [weak self] in
      reconfigured()
      self?.tellOfRecording()
    }
  }

  private func tellOfRecording() {
    guard isOn else { return }
    // A prompt may have met a problem that is gone already.
    if !isUnrecorded { vault.prompts.wake() }
    guard isUnrecorded != hasToldUnrecorded else { return }
    hasToldUnrecorded = isUnrecorded
    changed(.locks)
  }

  private func noteHidden(by keychain: Keychain) {
    guard isOn else {
      withHiddenItems = nil
      return
    }
    func hasHidden(_ folder: String) -> Bool { keychain.hasItems(of: .whenUnlocked, in: folder) }
    let all = hasHidden(CollectionID.root) ? directory.all : []
    withHiddenItems = Set(all.filter { $0.folder.map(hasHidden) ?? false })
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
    // If the vault was unlocked, programs are told by its event, as of any other lock.
    let isTold = isShut || vault.state.kind == .unlocked
    isShut = true
    vault.lock(because: .program, caller)
    if !isTold { changed(.locks) }
  }

  /// True while an entry is required and none can be written. Programs then find everything locked, as before the first
  /// unlock, and their prompts wait, because after an error some programs delete what they have encrypted.
  var isUnrecorded: Bool { vault.audit.isBlocking }

  /// The store from which programs are served; nil if none is open, or while no entry can be written.
  var keychain: Keychain? { isUnrecorded ? nil : vault.openKeychain }

  /// True if a caller cannot find, read and make items in a collection now.
  package func isLocked(_ collection: CollectionID, for caller: Caller) -> Bool {
    guard !isShut, let keychain else { return true }
    switch collection {
    case .session: if !keychain.opensValues(of: .afterFirstUnlock) { return true }
    case .shared: return vault.state.kind != .unlocked
    case .login, .made: if !keychain.knowsAllNames || !keychain.opensValues(of: settings.accessible) { return true }
    }
    return lackingRight(in: collection, caller) != nil
  }

  /// The first right of `rights` that a caller lacks in a collection, with the name that stands for the items of the
  /// collection; nil if the caller lacks none. By default they are the rights to find, read and make items: a program
  /// that finds nothing makes a second key.
  func lackingRight(
    _ rights: [Right] = [.find, .get, .set], in collection: CollectionID, _ caller: Caller
  ) -> (right: Right, name: ItemName, permit: Permit)? {
    guard let name = collection.nameOfAll else { return nil }
    let permit = access.permit(caller, on: name)
    let accessible = collection == .session ? .afterFirstUnlock : settings.accessible
    let right = rights.first { !permit.has($0, accessible) }
    return right.map { ($0, name, permit) }
  }

  /// True if an item's value would not be served to a caller now.
  package func isLocked(_ item: ItemInfo, for caller: Caller) -> Bool {
    guard !isShut, let keychain, keychain.opensValues(of: item.policy.accessible) else { return true }
    if access.decide(.get, item.name, item.policy, for: caller) == .allow { return false }
    return access.approval(.get, item.name, for: caller) == nil
  }

  /// True if an unlock would give programs no more than they have.
  var isUnlocked: Bool { !isShut && vault.state.kind == .unlocked }

  /// True while nobody can tell which items there are in a collection, or in all of them.
  package func hidesItems(in collection: CollectionID? = nil) -> Bool {
    guard let keychain else { return true }
    if keychain.knowsAllNames { return false }
    guard keychain.opensNames(of: .afterFirstUnlock), keychain.opensNames(of: .always) else { return true }
    switch collection {
    case .session: return false
    case .shared: return true
    case .login?, .made?: return collection.map { withHiddenItems?.contains($0) ?? true } ?? true
    case nil: return withHiddenItems?.isEmpty != true || !settings.shares.isEmpty
    }
  }

  // MARK: Names

  /// The name of the item that a program made in a collection.
  static func name(of id: KeyringID, in collection: CollectionID) throws(KeyringFault) -> ItemName {
    guard let folder = collection.folder, let name = try? ItemName("\(folder)/\(id.text)") else { throw .noSuchObject }
    return name
  }

  /// Remembers which item a path leads to.
  func remember(_ path: KeyringPath, _ name: ItemName, _ keychain: Keychain) {
    lastFound = (path, name, keychain.generation)
  }

  /// The name of the item to which a path led last, unless the store or its keys may have changed since.
  func lastName(at path: KeyringPath, _ keychain: Keychain) -> ItemName? {
    guard let lastFound, lastFound.path == path, lastFound.generation == keychain.generation else { return nil }
    return lastFound.name
  }

  // MARK: Events

  /// Tells programs of an event of the vault, as far as they see it.
  package func happened(_ event: VaultEvent) {
    switch event {
    case .state(let state):
      if state.kind == .unlocked {
        isShut = false
        if isOn { readRecords() }
        vault.prompts.wake()
      }
      if isOn { changed(.locks) }
    case .item(let name, let change, let new, _, let number):
      if isOn {
        tellOfRecords([name, new].compactMap(\.self).filter(Records.isRecord))
        if let new { moved(name, new) } else { tell(of: name, change, number) }
      }
      vault.prompts.look()
    case .request: vault.prompts.look()
    case .integrityFailed: tellOfRecording()
    }
  }

  private func tellOfRecords(_ records: [ItemName]) {
    if !records.isEmpty { readRecords() }
    for collection in records.compactMap(Records.collection) where has(collection) { changed(.collection(collection)) }
  }

  /// Tells programs of a change of an item that keeps its name.
  ///
  /// - Parameter number: the number of an item that is gone.
  private func tell(of name: ItemName, _ change: VaultEvent.Change, _ number: KeyringID?) {
    let isGone = change == .deleted
    guard CollectionID(of: name) != nil || mayBeShared(name),
      let path = path(of: name, isGone ? number : self.number(of: name), isThere: !isGone)
    else { return }
    itemChanged(path, change)
  }

  /// Tells programs, and searches that are being made, of a change of an item.
  func itemChanged(_ path: KeyringPath, _ change: VaultEvent.Change) {
    for following in following { following.changes?.add(path) }
    changed(.items(path.collection, path, change))
  }

  /// The changes of items from now on, for as long as they are kept.
  func followChanges() -> KeyringChanges {
    following.removeAll { $0.changes == nil }
    let changes = KeyringChanges()
    following.append(Following(changes: changes))
    return changes
  }

  /// Tells programs of an item that was renamed. For them it is another object only if its path has changed.
  private func moved(_ old: ItemName, _ new: ItemName) {
    let number = number(of: new)
    let (from, to) = (path(of: old, number, isThere: false), path(of: new, number, isThere: true))
    guard from != to else { return }
    if let from { itemChanged(from, .deleted) }
    if let to { itemChanged(to, .created) }
  }

  /// The number by which programs know an item; nil if the item has none, or is not for programs of this door.
  private func number(of name: ItemName) -> KeyringID? {
    guard let item = try? vault.openKeychain?.item(named: name), !item.isForPortal else { return nil }
    return item.keyring?.id
  }

  /// The path at which programs see the item of this name; nil if they do not see it.
  ///
  /// - Parameters:
  ///   - number: the item's number.
  ///   - isThere: false if the item had this name before.
  private func path(of name: ItemName, _ number: KeyringID?, isThere: Bool) -> KeyringPath? {
    if let collection = CollectionID(of: name) {
      return has(collection) ? number.map { KeyringPath(collection, $0.text) } : nil
    }
    guard isThere ? isShared(name) : mayBeShared(name) else { return nil }
    return KeyringPath(.shared, PathElement.encode(name.text))
  }

  /// True if a program may learn that there is, or was, an item at a path. The path of a shared item tells its name.
  package func mayLearn(of path: KeyringPath, _ caller: Caller) -> Bool {
    guard path.collection == .shared else { return true }
    guard let text = PathElement.decode(path.element), let name = try? ItemName(text) else { return false }
    let policy = (try? keychain?.item(named: name))?.policy
    return access.decide(.find, name, policy, for: caller) == .allow
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

    /// Reads the records of all collections, in the order in which they were made.
    static func read(_ keychain: Keychain, now: Int64) throws(VaultError) -> [ItemInfo] {
      let most = KeyringDirectory.most + 1
      var (records, place): ([ItemInfo], Int64?) = ([], nil)
      repeat {
        // A page may end early, because its names and labels together have a limit in bytes.
        let page = try keychain.find(
          Query(within: folder), in: .folder(folder), limit: most, after: place, now: now)
        records += page.items
        place = page.next
      } while place != nil && records.count < most
      return records.sorted { ($0.keyring?.order ?? 0) < ($1.keyring?.order ?? 0) }
    }
  }

  /// Learns the collections from the items, and writes the copy in the clear anew if it differs.
  func readRecords() {
    guard let keychain = vault.openKeychain, keychain.knowsAllNames else { return }
    guard let records = try? Records.read(keychain, now: vault.clock.wall()) else { return }
    var found = KeyringDirectory()
    for record in records {
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
  /// Items and collections may have been locked or unlocked. Which of them are locked depends on the caller.
  case locks
  /// There are other collections than before, or another one is the default.
  case collections
  /// The properties of a collection have changed.
  case collection(CollectionID)
  /// An item of a collection has changed.
  case items(CollectionID, KeyringPath, VaultEvent.Change)
  /// A search of this program that had waited for an unlock was made. The path stands for its first match.
  case searched(KeyringPath, program: AnyObject)
}

/// The reason why a call of the keyring fails.
package enum KeyringFault: Error, Equatable {
  /// The caller lacks something that a prompt obtains.
  case isLocked
  case noSuchObject
  /// The collection, or the property, cannot be changed here.
  case readOnly
  /// The call exceeds a limit.
  case limitsExceeded(Refusal)
  case refused(Refusal)

  /// True if the vault itself has failed, by an error of its store for example, so that nobody can tell what there is.
  var isFailure: Bool {
    switch self {
    case .refused(let refusal): refusal.outcome == .failed
    case .isLocked, .noSuchObject, .readOnly, .limitsExceeded: false
    }
  }

  /// The fault of a deletion. A caller who may read an item but not delete it gains nothing by a prompt.
  init(ofDeletion refusal: Refusal) {
    if case .denied = refusal { self = .refused(refusal) } else { self.init(refusal) }
  }

  package init(_ refusal: Refusal) {
    switch refusal {
    case .locked, .timedOut, .unshown, .unanswered, .unapproved, .approvalLost, .presenceRequired, .denied, .noVault,
      .unrecorded:
      self = .isLocked
    case .noSuchItem: self = .noSuchObject
    case .tooLarge, .tooMuch, .invalidValue, .needsAnotherItem: self = .limitsExceeded(refusal)
    case .invalid, .vaultExists, .noSuchVersion, .noSuchSlot, .noSuchGrant, .noSuchRequest, .invalidGrant, .lastSlot,
      .alreadyExists, .expired, .invalidName, .wrongKind, .wrongUse, .neverRead, .notOnTheseTerms, .invalidQuery,
      .authenticationFailed, .mistypedRecoveryCode, .backingOff, .unavailable, .accountExpired, .tooManyTries,
      .presenceFailed, .rekeying, .rekeyRests, .noSuchDeposit, .cancelled, .weakSecret, .corrupt, .storageFailed,
      .outOfMemory, .busy, .invalidBackup, .misconfigured:
      self = .refused(refusal)
    }
  }
}
