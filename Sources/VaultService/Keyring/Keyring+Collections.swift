internal import VaultCore
package import VaultModel
internal import VaultStore

/// A collection's properties, as programs see them.
package struct KeyringCollection {
  package let id: CollectionID
  package let label: String
  /// Unix seconds; 0 while the times cannot be read.
  package let created: Int64
  package let modified: Int64
  package let isLocked: Bool
}

/// The removal of a collection with its items, made in parts so that others do not wait for it.
package struct KeyringRemoval {
  fileprivate let collection: CollectionID
}

// Collections: their properties, and changes of them.
extension Keyring {
  /// The properties of a collection, as far as they can be read now.
  package func describe(_ collection: CollectionID, for caller: Caller) throws(KeyringFault) -> KeyringCollection {
    guard has(collection) else { throw .noSuchObject }
    let record = record(of: collection).flatMap { record in
      access.decide(.find, record.name, record.policy, for: caller) == .allow ? record : nil
    }
    return KeyringCollection(
      id: collection, label: record?.keyring?.label ?? Self.label(of: collection), created: record?.created ?? 0,
      modified: record?.modified ?? 0, isLocked: isLocked(collection, for: caller))
  }

  /// The label of a collection that has none of its own, or none that can be read now.
  private static func label(of collection: CollectionID) -> String {
    switch collection {
    case .session: "Session"
    case .login: "Login"
    case .shared: "Vault"
    case .made: ""
    }
  }

  /// The item that keeps the properties of a collection; nil if there is none, or if it cannot be read now.
  private func record(of collection: CollectionID) -> ItemInfo? {
    guard let name = try? Records.name(collection) else { return nil }
    return try? keychain?.item(named: name)
  }

  /// The most bytes of the label of a collection. The labels of all collections are read at each unlock.
  static let longestLabel = 4096

  package static func check(label: String) throws(KeyringFault) {
    guard label.utf8.count <= longestLabel else {
      throw .limitsExceeded(.tooMuch("a collection's label has at most \(longestLabel) bytes"))
    }
  }

  /// Makes a collection.
  ///
  /// - Parameter isStandard: true if the new collection becomes the default one.
  package func makeCollection(
    _ label: String, isStandard: Bool, for caller: Caller
  ) throws(KeyringFault) -> CollectionID {
    try Self.check(label: label)
    guard directory.made.count < KeyringDirectory.most else {
      throw .limitsExceeded(.tooMuch("there are \(KeyringDirectory.most) collections already"))
    }
    let collection = CollectionID.made(KeyringID.random())
    try write([RecordChange(collection, label: label, isStandard: isStandard)], for: caller)
    return collection
  }

  /// Gives a collection another label.
  package func set(label: String, of collection: CollectionID, for caller: Caller) throws(KeyringFault) {
    try Self.check(label: label)
    guard has(collection) else { throw .noSuchObject }
    try write([RecordChange(collection, label: label)], for: caller)
  }

  /// Makes a collection the default one.
  package func setStandard(_ collection: CollectionID, for caller: Caller) throws(KeyringFault) {
    guard has(collection) else { throw .noSuchObject }
    guard directory.standard != collection else { return }
    try write([RecordChange(collection, isStandard: true)], for: caller)
  }

  // MARK: Records

  /// A change of the properties of a collection; nil for what stays.
  private struct RecordChange {
    let collection: CollectionID
    let label: String?
    let isStandard: Bool?

    init(_ collection: CollectionID, label: String? = nil, isStandard: Bool? = nil) {
      (self.collection, self.label, self.isStandard) = (collection, label, isStandard)
    }
  }

  /// Writes the records of collections, all or none. If one of them becomes the default, no other collection stays the
  /// default.
  private func write(_ changes: [RecordChange], for caller: Caller) throws(KeyringFault) {
    var all = changes
    if changes.contains(where: { $0.isStandard == true }) {
      let others = ([.login] + directory.made).filter { other in !changes.contains { $0.collection == other } }
      let marked = others.filter { record(of: $0)?.attributes[Records.standard.key] != nil }
      all += marked.map { RecordChange($0, isStandard: false) }
    }
    var items: [(change: ItemChange, value: NewValue)] = []
    for change in all {
      if isLocked(change.collection, for: caller) { throw .isLocked }
      items.append(try item(of: change))
    }
    do throws(BatchRefusal) { _ = try self.items.set(items, for: caller) { _, _ in true } } catch {
      throw KeyringFault(error.refusal)
    }
    readRecords()
  }

  private func item(of change: RecordChange) throws(KeyringFault) -> (change: ItemChange, value: NewValue) {
    let (name, old) = (try Records.name(change.collection), record(of: change.collection))
    var facts =
      old?.keyring
      ?? KeyringFacts(id: KeyringID.random(), order: vault.nextKeyringOrder(), label: Self.label(of: change.collection))
    if let label = change.label { facts.label = label }
    try Self.check(facts)
    var item = ItemChange(name: name, keyring: facts, update: old != nil)
    if let isStandard = change.isStandard {
      var attributes = old?.attributes ?? [:]
      attributes[Records.standard.key] = isStandard ? Records.standard.value : nil
      item.attributes = attributes
    }
    guard old == nil else { return (item, .same) }
    (item.kind, item.accessible) = (.blob, settings.accessible)
    return (item, .bytes(count: 0))
  }

  // MARK: Removal

  /// Begins to delete a collection and its items. The `login` collection always exists.
  package func remove(_ collection: CollectionID, for caller: Caller) throws(KeyringFault) -> KeyringRemoval {
    guard has(collection) else { throw .noSuchObject }
    guard case .made = collection else { throw .readOnly }
    if isLocked(collection, for: caller) { throw .isLocked }
    return KeyringRemoval(collection: collection)
  }

  /// Continues a removal; true at its end. The collection's own record goes last, so that a removal that was
  /// interrupted can be begun again. The secrets of sandboxed programs stay, and so does a collection that has some.
  package func step(_ removal: KeyringRemoval, for caller: Caller) throws(KeyringFault) -> Bool {
    let collection = removal.collection
    if isLocked(collection, for: caller) { throw .isLocked }
    guard let folder = collection.folder, let keychain else { throw .noSuchObject }
    let found: [ItemInfo]
    do throws(VaultError) {
      (found, _) = try keychain.find(Query(within: folder), in: .folder(folder), limit: 16, now: vault.clock.wall())
    } catch {
      throw KeyringFault(vault.refusal(error, ""))
    }
    let names = found.isEmpty ? [try Records.name(collection)] : found.filter { !$0.isForPortal }.map(\.name)
    if names.isEmpty { throw .readOnly }
    do throws(Refusal) { _ = try items.delete(names, isForGood: false, for: caller) } catch {
      throw KeyringFault(ofDeletion: error)
    }
    return found.isEmpty
  }
}
