internal import VaultCore
package import VaultModel
internal import VaultStore

// The import of collections from another keyring.
extension Items {
  /// The collection that takes in the items of a collection of another keyring.
  package struct TakenCollection {
    /// Nil if there is none yet, and none is made.
    package let id: CollectionID?
    package let isNew: Bool
    /// True if it becomes the default collection, because none was chosen before.
    package let becomesStandard: Bool
  }

  /// The attribute of a collection's record with the path of the collection from which it was imported.
  private static let imported = "imported-from"

  /// Finds the collection that takes in a collection of another keyring: the one into which an earlier import put its
  /// items, or else one with the same label that no import made. If there is none, makes one.
  ///
  /// - Parameters:
  ///   - source: the path of the other collection; nil for the one that is called `login` in every keyring.
  ///   - isStandard: true if it is the default collection of the other keyring.
  ///   - isTrial: true to make nothing, and only find out what would be made. Whatever is refused without a trial is
  ///     refused in one.
  ///   - made: in a trial, the number of collections that would have been made before.
  package func takeIn(
    collection source: String?, label: String, isStandard: Bool, isTrial: Bool, made: Int = 0, for caller: Caller
  ) throws(Refusal) -> TakenCollection {
    let keychain = try checkImport()
    let records: [ItemInfo]
    do throws(VaultError) { records = try Keyring.Records.read(keychain, now: vault.clock.wall()) } catch {
      throw vault.refusal(error, "")
    }
    let found = Self.record(source, label, records)
    let isChosen = records.contains {
      $0.attributes[Keyring.Records.standard.key] == Keyring.Records.standard.value
    }
    let becomesStandard = isStandard && !isChosen && source != nil
    let id = source == nil ? CollectionID.login : found.flatMap { Keyring.Records.collection($0.name) }
    if id == nil { try Self.checkNew(label, among: records.count, made: isTrial ? made : 0) }
    if isTrial || source == nil || id != nil && !becomesStandard {
      try vault.audit.recording(.find, caller, nil, detail: "keyring") { () throws(Refusal) in }
      return TakenCollection(id: id, isNew: id == nil, becomesStandard: becomesStandard)
    }
    let new = id ?? .made(.random())
    try store(new, found, source, label, becomesStandard, for: caller)
    return TakenCollection(id: new, isNew: id == nil, becomesStandard: becomesStandard)
  }

  private static func record(_ source: String?, _ label: String, _ records: [ItemInfo]) -> ItemInfo? {
    guard let source else { return nil }
    if let known = records.first(where: { $0.attributes[imported] == source }) { return known }
    return records.first { record in
      record.attributes[imported] == nil && Keyring.Records.collection(record.name) != .login
        && record.keyring?.label.utf8.elementsEqual(label.utf8) == true
    }
  }

  /// Checks that a new collection with this label may be made.
  private static func checkNew(_ label: String, among count: Int, made: Int) throws(Refusal) {
    do throws(KeyringFault) { try Keyring.check(label: label) } catch {
      throw .invalidValue(kind: "", reason: "its label has more than \(Keyring.longestLabel) bytes")
    }
    guard (0...KeyringDirectory.most).contains(made), count + made < KeyringDirectory.most else {
      throw .tooMuch("there are \(KeyringDirectory.most) collections already")
    }
    do throws(ValueError) { try KeyringFacts(id: KeyringID(number: 0), order: 0, label: label).validate() } catch {
      throw .invalidValue(kind: "", reason: error.reason)
    }
  }

  private func store(
    _ collection: CollectionID, _ old: ItemInfo?, _ source: String?, _ label: String, _ becomesStandard: Bool,
    for caller: Caller
  ) throws(Refusal) {
    guard let name = try? Keyring.Records.name(collection) else { throw .invalid("source") }
    var attributes = old?.attributes ?? [:]
    if old == nil { attributes[Self.imported] = source }
    if becomesStandard { attributes[Keyring.Records.standard.key] = Keyring.Records.standard.value }
    guard old == nil else {
      let change = ItemChange(name: name, attributes: attributes, update: true)
      _ = try set(change, .same, for: caller) { _ in false }
      return
    }
    let facts = KeyringFacts(id: .random(), order: vault.nextKeyringOrder(), label: label)
    let change = ItemChange(
      name: name, kind: .blob, attributes: attributes, keyring: facts, accessible: vault.settings.keyring.accessible)
    _ = try set(change, .bytes(count: 0), for: caller) { _ in true }
  }
}
