internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The comparison of items with those that an import of the same export would make: everything that differs is lost.
///
/// The import's own mapping makes those items, of the very fields that are written. So the account of an export names
/// what another program does not hold without a list of its own of what each format can do.
enum LossFinder {
  /// Adds the losses of all items.
  ///
  /// - Parameter now: the time in Unix seconds.
  static func find(_ entries: [ExportedEntry], now: Int64, into account: inout ExportAccount) {
    let mapped = ImportMapping.map(entries.map(\.entry), source: "export:", into: [], now: now)
    for (entry, mapped) in zip(entries, mapped) {
      let leader = mapped.items.first
      for (item, field) in entry.items {
        for loss in losses(of: item, field, mapped, leader) { account.lose(loss, of: item.name) }
      }
    }
  }

  private static func losses(
    of item: ExportedItem, _ field: Int?, _ mapped: MappedEntry, _ leader: ImportedItem?
  ) -> [ExportLoss] {
    guard let field, let place = mapped.places[field].item, isKept(mapped.places[field].fate) else {
      return [.value]
    }
    let made = mapped.items[place]
    var losses: [ExportLoss] = []
    if made.name != item.name { losses.append(.name(made.name.text)) }
    if made.kind.rawValue != item.facts.kind { losses.append(.kind(item.facts.kind)) }
    if !made.value.value.isSame(as: item.value) { losses.append(.valueForm) }
    losses += attributes(of: item, made, leader)
    if let expiry = item.facts.expires, made.expires != expiry { losses.append(.expiry) }
    let lost = versionsLost(item, made)
    if lost > 0 { losses.append(.versions(lost)) }
    return losses + ExportLoss.policy(of: item.facts)
  }

  /// True if a field becomes the value of an item.
  private static func isKept(_ fate: FieldFate) -> Bool {
    switch fate {
    case .value, .beside: true
    case .name, .attribute, .version, .expiry, .refused: false
    }
  }

  private static func attributes(
    of item: ExportedItem, _ made: ImportedItem, _ leader: ImportedItem?
  ) -> [ExportLoss] {
    item.ownAttributes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.compactMap { key, text in
      // The attributes of an entry may come to another of its items.
      let found = [made, leader].contains { $0?.attributes[key].map { $0.utf8.elementsEqual(text.utf8) } == true }
      return found ? nil : .attribute(key)
    }
  }

  /// The number of earlier versions that are not among those of the import, in the same order.
  private static func versionsLost(_ item: ExportedItem, _ made: ImportedItem) -> Int {
    var rest = made.versions[...]
    return item.versions.count { version in
      guard let first = rest.first, first.value.isSame(as: version.value) else { return true }
      rest.removeFirst()
      return false
    }
  }
}
