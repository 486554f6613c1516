internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The items of the vault that an import may meet again.
struct PresentItems {
  /// The end of the attribute ``ImportKey/run`` of an item of which an import has stored only some versions.
  static let unfinished = " unfinished"

  private(set) var byName: [ItemName: Wire.Item] = [:]
  /// The items by their names and, for a name with a number after it, also by the name without the number.
  private var byPlain: [ItemName: [Wire.Item]] = [:]
  /// The items by the identification in their source.
  private var byIdentity: [[UInt8]: [Wire.Item]] = [:]

  /// The plain names and the source of the entries to import; other items are of no interest.
  private let plains: Set<ItemName>
  private let source: String

  init(for entries: [MappedEntry], source: String) {
    plains = Set(entries.flatMap { $0.items.map(\.plain) })
    self.source = source
  }

  /// Notes an item of the vault if the import may meet it.
  mutating func add(_ item: Wire.Item) {
    guard let name = try? ItemName(item.name) else { return }
    let unnumbered = ImportNaming.unnumbered(item.name)
    let isMet = plains.contains(name) || unnumbered.map { plains.contains($0) } == true
    let identity = Self.identity(item.attributes, source)
    guard isMet || identity != nil else { return }
    byName[name] = item
    if let identity { byIdentity[identity, default: []].append(item) }
    guard isMet else { return }
    byPlain[name, default: []].append(item)
    if let unnumbered { byPlain[unnumbered, default: []].append(item) }
  }

  /// The items that hold the same field of the same entry, as the entry's identification tells.
  func sameField(as item: ImportedItem) -> [Wire.Item] {
    Self.identity(item.attributes, source).flatMap { byIdentity[$0] } ?? []
  }

  /// The items under the name of an item, with any number after it: the one of exactly that name first.
  func sameName(as item: ImportedItem) -> [Wire.Item] {
    let all = byPlain[item.plain] ?? []
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

  /// True if the value can be read without asking a person for a proof.
  var isReadable: Bool { neverRead != true && require == Requirement.none.name }

  /// True if everything but the value is as an import would store it. What the import itself adds does not count, and
  /// neither do attributes that were added since.
  func agrees(with item: ImportedItem) -> Bool {
    guard kind == item.kind.rawValue || kind == ItemKind.blob.rawValue, size == item.value.value.count else {
      return false
    }
    return item.attributes.allSatisfy { key, value in
      ImportKey.ofImport.contains(key) || attributes[key].map { $0.utf8.elementsEqual(value.utf8) } == true
    }
  }
}
