internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The choices of a person for an import.
struct ImportTerms {
  /// True if items that are there with another content get a new version.
  var update = false
  /// True if such items stay, and the new ones are stored under another name.
  var keepBoth = false
  /// True if entries in the source's trash are imported, too.
  var withTrash = false
  /// The query that an item of an entry must match; nil for all entries.
  var only: Query?
}

/// The relation of an item that an import would make to the items of the vault.
enum ImportStanding {
  case new
  /// The vault has the item already, under this name.
  case known(String)
  /// The item of this name, which the entry is recognized as, has the value as an attribute.
  case attribute(of: String)
  /// An item is there with another content. An update of it leaves these of the new item's earlier versions out.
  case clash(Wire.Item, PastVersions)
  /// An interrupted import has stored the item with only that many of its versions.
  case begun(Wire.Item, versions: Int)
  /// An item of the name is there that this caller, and not the importer, has made or written.
  case foreign(Wire.Item, by: String)
  /// The item belongs to an entry of which another item clashes, or that is left out.
  case skipped
}

/// The reason why an entry is left out on purpose.
enum LeftOut: String {
  case trash = "in the source's trash"
  case unmatched = "not matched by --only"
}

/// One item to store.
struct ImportStep {
  let item: ImportedItem
  let name: ItemName
  /// The item that gets new versions; nil for a new item.
  var present: Wire.Item?
  /// The number of the item's earlier versions that are not stored, the oldest ones: they are there already, or the
  /// item that is there has other ones.
  var skipped = 0
}

/// An entry, and what an import does with its items.
final class PlannedEntry {
  let mapped: MappedEntry
  let leftOut: LeftOut?
  var standings: [ImportStanding]
  /// The names under which the items are stored or are there; nil for an item that is not stored, or that is there as
  /// an attribute of another one.
  var names: [String?]

  init(_ mapped: MappedEntry, leftOut: LeftOut?) {
    (self.mapped, self.leftOut) = (mapped, leftOut)
    standings = Array(repeating: .skipped, count: mapped.items.count)
    names = Array(repeating: nil, count: mapped.items.count)
  }

  /// True if the entry stays out as a whole, because an item of the vault is in the place of one of its own.
  fileprivate(set) var isBlocked = false
  /// The keys of the vault that cannot get the new values, because these are of another kind.
  fileprivate(set) var fixed: Set<ItemName> = []

  /// True if an item of the vault is in the place of an item of the entry.
  var clashes: Bool {
    standings.contains { standing in
      switch standing {
      case .clash, .foreign: true
      case .new, .known, .attribute, .begun, .skipped: false
      }
    }
  }

  /// True if that item of the vault is one of others.
  var meetsOthers: Bool { standings.contains { if case .foreign = $0 { true } else { false } } }
}

/// The reason why an entry stays out because of items of the vault.
enum Obstacle {
  /// An item is there with another content.
  case content
  /// An item is there that could not be compared, because it requires a proof of presence that nobody gave.
  case proof
  /// A key is there, whose kind never changes.
  case kind
  /// An item of others is there.
  case others
}

/// The plan of an import: the items that it stores, and the entries that it leaves out.
struct ImportPlan {
  private(set) var entries: [PlannedEntry] = []
  private(set) var steps: [ImportStep] = []
  /// The items that could not be compared, because nobody gave the proof that they require.
  var uncompared: Set<ItemName> = []

  private let present: PresentItems
  private let terms: ImportTerms
  /// The names that the vault or the import has given away.
  private var taken: Set<ItemName>
  /// The items of the vault that an item of the source is already known to be.
  private var used: Set<ItemName> = []

  /// Makes the plan.
  ///
  /// - Parameters:
  ///   - now: the time in Unix seconds, for the query.
  ///   - isSame: decides whether an item of the vault has the value of a field.
  init<E: Error>(
    _ entries: [MappedEntry], _ present: PresentItems, _ terms: ImportTerms, now: Int64,
    isSame: (SourceField, Wire.Item) throws(E) -> Bool
  ) throws(E) {
    (self.present, self.terms) = (present, terms)
    taken = Set(present.byName.keys)
    self.entries = entries.map { PlannedEntry($0, leftOut: Self.leftOut($0, terms, now)) }
    let chosen = self.entries.filter { $0.leftOut == nil }
    // Every item that is there already is recognized first: it must not look like a clash with another one.
    for entry in chosen {
      for (index, item) in entry.mapped.items.enumerated() {
        entry.standings[index] = try recognized(item, isSame) ?? .new
        if case .new = entry.standings[index] { taken.insert(item.name) }
      }
    }
    for entry in chosen {
      for (index, item) in entry.mapped.items.enumerated() {
        guard case .new = entry.standings[index] else { continue }
        if let holder = holder(of: item, entry) {
          entry.standings[index] = .attribute(of: holder)
        } else {
          entry.standings[index] = try clash(of: item, isSame) ?? .new
        }
      }
      decide(entry)
    }
  }

