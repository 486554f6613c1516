internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The items of the vault that an import may meet again.
struct PresentItems {
  /// The end of the attribute ``ImportKey/run`` of an item of which an import has stored only some versions.
  static let unfinished = " unfinished"

  private(set) var byName: [ItemName: Wire.Item] = [:]
  /// The items by their names with and without numbers; see ``ImportNaming/families(_:)``.
  private var byFamily: [ItemName: [Wire.Item]] = [:]
  /// The items by the identification in their source.
  private var byIdentity: [[UInt8]: [Wire.Item]] = [:]

  /// The names and the source of the items to import; other items are of no interest.
  private let names: Set<ItemName>
  private let source: String

  init(for entries: [MappedEntry], source: String) {
    names = Set(entries.flatMap { $0.items.flatMap { [$0.family, $0.plain, $0.name] + $0.otherNames } })
    self.source = source
  }

  /// Notes an item of the vault if the import may meet it.
  mutating func add(_ item: Wire.Item) {
    guard let name = try? ItemName(item.name) else { return }
    let moved = item.keyring.flatMap { ImportNaming.movedName(name, label: $0.label) }
    let families = (ImportNaming.families(name) + [moved].compactMap { $0 }).filter { names.contains($0) }
    let identity = Self.identity(item.attributes, source)
    guard !families.isEmpty || identity != nil else { return }
    byName[name] = item
    if let identity { byIdentity[identity, default: []].append(item) }
    for family in families { byFamily[family, default: []].append(item) }
  }

  /// The items that hold the same field of the same entry, as the entry's identification tells.
  func sameField(as item: ImportedItem) -> [Wire.Item] {
    Self.identity(item.attributes, source).flatMap { byIdentity[$0] } ?? []
  }

  /// The items under the name of an item, with any number after it or its folder, or under another name of its: the one
  /// of exactly that name first.
  func sameName(as item: ImportedItem) -> [Wire.Item] {
    let all = (byFamily[item.family] ?? []) + item.otherNames.compactMap { byName[$0] }
    guard let exact = byName[item.name] else { return all }
    return [exact] + all.filter { !$0.name.utf8.elementsEqual(exact.name.utf8) }
  }

  /// The identification of a field in its source; nil if the source gives none, or if it is another source.
  private static func identity(_ attributes: [String: String], _ source: String) -> [UInt8]? {
    guard let own = attributes[ImportKey.source], own.utf8.elementsEqual(source.utf8),
      let id = attributes[ImportKey.id]
    else { return nil }
    return Array(id.utf8) + [0] + Array((attributes[ImportKey.field] ?? "").utf8)
  }
}

extension Wire.Item {
  /// True if an import has stored only some versions of the item.
  var isUnfinishedImport: Bool { attributes[ImportKey.run]?.hasSuffix(PresentItems.unfinished) == true }

  /// True if the value can be read, perhaps after a person's proof.
  var isComparable: Bool { neverRead != true }

  /// True if the value can be read without asking a person for a proof.
  var isReadable: Bool { neverRead != true && require == Requirement.none.name }
}
