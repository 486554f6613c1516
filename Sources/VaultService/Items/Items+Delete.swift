package import VaultModel
internal import VaultStore

// Deleting items and restoring them.
extension Items {
  /// The most items of the trash that one call examines.
  private static let mostAtOnce = 128

  /// Deletes items, all or none. A name that is given twice counts once.
  ///
  /// - Parameters:
  ///   - isForGood: true if the items skip the trash.
  ///   - long: the work prepared for this call; see ``prepare(_:_:for:fill:)``.
  /// - Returns: the number of seconds for which the items stay in the trash; nil if they are gone.
  package func delete(
    _ names: [ItemName], isForGood: Bool, _ long: LongChange? = nil, for caller: Caller
  ) throws(Refusal) -> Int64? {
    // An item that is named twice is deleted once, and has one entry.
    var once: Set<ItemName> = []
    let names = names.filter { once.insert($0).inserted }
    var refused: ItemName?
    var ids: [ItemName: ItemID] = [:]
    return try vault.audit.recording(by: caller) { entry throws(Refusal) in
      let keychain = try vault.keychain()
      try checkDeletion(names, keychain, for: caller, &ids, refused: &refused)
      do throws(VaultError) { return try remove(names, keychain, isForGood, long, entry) } catch {
        // A second search finds which item is missing.
        if error == .noSuchItem { refused = names.first { (try? keychain.item(named: $0)) == nil } }
        throw vault.refusal(error, refused?.text ?? "")
      }
    } entries: { [vault] outcome, _ in
      guard outcome != .ok else {
        let detail = isForGood ? Self.forGood : nil
        for name in names { vault.audit.record(.delete, .ok, caller, item: name.text, id: ids[name], detail: detail) }
        return
      }
      if names.count == 1 { refused = names[0] }
      let detail = Self.detail(ofUndone: names, isForGood, isAboutOne: refused != nil)
      let id = refused.flatMap { ids[$0] }
      vault.audit.record(.delete, outcome, caller, item: refused?.text, id: id, detail: detail)
    }
  }

  private static let forGood = "for good"

  /// The detail of a deletion that was not done.
  ///
  /// - Parameter isAboutOne: true if the entry names one of many items.
  package static func detail(ofUndone names: [ItemName], _ isForGood: Bool, isAboutOne: Bool = false) -> String {
    let batch = names.count == 1 ? nil : detail(ofBatch: names.count, isAboutOne: isAboutOne)
    return [isForGood ? forGood : nil, batch].compactMap { $0 }.joined(separator: ", ")
  }

  /// Deletes the items.
  private func remove(
    _ names: [ItemName], _ keychain: Keychain, _ isForGood: Bool, _ long: LongChange?, _ entry: Audit.Entry
  ) throws(VaultError) -> Int64? {
    let kept = isForGood ? nil : vault.settings.trash
    let numbers = names.map { name -> KeyringID? in
      guard CollectionID(of: name) != nil, let item = try? keychain.item(named: name), !item.isForPortal else {
        return nil
      }
      return item.keyring?.id
    }
    try vault.makingRoom(keychain) { () throws(VaultError) in
      try vault.audit.taking(
        effect: { () throws(VaultError) in
          if kept == nil {
            try keychain.delete(names)
          } else {
            try keychain.trash(names, now: vault.clock.wall(), ahead: long?.ahead)
          }
        }, with: entry)
    }
    for (name, number) in zip(names, numbers) {
      access.endApprovals(of: name)
      vault.hooks.announce(.item(name, .deleted, keyring: number))
    }
    return kept
  }

  /// Checks that the caller may delete all of these items in one call.
  ///
  /// - Parameters:
  ///   - ids: the items that were found.
  ///   - refused: the name that the deletion is refused for; nil if the refusal is not about a single name.
  func checkDeletion(
    _ names: [ItemName], _ keychain: Keychain, for caller: Caller, _ ids: inout [ItemName: ItemID],
    refused: inout ItemName?
  ) throws(Refusal) {
    try CallWeight.check(count: names.count, atMost: CallLimits.deletions)
    var weight = CallWeight()
    // The names are checked in their order and not in that of a set, so that the entry of a refusal always names the
    // first refused item.
    var once: Set<ItemName> = []
    for name in names where once.insert(name).inserted {
      refused = name
      let permit = try permit(.admin, on: name, for: caller)
      let item = try? keychain.item(named: name)
      ids[name] = item?.id
      try check(.admin, permit, name, item?.policy, for: caller)
      weight.add(deleted: item)
    }
    refused = nil
    try weight.check()
  }

  /// Takes the item of this name that was deleted last out of the trash.
  ///
  /// - Parameter long: the work prepared for this call; see ``prepare(_:_:for:fill:)``.
  package func undelete(_ name: ItemName, _ long: LongChange? = nil, for caller: Caller) throws(Refusal) {
    try vault.audit.recording(.set, caller, name.text, detail: Self.undeleting) { entry throws(Refusal) in
      try takeOut(name, long ?? LongChange(), caller, entry)
    }
  }

  package static let undeleting = "out of the trash"

  private func takeOut(
    _ name: ItemName, _ long: LongChange, _ caller: Caller, _ entry: Audit.Entry
  ) throws(Refusal) {
    let keychain = try vault.keychain()
    let item = try checkUndeletion(name, long.search, keychain, for: caller, &entry.item)
    try checkList(name, .trashed(long.search), of: name, for: caller, &entry.item)
    if item.use == .jwt { try checkList(beside: name, for: caller) }
    do throws(VaultError) {
      try vault.audit.taking(
        effect: { () throws(VaultError) in
          try keychain.restore(name, found: long.search, now: vault.clock.wall(), ahead: long.ahead)
        }, with: entry)
    } catch {
      throw vault.refusal(error, name.text)
    }
    vault.hooks.announce(.item(name, .created, version: item.versions.map(\.number).max()))
  }

