internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The items of the vault that an import may meet again.
struct PresentItems {
  /// The end of the attribute ``ImportKey/run`` of an item of which an import has stored only some versions.
  static let unfinished = " unfinished"

  /// The items by their names, those of others included.
  private(set) var byName: [ItemName: Wire.Item] = [:]
  /// The callers that have made or written items of others, by the names of these items. No attribute of such an item
  /// counts for anything.
  private(set) var strangers: [ItemName: String] = [:]
  /// The items by their names with and without numbers; see ``ImportNaming/families(_:)``.
  private var byFamily: [ItemName: [Wire.Item]] = [:]
  /// The items by the identification in their source.
  private var byIdentity: [[UInt8]: [Wire.Item]] = [:]
  /// The one-time secrets beside the main items of entries, by their folders with and without numbers.
  private var oneTime: [ItemName: [Wire.Item]] = [:]

  /// The names and the source of the items to import; other items are of no interest.
  private let names: Set<ItemName>
  /// The folders in which the import would make one-time secrets beside the main items of entries.
  private let folders: Set<ItemName>
  private let source: String
  /// True if the identification of an entry tells it from the entries of all sources, and not only from those of its
  /// own file.
  private let isIdentified: Bool
  private let stranger: (Wire.Item) -> String?

  /// - Parameters:
  ///   - source: the value of the attribute ``ImportKey/source``.
  ///   - isIdentified: whether the identifications of the format are unique; see ``ImportOrigin/hasIdentifications``.
  ///   - stranger: the caller that has made or written an item, if that is another one than the importer.
  init(
    for entries: [MappedEntry], source: String, isIdentified: Bool, stranger: @escaping (Wire.Item) -> String?
  ) {
    names = Set(entries.flatMap { $0.items.flatMap { [$0.family, $0.plain, $0.name] + $0.otherNames } })
    folders = Set(entries.flatMap { $0.items.flatMap(\.foldersOfOneTime) })
    (self.source, self.isIdentified, self.stranger) = (source, isIdentified, stranger)
  }

  /// Notes an item of the vault if the import may meet it.
  mutating func add(_ item: Wire.Item) {
    guard let name = try? ItemName(item.name) else { return }
    let moved = item.keyring.flatMap { ImportNaming.movedName(name, label: $0.label) }
    let families = (ImportNaming.families(name) + [moved].compactMap { $0 }).filter { names.contains($0) }
    let identity = Self.identity(item.attributes, source)
    let beside = item.isOneTimeBeside ? Self.folder(of: name).map(ImportNaming.families) ?? [] : []
    let near = beside.filter { folders.contains($0) }
    guard !families.isEmpty || identity != nil || !near.isEmpty else { return }
    byName[name] = item
    strangers[name] = stranger(item)
    guard strangers[name] == nil else { return }
    if let identity { byIdentity[identity, default: []].append(item) }
    for family in families { byFamily[family, default: []].append(item) }
    for folder in near { oneTime[folder, default: []].append(item) }
  }

  /// The importer's items that may be an item of the source, the most likely ones first.
  func candidates(for item: ImportedItem) -> [Wire.Item] {
    sameField(as: item) + sameName(as: item) + sameRole(as: item)
  }

  /// The importer's one-time secrets beside the main item of the same entry, if the item is such a secret: other
  /// programs have one name for it, whatever the source was of which an earlier import made the secret here.
  private func sameRole(as item: ImportedItem) -> [Wire.Item] {
    item.foldersOfOneTime.flatMap { oneTime[$0] ?? [] }.filter { !$0.isUnfinishedImport }
  }

  /// The folder of an item; nil if it is in none.
  fileprivate static func folder(of name: ItemName) -> ItemName? { name.folders.last.flatMap { try? ItemName($0) } }

  /// The importer's items that hold the same field of the same entry, as the entry's identification tells. If the
  /// identification is only the place of the entry in its file, another file of that name may have the same one; so it
  /// counts only below the name that the item would have.
  func sameField(as item: ImportedItem) -> [Wire.Item] {
    let all = Self.identity(item.attributes, source).flatMap { byIdentity[$0] } ?? []
    guard !isIdentified, !Self.isUUID(item.attributes[ImportKey.id] ?? "") else { return all }
    let near = Set(sameName(as: item).map(\.name).compactMap { try? ItemName($0) })
    return all.filter { (try? ItemName($0.name)).map(near.contains) == true }
  }

  /// The importer's items under the name of an item, with any number after it or its folder, or under another name of
  /// its: the one of exactly that name first.
  func sameName(as item: ImportedItem) -> [Wire.Item] {
    let others = item.otherNames.filter { strangers[$0] == nil }.compactMap { byName[$0] }
    let all = (byFamily[item.family] ?? []) + others
    guard let exact = byName[item.name], strangers[item.name] == nil else { return all }
    return [exact] + all.filter { !$0.name.utf8.elementsEqual(exact.name.utf8) }
  }

  /// True for a UUID in its usual form (RFC 9562), perhaps between braces.
  static func isUUID(_ text: String) -> Bool {
    var bytes = Array(text.utf8)[...]
    if bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}") { bytes = bytes.dropFirst().dropLast() }
    return bytes.count == 36
      && bytes.enumerated().allSatisfy { place, byte in
        [8, 13, 18, 23].contains(place) ? byte == UInt8(ascii: "-") : "0123456789abcdefABCDEF".utf8.contains(byte)
      }
  }

  /// The identification of a field in its source; nil if the source gives none, or if it is another source.
  private static func identity(_ attributes: [String: String], _ source: String) -> [UInt8]? {
    guard let own = attributes[ImportKey.source], own.utf8.elementsEqual(source.utf8),
      let id = attributes[ImportKey.id]
    else { return nil }
    return Array(id.utf8) + [0] + Array((attributes[ImportKey.field] ?? "").utf8)
  }
}

extension ImportedItem {
  /// The folder of the item, with and without its number, if it is a one-time secret beside the main item of an entry.
  fileprivate var foldersOfOneTime: [ItemName] {
    guard value.facts.role == .oneTime, attributes[ImportKey.field] != nil else { return [] }
    return [name, family].compactMap { PresentItems.folder(of: $0) }
  }
}

extension Wire.Item {
  /// True if the item is a one-time secret that an import has made beside the main item of an entry.
  fileprivate var isOneTimeBeside: Bool { kind == ItemKind.totp.rawValue && attributes[ImportKey.field] != nil }

  /// True if an import has stored only some versions of the item.
  var isUnfinishedImport: Bool { attributes[ImportKey.run]?.hasSuffix(PresentItems.unfinished) == true }

  /// True if the item has another value than the import has given it. An item whose import did not note the number of
  /// its version counts as unchanged.
  var isChangedSinceImport: Bool {
    attributes[ImportKey.version].flatMap { Int($0) }.map { version > $0 } ?? false
  }

  /// True if the item is what an import would store, unless its value is another one.
  func mayBe(_ item: ImportedItem) -> Bool { isComparable && !isUnfinishedImport && agrees(with: item) }

  /// True if the value can be read, perhaps after a person's proof.
  var isComparable: Bool { neverRead != true }

  /// True if the value can be read without asking a person for a proof.
  var isReadable: Bool { neverRead != true && require == Requirement.none.name }
}
