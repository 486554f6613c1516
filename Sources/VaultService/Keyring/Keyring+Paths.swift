internal import VaultCore
internal import VaultModel
internal import VaultStore

// The items to which paths lead.
extension Keyring {
  /// The name of the item at a path. Almost every item still has the name that it was made with.
  func name(of path: KeyringPath, for caller: Caller) throws(KeyringFault) -> ItemName {
    guard let keychain else { throw .isLocked }
    if path.collection == .shared {
      guard let text = PathElement.decode(path.element), let name = try? ItemName(text), mayBeShared(name) else {
        throw missing(path, for: caller)
      }
      // Callers who may not know whether there is such an item are told the same in both cases.
      guard access.permit(caller, on: name).mayHave(.find) else { throw .isLocked }
      let item: ItemInfo
      do throws(VaultError) { item = try keychain.item(named: name) } catch {
        let fault = KeyringFault(vault.refusal(error, name.text))
        throw fault.isFailure ? fault : missing(path, for: caller)
      }
      guard item.isForSharing else { throw missing(path, for: caller) }
      return name
    }
    guard has(path.collection), let folder = path.collection.folder, let id = KeyringID(path.element) else {
      throw missing(path, for: caller)
    }
    if let name = lastName(at: path, keychain) { return name }
    let name = try Self.name(of: id, in: path.collection)
    if let item = try? keychain.item(named: name), item.keyring?.id == id {
      guard !item.isForPortal else { throw missing(path, for: caller) }
      remember(path, name, keychain)
      return name
    }
    let found: [ItemInfo]
    do throws(VaultError) {
      // The number leads to the item at once, however many items the folder has.
      (found, _) = try keychain.find(Query(keyringID: id, within: folder), limit: 1, now: vault.clock.wall())
    } catch {
      throw KeyringFault(vault.refusal(error, name.text))
    }
    guard let item = found.first, !item.isForPortal else { throw missing(path, for: caller) }
    remember(path, item.name, keychain)
    return item.name
  }

  /// The fault of a call about an item that is not found. While names are hidden, or once the store has failed its
  /// check, nobody can tell which items do not exist.
  private func missing(_ path: KeyringPath, for caller: Caller) -> KeyringFault {
    hidesItems(in: path.collection) || items.mayBeMissing(for: caller) ? .isLocked : .noSuchObject
  }

  /// The item at a path, without a record of the call; nil if there is none, or if nobody can tell now.
  func known(at path: KeyringPath, for caller: Caller) -> ItemInfo? { try? read(path, for: caller) }

  private func read(_ path: KeyringPath, for caller: Caller) throws(KeyringFault) -> ItemInfo {
    let path = try resolve(path, for: caller)
    if path.collection == .session {
      guard let id = KeyringID(path.element) else { throw .noSuchObject }
      do throws(Refusal) { return try ofSession.item(id) } catch { throw KeyringFault(error) }
    }
    let name = try name(of: path, for: caller)
    guard let keychain else { throw .isLocked }
    do throws(VaultError) { return try keychain.item(named: name) } catch {
      throw KeyringFault(vault.refusal(error, name.text))
    }
  }

  /// True if there may be an item at a path that neither an unlock nor a right would make readable, because the store
  /// has failed.
  func isUnreadable(_ path: KeyringPath, for caller: Caller) -> Bool {
    guard let path = try? resolve(path, for: caller), has(path.collection), !hidesItems(in: path.collection) else {
      return false
    }
    do throws(KeyringFault) { _ = try read(path, for: caller) } catch {
      return error.isFailure || error == .isLocked && items.mayBeMissing(for: caller)
    }
    return false
  }

  /// True if the owner shares the item of this name. Keys that have a use are never shared.
  func isShared(_ name: ItemName) -> Bool {
    guard mayBeShared(name), let item = try? keychain?.item(named: name) else { return false }
    return item.isForSharing
  }

  /// True if the owner's setting shares an item of this name. The item itself must also be one that can be shared.
  func mayBeShared(_ name: ItemName) -> Bool {
    settings.shares.contains { $0.matches(name) } && CollectionID(of: name) == nil && !Records.isRecord(name)
  }
}

extension ItemInfo {
  /// True for an item that programs see among the shared items if the owner's setting matches its name.
  fileprivate var isForSharing: Bool { use == nil && !isForPortal }
}
