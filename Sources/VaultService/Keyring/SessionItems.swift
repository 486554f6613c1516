internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The items of the collection ``CollectionID/session``, which are only in the daemon's memory.
///
/// They are sealed under a random key. While the keys of `after-first-unlock` items are in memory, so is that key;
/// otherwise it is there only wrapped under those keys, and the next unlock opens it again.
package final class SessionItems: SecretHolder {
  /// The most items, and the most bytes of them all together.
  static let mostItems = 1000
  static let mostBytes = 4 << 20

  private struct Stored {
    let head: [UInt8]
    let value: [UInt8]

    var count: Int { head.count + value.count }
  }

  private let vault: Vault
  private var stored: [KeyringID: Stored] = [:]
  /// The key; nil until it is first needed, and while only the wrapped key is in memory.
  private var key: SecretBox?
  private var wrapped: [UInt8]?

  init(_ vault: Vault) {
    self.vault = vault
    super.init(in: vault.holders)
    let taken = vault.hooks.keysTaken
    vault.hooks.keysTaken = { [weak self] keychain in
      taken(keychain)
      self?.wrapAnew(keychain)
    }
  }

  /// The name under which calls about an item are decided and recorded.
  static func name(_ id: KeyringID) -> ItemName? { try? ItemName("\(CollectionID.root)/session/\(id.text)") }

  var count: Int { stored.count }

  /// The numbers of all items.
  var ids: [KeyringID] { Array(stored.keys) }

  func item(_ id: KeyringID) throws(Refusal) -> ItemInfo {
    let key = try openKey()
    guard let found = stored[id], let item = Self.item(found, id, key) else { throw Self.missing(id) }
    return item
  }

  func withValue(of id: KeyringID, _ body: (RawSpan) -> Void) throws(Refusal) {
    let key = try openKey()
    guard let found = stored[id] else { throw Self.missing(id) }
    let value = found.value.withSpan { value in
      Self.place(id, "value").withSpan { try? AEAD.open(value, key: key.bytes, associatedData: $0) }
    }
    switch consume value {
    case .some(let value): value.withBytes(body)
    case .none: throw Self.missing(id)
    }
  }

  /// Stores an item with a new value, or with its old one.
  ///
  /// - Parameter record: writes the entry of the change, right before the change is made.
  func set(
    _ item: ItemInfo, _ id: KeyringID, _ value: SecretBox?, recording record: () throws(Refusal) -> Void
  ) throws(Refusal) {
    let key = try openKey()
    let head = HeadRecord(
      item: item, policyRevision: 1, headRevision: 1, nextVersion: 2, digests: item.versions.map { _ in Self.noDigest })
    do throws(CryptoError) { try head.validate() } catch { throw .tooMuch("the item is too large") }
    let sealedHead = head.encoded().withBytes { head in
      Self.place(id, "head").withSpan { AEAD.seal(head, key: key.bytes, associatedData: $0) }
    }
    let sealedValue = value.map { value in
      value.bytes.withBytes { value in
        Self.place(id, "value").withSpan { AEAD.seal(value, key: key.bytes, associatedData: $0) }
      }
    }
    guard let content = sealedValue ?? stored[id]?.value else { throw Self.missing(id) }
    let new = Stored(head: sealedHead, value: content)
    let others = stored.filter { $0.key != id }
    let bytes = others.values.reduce(new.count) { $0 + $1.count }
    guard others.count < Self.mostItems, bytes <= Self.mostBytes else {
      throw .tooMuch("the session's collection is full")
    }
    try record()
    stored[id] = new
  }

  /// Removes an item; `record` as for a new value.
  func remove(_ id: KeyringID, recording record: () throws(Refusal) -> Void) throws(Refusal) {
    guard stored[id] != nil else { throw Self.missing(id) }
    try record()
    stored[id] = nil
  }

  /// The values lie beside the heads, which need not vouch for them.
  private static let noDigest = Digest(of: RawSpan())

  private static func missing(_ id: KeyringID) -> Refusal { .noSuchItem(id.text, isVerified: true) }

  private static func place(_ id: KeyringID, _ part: String) -> [UInt8] { Array("\(part) \(id.text)".utf8) }

  private static func item(_ stored: Stored, _ id: KeyringID, _ key: SecretBox) -> ItemInfo? {
    let head = stored.head.withSpan { head in
      place(id, "head").withSpan { try? AEAD.open(head, key: key.bytes, associatedData: $0) }
    }
    switch consume head {
    case .some(let head): return head.withBytes { try? HeadRecord(decoding: $0).item }
    case .none: return nil
    }
  }

  // MARK: The key

  private func openKey() throws(Refusal) -> SecretBox {
    guard let keychain = vault.openKeychain, keychain.opensValues(of: .afterFirstUnlock) else {
      throw vault.locked
    }
    if let key { return key }
    let new: SecretBox
    do throws(VaultError) {
      if let wrapped {
        switch try keychain.unwrap(session: wrapped) {
        case .some(let key): new = SecretBox(key)
        case .none: throw .locked
        }
      } else {
        new = SecretBox(RandomBytes.secret(count: AEAD.keyCount))
        wrapped = try keychain.wrap(session: new.bytes)
      }
    } catch {
      throw vault.locked
    }
    key = new
    return new
  }

  /// Opens the wrapped key with the keys that were taken into memory. If the key is open, wraps it under them again,
  /// because a rekey may have replaced the keys under which it was wrapped.
  private func wrapAnew(_ keychain: Keychain) {
    guard let wrapped else { return }
    if let key {
      if let anew = try? keychain.wrap(session: key.bytes) { self.wrapped = anew }
    } else if keychain.opensValues(of: .afterFirstUnlock) {
      let opened: SecureBytes?
      do throws(VaultError) { opened = try keychain.unwrap(session: wrapped) } catch { return }
      switch consume opened {
      case .some(let key): self.key = SecretBox(key)
      // Nobody can open the items any more.
      case .none: (stored, self.wrapped) = ([:], nil)
      }
    }
  }

  override package func letGo(for lock: Lock) {
    if lock.reach.contains(.afterFirstUnlock) { key = nil }
    // Another vault takes the place of this one, or the daemon ends.
    if lock.reach.contains(.always) { (stored, wrapped) = ([:], nil) }
  }

  override package func outlives(_ lock: Lock) -> Bool { lock.reach.contains(.afterFirstUnlock) && key != nil }
}
