internal import VaultModel
internal import VaultWire

/// The mapping of a whole source to items of the vault. It depends on the source and the time alone.
enum ImportMapping {
  /// Maps all entries, in their order.
  ///
  /// - Parameters:
  ///   - source: the text that tells this source from others.
  ///   - into: the parts of the folder for all items.
  ///   - now: the time in Unix seconds.
  static func map(_ entries: [SourceEntry], source: String, into: [String], now: Int64) -> [MappedEntry] {
    var naming = ImportNaming(into: into)
    // The places come first, so that the items of one entry cannot take the name of another entry.
    let places = entries.map { entry in
      naming.place(entry.facts, url: entry.fields.first { $0.facts.role == .url }?.attributeText)
    }
    return zip(entries, places).map { entry, place in
      var mapping = EntryMapping(entry, at: place, source: source, now: now)
      return mapping.map(&naming)
    }
  }

  /// The text that tells a source from others: its format, and its own identification or else the name of the file.
  static func source(_ format: ImportedFormat, file: String) -> String {
    let prefix = "\(format.name):"
    let name = format.source.isEmpty ? file : format.source
    let whole = name.utf8.starts(with: prefix.utf8) ? name : prefix + name
    let text = ImportNaming.part(whole) ?? prefix
    guard text.utf8.count > Attributes.maximumValueBytes / 2 else { return text }
    let hash = ShortenedName.hex(ShortenedName.fnv1a(whole.utf8))
    return ShortenedName.prefix(text, Attributes.maximumValueBytes / 2) + "~" + hash
  }
}