  /// The items of the vault whose values a plan of these entries will probably compare, in this order: for each item of
  /// the source the first one that may be the same, if every one before it is.
  static func expected(
    _ entries: [MappedEntry], _ present: PresentItems, _ terms: ImportTerms, now: Int64
  ) -> [Wire.Item] {
    var used: Set<ItemName> = []
    return entries.filter { leftOut($0, terms, now) == nil }.flatMap(\.items).compactMap { item in
      present.candidates(for: item).first { candidate in
        guard candidate.mayBe(item), let name = try? ItemName(candidate.name) else { return false }
        return used.insert(name).inserted
      }
    }
  }

  /// The number of entries with an item that clashes.
  var clashing: Int { entries.count(where: \.clashes) }

  /// The number of entries that stay out for a reason.
  func blocked(by obstacle: Obstacle) -> Int { entries.count { self.obstacle(to: $0) == obstacle } }

  /// The reason why an entry stays out; nil if it does not.
  private func obstacle(to entry: PlannedEntry) -> Obstacle? {
    guard entry.isBlocked else { return nil }
    if entry.meetsOthers { return .others }
    if !entry.fixed.isEmpty { return .kind }
    let isCompared = entry.standings.contains { standing in
      if case .clash(let present, _) = standing { state(of: present, in: entry) == .content } else { false }
    }
    return isCompared ? .content : .proof
  }

  /// The reason why an item of the importer's, which is there instead of one of an entry's, keeps that out.
  func state(of present: Wire.Item, in entry: PlannedEntry) -> Obstacle {
    guard let name = try? ItemName(present.name) else { return .content }
    return entry.fixed.contains(name) ? .kind : uncompared.contains(name) ? .proof : .content
  }

  // MARK: Entries

  private static func leftOut(_ mapped: MappedEntry, _ terms: ImportTerms, _ now: Int64) -> LeftOut? {
    if mapped.source.facts.isTrashed, !terms.withTrash { return .trash }
    guard let only = terms.only else { return nil }
    return mapped.items.contains { only.matches($0.info(now: now), now: now) } ? nil : .unmatched
  }

  /// Adds the steps for an entry. An entry with a clash stays out as a whole, unless somebody chose otherwise. An item
  /// of others never gets a new version.
  private mutating func decide(_ entry: PlannedEntry) {
    if terms.update { entry.fixed = Self.fixed(entry) }
    entry.isBlocked =
      !terms.keepBoth && (entry.meetsOthers || entry.clashes && !terms.update || !entry.fixed.isEmpty)
    for (index, item) in entry.mapped.items.enumerated() {
      switch entry.standings[index] {
      case .known(let name): entry.names[index] = name
      case .new where entry.isBlocked: entry.standings[index] = .skipped
      case .new:
        let isTaken = present.byName[item.name] != nil
        add(ImportStep(item: item, name: isTaken ? freeName(for: item) : item.name), entry, index)
      case .begun(let present, let versions):
        guard let name = try? ItemName(present.name) else { continue }
        add(ImportStep(item: item, name: name, present: present, skipped: versions), entry, index)
      case .clash(let present, let past):
        if terms.update, !entry.isBlocked, let name = try? ItemName(present.name) {
          add(ImportStep(item: item, name: name, present: present, skipped: past.count), entry, index)
        } else if terms.keepBoth {
          add(ImportStep(item: item, name: freeName(for: item)), entry, index)
        }
      case .foreign:
        if terms.keepBoth { add(ImportStep(item: item, name: freeName(for: item)), entry, index) }
      case .attribute, .skipped: break
      }
    }
  }

  /// The keys that an entry would give another kind.
  private static func fixed(_ entry: PlannedEntry) -> Set<ItemName> {
    Set(
      zip(entry.standings, entry.mapped.items).compactMap { standing, item in
        guard case .clash(let present, let past) = standing, let name = try? ItemName(present.name) else { return nil }
        let step = ImportStep(item: item, name: name, present: present, skipped: past.count)
        return step.changesKindOfKey ? name : nil
      })
  }

