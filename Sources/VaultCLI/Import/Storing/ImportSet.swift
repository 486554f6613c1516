internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The storing of one version of an item.
struct ImportSet {
  /// The index of the step to which it belongs.
  let step: Int
  var item: Wire.NewItem
  let field: SourceField
  /// True for the version that is the current one in the end.
  let isLast: Bool

  /// The shares of the limits of a call; see ``CallLimits``. An update also removes the item's old attributes, of which
  /// there are usually as many.
  var weight: (time: Int, text: Int) {
    let (times, existing) = item.update == true ? (2, CallLimits.timeOfExisting) : (1, 0)
    return (
      CallLimits.timeOfItem + existing + CallLimits.time(name: item.name, item.attributes) * times,
      CallLimits.text(name: item.name, item.attributes) * times
    )
  }

  /// The size in a message in bytes, approximately: a value that is no text is in base64 there.
  var size: Int { field.value.count * 4 / 3 + CallLimits.text(name: item.name, item.attributes) + 256 }
}

extension ImportStep {
  /// Returns what stores the step, one version after the other.
  ///
  /// - Parameters:
  ///   - run: the identification of the import.
  ///   - isDivided: true if the versions do not fit into one call. The item is then marked until its last version is
  ///     stored, so that an interrupted import can go on.
  func sets(number: Int, run: String, isDivided: Bool) -> [ImportSet] {
    let fields = item.versions.dropFirst(skipped) + [item.value]
    return fields.enumerated().map { index, field in
      let (isFirst, isLast) = (index == 0, index == fields.count - 1)
      var new = Wire.NewItem(name: name.text)
      if present != nil || !isFirst { new.update = true }
      if isFirst { new.kind = newKind?.rawValue }
      if isFirst || (isLast && isDivided) {
        new.attributes = attributes(run: isDivided && !isLast ? run + PresentItems.unfinished : run)
      }
      if isLast { new.expires = item.expires }
      return ImportSet(step: number, item: new, field: field, isLast: isLast)
    }
  }

  /// The attributes of the item. An item that was there keeps its own ones, unless the source has others.
  func attributes(run: String) -> [String: String] {
    var attributes = present?.attributes ?? [:]
    attributes.merge(item.attributes) { _, new in new }
    attributes[ImportKey.run] = run
    attributes[ImportKey.version] = String((present?.version ?? 0) + item.versionCount - skipped)
    if let present, !present.isUnfinishedImport {
      attributes[ImportKey.replaced] = Self.replaced(present)
      attributes[ImportKey.replacedExpiry] = present.expires.map { Timestamp.format($0) } ?? ImportKey.never
      attributes[ImportKey.replacedKind] = newKind == nil ? nil : present.kind
    }
    return attributes
  }

  /// The version to replace, with the imports that led to it. What somebody has changed since an import does not come
  /// from that import, and is noted as such. Of the imports only the newest are noted, because few versions are kept.
  private static func replaced(_ present: Wire.Item) -> String {
    guard var run = present.attributes[ImportKey.run] else { return String(present.version) }
    if present.isChangedSinceImport { run = ImportKey.changed + run }
    let earlier = present.attributes[ImportKey.replaced].map { $0.split(separator: " ") } ?? []
    let numbers = earlier.prefix(2 * EntryMapping.mostVersions - 1)
    return ([String(present.version), run] + numbers.map(String.init)).joined(separator: " ")
  }

  /// The kind that the item has in the end.
  var kind: ItemKind { newKind ?? present.flatMap { ItemKind(rawValue: $0.kind) } ?? item.kind }

  /// True if the item that is there is a key, and the new value is of another kind: the vault refuses that.
  var changesKindOfKey: Bool { present?.use != nil && newKind != nil }

  /// The kind to store; nil if the item is there and keeps its own. A source that tells nothing of the kind takes none
  /// away that the new values can have.
  private var newKind: ItemKind? {
    guard let present else { return item.kind }
    guard present.kind != item.kind.rawValue else { return nil }
    guard item.kind.isGeneral, let kind = ItemKind(rawValue: present.kind) else { return item.kind }
    let all = present.attributes.merging(item.attributes) { _, new in new }
    let isKept = (item.versions.dropFirst(skipped) + [item.value]).allSatisfy { field in
      field.value.withBytes { FittingKind.accepts($0, kind, all) }
    }
    return isKept ? nil : item.kind
  }
}