  /// The item of this name that was deleted last, for a caller who may take it out of the trash.
  ///
  /// - Parameters:
  ///   - search: the search for the item.
  ///   - id: the item, once it is found.
  @discardableResult
  func checkUndeletion(
    _ name: ItemName, _ search: TrashSearch, _ keychain: Keychain, for caller: Caller, _ id: inout ItemID?
  ) throws(Refusal) -> ItemInfo {
    let permit = try permit(.admin, on: name, for: caller)
    let item: ItemInfo
    do throws(VaultError) { item = try keychain.trashedItem(named: name, found: search) } catch {
      throw vault.refusal(error, name.text)
    }
    id = item.id
    try check(.admin, permit, name, item.policy, for: caller)
    return item
  }

  /// Deletes the items in the trash for good, as many as one call may.
  ///
  /// - Parameters:
  ///   - after: the `next` of the previous call; nil for the first call.
  ///   - through: the number of the last deletion that becomes final; nil for all deletions.
  /// - Returns: the number of deleted items, and the value to pass as `after` for the rest; nil if there is no rest.
  package func emptyTrash(
    after: Int64?, through: Int64? = nil, for caller: Caller
  ) throws(Refusal) -> (gone: Int, next: Int64?) {
    try vault.audit.recording(.delete, caller, nil, detail: "all of the trash") { entry throws(Refusal) in
      try emptyTrash(after, through, caller, entry)
    }
  }

  private func emptyTrash(
    _ after: Int64?, _ through: Int64?, _ caller: Caller, _ entry: Audit.Entry
  ) throws(Refusal) -> (gone: Int, next: Int64?) {
    let keychain = try vault.keychain()
    // Hidden items would stay, although the caller would be told that all are gone.
    guard keychain.knowsAllNames else { throw vault.locked }
    do throws(VaultError) {
      do throws(VaultError) {
        return try emptyTrash(keychain, after: after, through: through, examining: Self.mostAtOnce, for: caller, entry)
      } catch {
        // Deleted values are overwritten, so many items at once need more space than one.
        guard error == .diskFull else { throw error }
        return try emptyTrash(keychain, after: after, through: through, examining: 1, for: caller, entry)
      }
    } catch {
      throw vault.refusal(error, "")
    }
  }

  private func emptyTrash(
    _ keychain: Keychain, after: Int64?, through: Int64?, examining most: Int, for caller: Caller,
    _ entry: Audit.Entry
  ) throws(VaultError) -> (gone: Int, next: Int64?) {
    var gone = 0
    let next = try vault.makingRoom(keychain) { () throws(VaultError) in
      try vault.audit.taking(
        effect: { () throws(VaultError) in
          try keychain.emptyTrash(ofAge: 0, after: after, examining: most) { item in
            if let through, let trashed = item.trashed, trashed.number > through { return .refuse }
            return access.decide(.admin, item.name, item.policy, for: caller)
          } gone: {
            gone = $0
          }
        }, with: entry)
    }
    return (gone, next)
  }

  /// The number of seconds for which an item will still stay in the trash; nil for an item that is not in the trash.
  package func timeInTrash(_ item: ItemInfo) -> Int64? {
    guard item.trashed != nil, let keychain = vault.openKeychain else { return nil }
    return max(0, Seconds.from(keychain.ageInTrash(item), to: vault.settings.trash ?? 0))
  }

  /// Makes the value of an older version the current one again. That is as good as reading the value, so it needs the
  /// right to read it, too.
  ///
  /// - Parameter long: the work prepared for this call; see ``prepare(_:_:for:fill:)``.
  /// - Returns: the version that was made.
  package func restoreVersion(
    _ number: Int, of name: ItemName, _ long: LongChange? = nil, for caller: Caller
  ) throws(Refusal) -> StoredVersion {
    try vault.audit.recording(.set, caller, name.text, detail: Self.detail(ofRestoring: number)) {
      entry throws(Refusal) in
      try bringBack(number, of: name, long, caller, entry)
    }
  }

  package static func detail(ofRestoring number: Int) -> String { "version \(number) restored" }

  private func bringBack(
    _ number: Int, of name: ItemName, _ long: LongChange?, _ caller: Caller, _ entry: Audit.Entry
  ) throws(Refusal) -> StoredVersion {
    let keychain = try vault.keychain()
    try checkRestoring(name, for: caller, &entry.item)
    try checkList(name, .version(number), of: name, for: caller, &entry.item)
    let stored: StoredVersion
    do throws(VaultError) {
      stored = try vault.audit.taking(
        effect: { () throws(VaultError) in
          try keychain.restoreVersion(
            number, of: name, by: author(caller), now: vault.clock.wall(), ahead: long?.ahead)
        }, with: entry)
    } catch {
      throw vault.refusal(error, name.text)
    }
    vault.hooks.announce(.item(name, .updated, version: stored.number))
    return stored
  }

  /// Checks that the caller may restore versions of an item.
  ///
  /// - Parameter id: the item, once it is found.
  func checkRestoring(_ name: ItemName, for caller: Caller, _ id: inout ItemID?) throws(Refusal) {
    let permit = try permit(.admin, on: name, for: caller)
    let item = try item(name)
    id = item.id
    for right in [Right.admin, .get] { try check(right, permit, name, item.policy, for: caller) }
  }
}