  private mutating func add(_ step: ImportStep, _ entry: PlannedEntry, _ index: Int) {
    entry.names[index] = step.name.text
    steps.append(step)
  }

  private mutating func freeName(for item: ImportedItem) -> ItemName {
    var number = 2
    while true {
      let name = ImportNaming.numbered(item.plain, number)
      if taken.insert(name).inserted { return name }
      number += 1
    }
  }

  // MARK: Items

  /// Recognizes an item that the vault has already, or of which it has the first versions; nil if it has none.
  private mutating func recognized<E: Error>(
    _ item: ImportedItem, _ isSame: (SourceField, Wire.Item) throws(E) -> Bool
  ) throws(E) -> ImportStanding? {
    for candidate in present.candidates(for: item) {
      guard let name = try? ItemName(candidate.name), !used.contains(name), candidate.isComparable else { continue }
      if candidate.isUnfinishedImport {
        guard candidate.isReadable, let versions = try versions(of: item, in: candidate, isSame) else { continue }
        used.insert(name)
        return .begun(candidate, versions: versions)
      }
      guard candidate.mayBe(item), try isSame(item.value, candidate) else { continue }
      used.insert(name)
      return .known(candidate.name)
    }
    return nil
  }

  /// The name of the item that the entry is recognized as, or of which it gets a new version, if that item has the
  /// value of another item of the entry as an attribute. It is one of the importer's own.
  private func holder(of item: ImportedItem, _ entry: PlannedEntry) -> String? {
    for standing in entry.standings {
      let candidate: Wire.Item?
      switch standing {
      case .known(let name): candidate = (try? ItemName(name)).flatMap { present.byName[$0] }
      // An item that is stored beside the present one has none of its attributes.
      case .clash(let present, _): candidate = terms.keepBoth ? nil : present
      case .new, .attribute, .begun, .foreign, .skipped: candidate = nil
      }
      if let candidate, candidate.hasAttribute(inPlaceOf: item) { return candidate.name }
    }
    return nil
  }

  /// Finds the item of the vault that is there instead of a new one: an earlier state of the same field, or another
  /// item of the same name. Nil if there is none, or if it is another item of the source.
  private mutating func clash<E: Error>(
    of item: ImportedItem, _ isSame: (SourceField, Wire.Item) throws(E) -> Bool
  ) throws(E) -> ImportStanding? {
    let exact = present.byName[item.name].map { [$0] } ?? []
    let others = item.otherNames.compactMap { present.byName[$0] }.filter { $0.kind == item.kind.rawValue }
    for candidate in present.sameField(as: item) + exact + others {
      guard let name = try? ItemName(candidate.name), used.insert(name).inserted else { continue }
      if let stranger = present.strangers[name] { return .foreign(candidate, by: stranger) }
      return .clash(candidate, PastVersions(of: item, in: candidate, upTo: try place(of: candidate, in: item, isSame)))
    }
    return nil
  }

  /// The number of values of an item, the newest included, up to the one that an item of the vault has as its current
  /// value; nil if it has none of them, or if they cannot be compared. Nothing is read for an item without history.
  private func place<E: Error>(
    of candidate: Wire.Item, in item: ImportedItem, _ isSame: (SourceField, Wire.Item) throws(E) -> Bool
  ) throws(E) -> Int? {
    guard candidate.isReadable, !item.versions.isEmpty else { return nil }
    if item.value.mayBeSame(as: candidate), try isSame(item.value, candidate) { return item.versionCount }
    return try versions(of: item, in: candidate, isSame)
  }

  /// The number of versions of an item up to the one that an item of the vault has as its current value; nil if it has
  /// none of them.
  private func versions<E: Error>(
    of item: ImportedItem, in candidate: Wire.Item, _ isSame: (SourceField, Wire.Item) throws(E) -> Bool
  ) throws(E) -> Int? {
    for (index, version) in item.versions.enumerated().reversed() where version.value.count == candidate.size {
      if try isSame(version, candidate) { return index + 1 }
    }
    return nil
  }
}

extension ImportedItem {
  /// The item as a query sees it.
  fileprivate func info(now: Int64) -> ItemInfo {
    ItemInfo(
      name: name, kind: kind, attributes: attributes, policy: Policy(), created: now, modified: now, expires: expires,
      versions: [VersionInfo(number: versionCount, created: now, size: value.value.count)])
  }
}
